import type { Choice } from '../../../admin-ui/setting-field.ts';
import { choices, type Section } from './bot-section.ts';

/** Name, model, and what the bot says and remembers. */
export function basicsSection(providers: readonly Choice[]): Section {
  return {
    id: 'basics',
    title: 'Basics',
    groups: [
      {
        fields: [
          {
            path: 'name',
            type: 'text',
            label: 'Name',
            required: true,
            maxlength: 200,
            help: 'In lists and logs; visitors see the title under Texts.',
          },
          {
            path: 'status',
            type: 'select',
            label: 'Status',
            options: choices(['active', 'inactive'], {
              active: 'Active: it answers',
              inactive: 'Inactive: it answers nobody',
            }),
            help: 'An inactive chatbot is not shown anywhere.',
          },
        ],
      },
      {
        title: 'Model',
        fields: [
          { path: 'provider', type: 'select', label: 'Provider', options: providers },
          {
            path: 'model',
            type: 'text',
            label: 'Model',
            mono: true,
            list: 'models-text',
            placeholder: "The provider's saved one",
            help: 'Empty: the one saved with the provider.',
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
            label: 'Longest answer, in tokens',
            min: 1,
            max: 128_000,
            short: true,
            help: 'About four letters a token. Default 4,000.',
          },
          {
            path: 'max_messages',
            type: 'number',
            label: 'Messages remembered',
            min: 1,
            max: 200,
            short: true,
            help: 'The newest ones go to the model. More of them cost more. Default 15.',
          },
        ],
      },
      {
        title: 'What it says',
        wide: true,
        fields: [
          {
            path: 'instructions',
            type: 'textarea',
            label: 'Instructions',
            rows: 8,
            help: 'What it knows, how it talks, what it must not do. [date] becomes the date of today, [username] the name of the visitor, or Guest.',
          },
          {
            path: 'greeting',
            type: 'textarea',
            label: 'Greeting',
            rows: 2,
            help: 'Its first words. Markdown such as **bold** and [links](https://example.com) works.',
          },
          {
            path: 'starters',
            type: 'lines',
            label: 'Suggested questions',
            rows: 4,
            help: 'One a line, up to 8. Visitors click on them to begin.',
          },
        ],
      },
    ],
  };
}
