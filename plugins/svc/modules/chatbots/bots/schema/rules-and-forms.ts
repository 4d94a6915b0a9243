import { flag, id, line, name, text, type SettingSchema } from '../../../../kit/settings-schema/fields.ts';

const conditionSchema: SettingSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['fact', 'operator'],
  properties: {
    fact: {
      type: 'string',
      title: 'Fact',
      maxLength: 80,
      pattern:
        '^(message|message_count|page_url|signed_in|role|form_id|error_code|hour|weekday|variable:[A-Za-z0-9_-]{1,60}|field:[A-Za-z0-9_-]{1,60})$',
      rule: 'must be message, message_count, page_url, signed_in, role, form_id, error_code, hour, weekday, variable:<name> or field:<id>',
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
        'greater_than',
        'less_than',
        'is_empty',
        'is_not_empty',
      ],
    },
    value: text(
      { title: 'Value', description: 'For contains and equals several, one a line: any of them will do.' },
      '',
      5_000,
    ),
  },
};

function action(type: string, properties: Readonly<Record<string, SettingSchema>>): SettingSchema {
  return {
    type: 'object',
    additionalProperties: false,
    required: ['type', ...Object.keys(properties)],
    properties: { type: { type: 'string', const: type }, ...properties },
  };
}

const said: SettingSchema = { type: 'string', title: 'Text', minLength: 1, maxLength: 10_000 };
const value: SettingSchema = {
  type: 'string',
  title: 'Value',
  description: '{message}, {page_url} and {field:id} are filled in.',
  maxLength: 5_000,
};
const hook: SettingSchema = {
  ...id,
  title: 'Name of the hook',
  pattern: '^[a-z0-9_]+$',
  rule: 'may hold small letters, digits and _ only',
};

const actionSchema: SettingSchema = {
  type: 'object',
  title: 'Action',
  discriminator: { propertyName: 'type' },
  required: ['type'],
  oneOf: [
    action('reply', { text: said }),
    action('add_context', { text: said }),
    action('block', { text: said }),
    action('display_form', { form_id: { ...id, title: 'Form' } }),
    action('set_variable', { name: { ...id, title: 'Name' }, value }),
    action('store', { name: name({ title: 'Name' }), value }),
    action('call_hook', { name: hook }),
  ],
};

export const rulesSchema: SettingSchema = {
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
      enabled: flag({ title: 'On' }, true),
      event: {
        type: 'string',
        title: 'When',
        enum: ['session_started', 'message_received', 'form_submitted', 'error'],
      },
      conditions: {
        type: 'array',
        title: 'Conditions',
        description: 'All must hold; none: always.',
        default: [],
        items: conditionSchema,
        maxItems: 50,
      },
      action: actionSchema,
      priority: {
        type: 'integer',
        title: 'Priority',
        description: 'Low first.',
        default: 10,
        minimum: -1_000_000,
        maximum: 1_000_000,
      },
    },
  },
};

const elementSchema: SettingSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'type', 'label'],
  properties: {
    id,
    type: {
      type: 'string',
      title: 'Kind',
      enum: ['text', 'textarea', 'email', 'phone', 'number', 'select', 'radio', 'checkbox', 'consent'],
    },
    label: name({ title: 'Label' }, 1_000),
    help: text({ title: 'Help' }, ''),
    placeholder: line({ title: 'Text in the empty field' }, ''),
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
  },
};

export const formsSchema: SettingSchema = {
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
      intro: text({ title: 'Above the fields', description: 'Markdown.' }, '', 4_000),
      submit_label: line({ title: 'Button' }, ''),
      thanks: text({ title: 'After it was submitted' }, 'Thank you. We have received your details.'),
      elements: { type: 'array', title: 'Fields', items: elementSchema, minItems: 1, maxItems: 60 },
    },
  },
};
