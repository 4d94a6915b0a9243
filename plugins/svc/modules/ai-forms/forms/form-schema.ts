import type { JsonSchema } from '#plugin-api';
import { elementProperties, visitorLimit, visitorLimits } from '../../../kit/form-elements.ts';
import { knowledgeSchema } from '../../../kit/assistants/assistant-knowledge.ts';
import { aiParamSchemas } from '../../../kit/ai-params.ts';
import { choice, flag, group, line, name, text, whole } from '../../../kit/setting-schemas.ts';
import { outputFieldsSchema } from '../../../kit/output-fields.ts';
import { embedSchema } from '../../../kit/visitors/embed-settings.ts';

export const elementTypes = ['text', 'textarea', 'number', 'select', 'checkbox', 'radio', 'file', 'image'] as const;

/** Null: the global default. */
function parameter(parameterName: 'temperature' | 'top_p' | 'frequency_penalty' | 'presence_penalty', title: string) {
  const ui = { short: true, placeholder: 'Default' };
  const { description: _description, ...schema } = aiParamSchemas[parameterName];
  return { ...schema, type: ['number', 'null'], title, default: null, ui } as const;
}

const parametersSchema = group(
  { title: 'Parameters' },
  {
    max_completion_tokens: {
      ...aiParamSchemas.max_completion_tokens,
      title: 'Maximum response length, in tokens',
      description: 'A token is about four characters. Default 4,000.',
      default: 4_000,
      ui: { short: true },
    },
    temperature: parameter('temperature', 'Temperature (0 to 2)'),
    top_p: parameter('top_p', 'Top p (0 to 1)'),
    frequency_penalty: parameter('frequency_penalty', 'Frequency penalty (-2 to 2)'),
    presence_penalty: parameter('presence_penalty', 'Presence penalty (-2 to 2)'),
    reasoning_effort: {
      type: ['string', 'null'],
      title: 'Reasoning effort',
      enum: [null, ...aiParamSchemas.reasoning_effort.enum],
      default: null,
    },
  },
);

const bound = {
  type: ['number', 'null'],
  title: 'Limit',
  minimum: -1_000_000_000_000,
  maximum: 1_000_000_000_000,
  default: null,
} as const;

export const elementSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'type', 'label'],
  properties: {
    ...elementProperties(elementTypes, 500),
    min: bound,
    max: bound,
  },
} as const satisfies JsonSchema;

/** What visitors see around the fields and the response. */
export const textsSchema = group(
  { title: 'Texts' },
  {
    submit: line({ title: 'Button', ui: { placeholder: 'Generate' } }, 'Generate'),
    working: line({ title: 'While generating', ui: { placeholder: 'Writing…' } }, 'Writing…'),
    result: line({ title: 'Above the response', ui: { placeholder: 'Result' } }, 'Result'),
    again: line({ title: 'Generate again', ui: { placeholder: 'Generate again' } }, 'Generate again'),
    error: text(
      { title: 'Error message', description: 'Shown to visitors. Administrators see the reason.' },
      'Something went wrong. Please try again in a moment.',
    ),
  },
);

const resultSchema = group(
  { title: 'Result' },
  {
    copy: flag({ title: 'Copy the response' }, true),
    download: flag({ title: 'Download the response', description: 'As Markdown, text or HTML.' }, true),
    save_as_post: flag(
      {
        title: 'Save the response as a post',
        description: 'Saves a draft. For signed-in users of this site who can write posts.',
      },
      true,
    ),
  },
);

export const limitsSchema = group(
  { title: 'Limits' },
  visitorLimits(
    (title, amount) => visitorLimit(title, { amount, unit: 'responses', members: {} }),
    'You have reached the limit. Please try again later.',
  ),
);

export const consentSchema = group(
  { title: 'Consent' },
  {
    required: flag({ title: 'Ask for consent' }, false),
    text: text(
      { title: 'Text of the checkbox', ui: { rows: 2 } },
      'I agree that an AI service processes what I enter.',
      4_000,
    ),
  },
);

const privacySchema = group(
  { title: 'Privacy' },
  {
    keep: flag(
      {
        title: 'Store submissions',
        description:
          'If off, fields and responses are not stored, only the fact of a submission. Bodies of webhook events are ' +
          'deleted after their last delivery. Files are never stored.',
      },
      true,
    ),
    retention_days: whole(
      { title: 'Delete after (days)', description: 'Enter 0 to keep submissions forever.', ui: { short: true } },
      0,
      [0, 36_500],
    ),
  },
);

/** The settings of a form: their types, fields, defaults and checks, for pages, commands, export and import. */
export const formSchema = {
  type: 'object',
  title: 'Form',
  additionalProperties: false,
  properties: {
    name: { ...name({ title: 'Name', description: 'Shown above the form.' }), default: 'Form' },
    status: choice({ title: 'Status', description: 'Visitors cannot see an inactive form.' }, ['active', 'inactive']),
    // Plain text.
    intro: text(
      { title: 'Text above the fields', description: 'A blank line starts a new paragraph.', ui: { rows: 2 } },
      '',
      4_000,
    ),
    elements: { type: 'array', title: 'Fields', default: [], items: elementSchema, maxItems: 60 },
    // `{id}` inserts the value of an element; `{{id}}` is a literal `{id}`.
    prompt: { ...text({ title: 'Prompt', ui: { rows: 10, mono: true } }, '', 100_000), required: true },
    instructions: text(
      {
        title: 'Instructions for the model',
        description:
          'Describe the role, the style and what to avoid. [date] inserts today’s date, [username] the visitor’s name or Guest.',
        ui: { rows: 5 },
      },
      '',
      100_000,
    ),
    // Lines of `kit/output-fields.ts`. With any, the response is data, shown as a table.
    output: outputFieldsSchema,
    provider: { type: 'string', title: 'Provider', default: '' },
    model: line({ title: 'Model', ui: { mono: true, placeholder: 'Saved model of the provider' } }, ''),
    parameters: parametersSchema,
    knowledge: knowledgeSchema,
    texts: textsSchema,
    result: resultSchema,
    limits: limitsSchema,
    consent: consentSchema,
    privacy: privacySchema,
    embed: embedSchema,
  },
} as const satisfies JsonSchema;
