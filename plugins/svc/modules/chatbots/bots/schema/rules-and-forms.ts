import type { JsonSchema } from '#plugin-api';
import { elementProperties } from '../../../../kit/form-elements.ts';
import { flag, id, line, name, text } from '../../../../kit/setting-schemas.ts';

const conditionSchema: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['fact', 'operator'],
  properties: {
    fact: {
      type: 'string',
      title: 'Fact',
      maxLength: 80,
      pattern:
        '^(message|message_count|page_url|signed_in|role|form_id|error_code|hour|weekday|' +
        'variable:[A-Za-z0-9_-]{1,60}|field:[A-Za-z0-9_-]{1,60})$',
      rule:
        'must be message, message_count, page_url, signed_in, role, form_id, error_code, hour, weekday, ' +
        'variable:<name> or field:<id>',
    },
    operator: {
      type: 'string',
      title: 'Comparison',
      enum: [
        'contains',
        'not_contains',
        'equals',
        'not_equals',
        'starts_with',
        'ends_with',
        'matches',
        'greater_than',
        'less_than',
        'is_empty',
        'is_not_empty',
      ],
    },
    value: text(
      { title: 'Value', description: 'For contains and equals, one value per line. Any of them matches.' },
      '',
      5_000,
    ),
  },
};

function action(type: string, properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return {
    type: 'object',
    additionalProperties: false,
    required: ['type', ...Object.keys(properties)],
    properties: { type: { type: 'string', const: type }, ...properties },
  };
}

const actionText: JsonSchema = { type: 'string', title: 'Text', minLength: 1, maxLength: 10_000 };
const value: JsonSchema = {
  type: 'string',
  title: 'Value',
  description: '{message}, {page_url} and {field:id} are replaced.',
  maxLength: 5_000,
};
const hook: JsonSchema = {
  ...id,
  title: 'Hook name',
  pattern: '^[a-z0-9_]+$',
  rule: 'must contain only lowercase letters, digits and _',
};

const actionSchema: JsonSchema = {
  type: 'object',
  title: 'Action',
  discriminator: { propertyName: 'type' },
  required: ['type'],
  oneOf: [
    action('reply', { text: actionText }),
    action('add_context', { text: actionText }),
    action('block', { text: actionText }),
    action('display_form', { form_id: { ...id, title: 'Form' } }),
    action('set_variable', { name: { ...id, title: 'Name' }, value }),
    action('store', { name: name({ title: 'Name' }), value }),
    action('call_hook', { name: hook }),
    action('call_url', { url: { ...name({ title: 'URL' }, 2_000) } }),
  ],
};

export const rulesSchema: JsonSchema = {
  type: 'array',
  title: 'Rules',
  default: [],
  maxItems: 200,
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['id', 'event', 'action'],
    properties: {
      id,
      name: line({ title: 'Name' }, ''),
      enabled: flag({ title: 'Active' }, true),
      event: {
        type: 'string',
        title: 'Event',
        enum: ['session_started', 'message_received', 'form_submitted', 'error'],
      },
      conditions: {
        type: 'array',
        title: 'Conditions',
        description: 'All must match. With none, the rule always runs.',
        default: [],
        items: conditionSchema,
        maxItems: 50,
      },
      action: actionSchema,
      priority: {
        type: 'integer',
        title: 'Priority',
        description: 'Lower numbers run first.',
        default: 10,
        minimum: -1_000_000,
        maximum: 1_000_000,
      },
    },
  },
};

/** Sources of hidden elements besides `query:<name>`. */
const hiddenSources = ['page_url', 'page_title', 'user_id', 'user_name', 'user_email'] as const;

/** Sources as they are saved; empty for other elements. A name is any text without blanks and control characters. */
const hiddenSourcePattern = `^(|${hiddenSources.join('|')}|query:[^\\s\\u0000-\\u001f]{1,100})$`;

const elementSchema: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'type', 'label'],
  properties: {
    ...elementProperties(
      ['text', 'textarea', 'email', 'phone', 'number', 'select', 'radio', 'checkbox', 'consent', 'hidden'],
      1_000,
    ),
    source: {
      type: 'string',
      title: 'Filled with',
      description: 'Only for hidden fields.',
      default: '',
      maxLength: 110,
      pattern: hiddenSourcePattern,
      rule: 'must be page_url, page_title, query:<parameter>, user_id, user_name or user_email',
    },
  },
};

export const builtInThanks = 'Thank you. We have received your details.';

export const formsSchema: JsonSchema = {
  type: 'array',
  title: 'Forms',
  default: [],
  maxItems: 50,
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['id', 'name', 'elements'],
    properties: {
      id,
      name: name({ title: 'Name' }),
      intro: text({ title: 'Text above the fields', description: 'Markdown.' }, '', 4_000),
      submit_label: line({ title: 'Button label' }, ''),
      thanks: text({ title: 'Thank-you message' }, builtInThanks),
      elements: { type: 'array', title: 'Fields', items: elementSchema, minItems: 1, maxItems: 60 },
    },
  },
};
