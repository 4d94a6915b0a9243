import type { FieldErrors } from '#plugin-api';
import { moduleTitles } from '../../kit/module-titles.ts';

interface FieldInit {
  readonly values: Readonly<Record<string, unknown>>;
  readonly errors: FieldErrors;
  readonly providers: readonly Option[];
  readonly roles: readonly Option[];
}

interface Option {
  readonly value: string;
  readonly label: string;
}

const scopes = [
  { value: 'all', label: 'All calls' },
  { value: 'rest', label: 'Calls of the REST API' },
  ...Object.entries(moduleTitles).map(([id, title]) => ({ value: `module:${id}`, label: title })),
  { value: 'bot', label: 'One chatbot' },
  { value: 'key', label: 'One named key' },
  { value: 'user', label: 'One user' },
  { value: 'role', label: 'All users with a role together' },
  { value: 'plugin', label: 'One plugin' },
];

/** The fields of a budget's form by group, for `admin/field`. */
export function budgetFields({ values, errors, providers, roles }: FieldInit) {
  const field = (name: string, label: string, rest: Readonly<Record<string, unknown>> = {}) => ({
    id: `budget-${name}`,
    name,
    label,
    value: values[name] ?? '',
    error: errors[name] ?? '',
    ...rest,
  });
  const atLimit = [
    field('at_limit', 'At the limit', {
      type: 'select',
      options: [
        { value: 'stop', label: 'Refuse calls' },
        { value: 'fallback', label: 'Fall back to a cheaper model' },
      ],
      help: 'Only text falls back. Images and embeddings are refused.',
    }),
    field('fallback_provider', 'Fallback provider', {
      type: 'select',
      options: [{ value: '', label: 'None' }, ...providers],
    }),
    field('fallback_model', 'Fallback model', {
      maxlength: 200,
      mono: true,
      help: 'The fallback model is not limited by this budget.',
    }),
  ];
  return {
    limit: limitFields(field),
    whose: scopeFields(field, { values, errors, roles }),
    atLimit,
    more: moreFields(field),
  };
}

type CreateField = (name: string, label: string, rest?: Readonly<Record<string, unknown>>) => object;

/** Name, amount, unit and period. */
function limitFields(field: CreateField) {
  return [
    field('name', 'Name', { required: true, maxlength: 80, help: 'Shown in alerts and errors.' }),
    field('amount', 'Amount', { type: 'number', required: true, min: 0, step: 'any' }),
    field('unit', 'Unit', {
      type: 'select',
      options: [
        { value: 'dollars', label: 'US dollars' },
        { value: 'tokens', label: 'Tokens' },
        { value: 'calls', label: 'Calls' },
      ],
    }),
    field('period', 'Period', {
      type: 'select',
      options: [
        { value: 'day', label: 'Day' },
        { value: 'month', label: 'Month' },
      ],
    }),
  ];
}

/** Which calls count, and the one thing that they are limited to. */
function scopeFields(field: CreateField, { values, errors, roles }: Omit<FieldInit, 'providers'>) {
  const whole = { type: 'number', min: 1, step: 1 };
  return [
    field('whose', 'Calls', {
      type: 'select',
      options: withCurrent(scopes, values['whose'], (value) => value.replace('module:', 'Module ')),
      error: errors['scope'] ?? errors['module'] ?? '',
    }),
    field('bot_id', 'Chatbot ID', { ...whole, help: 'For “One chatbot”. The page Chatbots shows the ID.' }),
    field('key_id', 'Key ID', { ...whole, help: 'For “One named key”. The page Keys shows the ID.' }),
    field('user_id', 'User ID', { ...whole, help: 'For “One user”.' }),
    field('role', 'Role', {
      type: 'select',
      options: withCurrent([{ value: '', label: 'None' }, ...roles], values['role'], (value) => value),
      help: 'For “All users with a role together”: they share the amount. A call counts for the roles its user has at that time.',
    }),
    field('plugin', 'Plugin', {
      maxlength: 60,
      mono: true,
      help: 'For “One plugin”: its folder name, as on the page Usage. Counts calls that the plugin requests.',
    }),
  ];
}

/** The options and the stored value, even if it no longer exists. */
function withCurrent(options: readonly Option[], value: unknown, label: (value: string) => string): readonly Option[] {
  return typeof value !== 'string' || options.some((option) => option.value === value)
    ? options
    : [...options, { value, label: label(value) }];
}

/** Alert, and calls without a price. */
function moreFields(field: CreateField) {
  return [
    field('alert_percent', 'Alert at (%)', {
      type: 'number',
      min: 0,
      max: 100,
      step: 1,
      help: '0 turns the alert off.',
    }),
    field('unpriced', 'Calls without a price', {
      type: 'select',
      options: [
        { value: 'refuse', label: 'Refuse' },
        { value: 'free', label: 'Count as free' },
      ],
      help: 'Only for budgets in US dollars.',
    }),
  ];
}
