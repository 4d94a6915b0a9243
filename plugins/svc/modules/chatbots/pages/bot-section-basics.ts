import type { Choice } from '../../../admin-ui/setting-field.ts';
import { choices, type FieldGroup, type Section } from './bot-section.ts';

/** Name, model, and what the bot says and remembers. */
export function basicsSection(providers: readonly Choice[]): Section {
  return { id: 'basics', title: 'Basics', groups: [nameGroup, modelGroup(providers), messagesGroup] };
}

const nameGroup: FieldGroup = {
  fields: [
    {
      path: 'name',
      type: 'text',
      label: 'Name',
      required: true,
      maxlength: 200,
      help: 'Shown in lists and logs. Visitors see the title under Texts.',
    },
    {
      path: 'status',
      type: 'select',
      label: 'Status',
      options: choices(['active', 'inactive']),
      help: 'An inactive chatbot is not shown anywhere.',
    },
  ],
};

function modelGroup(providers: readonly Choice[]): FieldGroup {
  return {
    title: 'Model',
    fields: [
      { path: 'provider', type: 'select', label: 'Provider', options: providers },
      {
        path: 'model',
        type: 'text',
        label: 'Model',
        mono: true,
        list: 'models-text',
        placeholder: 'Default model',
        help: "Leave empty to use the provider's default model.",
      },
      {
        path: 'temperature',
        type: 'number',
        label: 'Temperature',
        min: 0,
        max: 2,
        step: 'any',
        short: true,
        placeholder: 'Default',
        help: '0 to 2: low for facts, high for ideas.',
      },
      {
        path: 'max_completion_tokens',
        type: 'number',
        label: 'Maximum answer length (tokens)',
        min: 1,
        max: 128_000,
        short: true,
        help: 'About 4 characters per token. Default 4,000.',
      },
      {
        path: 'max_messages',
        type: 'number',
        label: 'Messages remembered',
        min: 1,
        max: 200,
        short: true,
        help: 'How many recent messages are sent to the model. More context costs more. Default 15.',
      },
      {
        path: 'max_prompt_characters',
        type: 'number',
        label: 'Characters remembered',
        min: 1_000,
        max: 1_000_000,
        short: true,
        help: 'Limits what one message can cost: the oldest messages are left out. Default 32,000, about 8,000 tokens.',
      },
    ],
  };
}

const messagesGroup: FieldGroup = {
  title: 'Messages',
  wide: true,
  fields: [
    {
      path: 'instructions',
      type: 'textarea',
      label: 'Instructions',
      rows: 8,
      help:
        'What the bot knows, how it talks, what it must not do. ' +
        "[date] becomes today's date, [username] the visitor's name, or Guest.",
    },
    {
      path: 'greeting',
      type: 'textarea',
      label: 'Greeting',
      rows: 2,
      help: 'The first message. Markdown such as **bold** and [links](https://example.com) works.',
    },
    {
      path: 'starters',
      type: 'lines',
      label: 'Suggested questions',
      rows: 4,
      help: 'Up to 8, one per line. Visitors can click one to start.',
    },
  ],
};
