import { guestLimitPerDay } from '../../../kit/visitors/limit-counters.ts';
import { knowledgeSchema } from '../../../kit/assistants/assistant-knowledge.ts';
import { aiParamSchemas } from '../../../kit/ai-params.ts';
import {
  choice,
  flag,
  group,
  id,
  line,
  name,
  text,
  whole,
  type SettingSchema,
} from '../../../kit/settings-schema/fields.ts';
import { embedSchema } from '../../../kit/visitors/embed-settings.ts';
import type { FormLimit, FormLimits, FormParameters, FormResult, FormSettings, FormTexts } from './form.ts';

export const elementTypes = ['text', 'textarea', 'number', 'select', 'checkbox', 'radio', 'file', 'image'] as const;

/** Null: the global default. */
function parameter(
  parameterName: 'temperature' | 'top_p' | 'frequency_penalty' | 'presence_penalty',
  title: string,
): SettingSchema {
  return { ...aiParamSchemas[parameterName], type: ['number', 'null'], title, default: null };
}

const parametersSchema = group<FormParameters>(
  { title: 'Parameters' },
  {
    temperature: parameter('temperature', 'Temperature'),
    top_p: parameter('top_p', 'Top p'),
    frequency_penalty: parameter('frequency_penalty', 'Frequency penalty'),
    presence_penalty: parameter('presence_penalty', 'Presence penalty'),
    reasoning_effort: {
      type: ['string', 'null'],
      title: 'Reasoning effort',
      enum: [...aiParamSchemas.reasoning_effort.enum, null],
      default: null,
    },
    max_completion_tokens: {
      ...aiParamSchemas.max_completion_tokens,
      title: 'Maximum response length in tokens',
      default: 4_000,
    },
  },
);

const bound: SettingSchema = {
  type: ['number', 'null'],
  title: 'Limit',
  minimum: -1_000_000_000_000,
  maximum: 1_000_000_000_000,
  default: null,
};

export const elementSchema: SettingSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'type', 'label'],
  properties: {
    id,
    type: { type: 'string', title: 'Type', enum: elementTypes },
    label: name({ title: 'Label' }, 500),
    help: text({ title: 'Help text' }, ''),
    placeholder: line({ title: 'Placeholder' }, ''),
    required: flag({ title: 'Required' }, false),
    options: {
      type: 'array',
      title: 'Options',
      default: [],
      maxItems: 300,
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['value', 'label'],
        properties: { value: name({ title: 'Value' }), label: name({ title: 'Label' }) },
      },
    },
    min: bound,
    max: bound,
  },
};

function limit(title: string, amount = 0): SettingSchema {
  return group<FormLimit>(
    { title },
    {
      amount: whole({ title: 'Responses' }, amount, [0, 1_000_000_000]),
      per: choice({ title: 'Per' }, ['day', 'week', 'month']),
    },
  );
}

/** The settings of a form: defaults and checks for pages, commands, export and import. */
export const formSchema = {
  type: 'object',
  title: 'Form',
  additionalProperties: false,
  properties: {
    name: { ...name({ title: 'Name' }), default: 'Form' },
    status: choice({ title: 'Status', description: 'Visitors cannot see an inactive form.' }, ['active', 'inactive']),
    intro: text({ title: 'Above the fields' }, '', 4_000),
    elements: { type: 'array', title: 'Fields', default: [], items: elementSchema, maxItems: 60 },
    prompt: text({ title: 'Prompt', description: '{id} inserts the value of a field.' }, '', 100_000),
    instructions: text({ title: 'Instructions', description: '[date] and [username] are replaced.' }, '', 100_000),
    provider: { type: 'string', title: 'Provider', default: '' },
    model: line({ title: 'Model', description: 'Leave empty to use the saved model of the provider.' }, ''),
    parameters: parametersSchema,
    knowledge: knowledgeSchema,
    texts: group<FormTexts>(
      { title: 'Texts' },
      {
        submit: line({ title: 'Button' }, 'Generate'),
        working: line({ title: 'While generating' }, 'Writing…'),
        result: line({ title: 'Above the response' }, 'Result'),
        again: line({ title: 'Generate again' }, 'Generate again'),
        error: text({ title: 'Error message' }, 'Something went wrong. Please try again in a moment.'),
      },
    ),
    result: group<FormResult>(
      { title: 'Result' },
      {
        copy: flag({ title: 'Copy' }, true),
        download: flag({ title: 'Download' }, true),
        save_as_post: flag({ title: 'Save as a post' }, true),
      },
    ),
    limits: group<FormLimits>(
      { title: 'Limits' },
      {
        guest: limit('Visitors who are not signed in', guestLimitPerDay),
        user: limit('Signed-in users'),
        roles: {
          type: 'object',
          title: 'By role',
          default: {},
          additionalProperties: limit('Role'),
          maxProperties: 50,
        },
        message: text({ title: 'Shown at the limit' }, 'You have reached the limit. Please try again later.'),
      },
    ),
    consent: group<FormSettings['consent']>(
      { title: 'Consent' },
      {
        required: flag({ title: 'Ask for consent' }, false),
        text: text({ title: 'Text' }, 'I agree that an AI service processes what I enter.', 4_000),
      },
    ),
    privacy: group<FormSettings['privacy']>(
      { title: 'Privacy' },
      {
        keep: flag({ title: 'Store submissions' }, true),
        retention_days: whole({ title: 'Retention in days', description: '0: forever.' }, 0, [0, 36_500]),
      },
    ),
    embed: embedSchema,
  },
} as const satisfies SettingSchema & { readonly properties: Readonly<Record<keyof FormSettings, SettingSchema>> };
