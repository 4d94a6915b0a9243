import {
  formFields,
  type Choice,
  type FieldErrors,
  type FieldHints,
  type FormField,
  type JsonSchema,
} from '#plugin-api';
import { moduleTitles } from '../../kit/module-titles.ts';
import { budgetSchema } from './budget.ts';

interface FieldInit {
  readonly values: Readonly<Record<string, unknown>>;
  readonly errors: FieldErrors;
  readonly providers: readonly Choice[];
  readonly roles: readonly Choice[];
}

/** The form has one choice for the scope and its module. */
const schema: JsonSchema = {
  type: 'object',
  properties: { ...budgetSchema.properties, whose: { type: 'string', title: 'Calls' } },
};

const scopes: readonly Choice[] = [
  { value: 'all', label: 'All calls' },
  { value: 'rest', label: 'Calls of the REST API' },
  ...Object.entries(moduleTitles).map(([id, title]) => ({ value: `module:${id}`, label: title })),
  { value: 'bot', label: 'One chatbot' },
  { value: 'key', label: 'One named key' },
  { value: 'user', label: 'One user' },
  { value: 'role', label: 'All users with a role together' },
  { value: 'plugin', label: 'One plugin' },
];

const hints: Readonly<Record<string, FieldHints>> = {
  name: { label: 'Name', help: 'Shown in alerts and errors.' },
  amount: { label: 'Amount' },
  unit: { label: 'Unit' },
  period: { label: 'Period' },
  bot_id: { label: 'Chatbot ID', help: 'For “One chatbot”. The page Chatbots shows the ID.' },
  key_id: { label: 'Key ID', help: 'For “One named key”. The page Keys shows the ID.' },
  user_id: { label: 'User ID', help: 'For “One user”.' },
  role: {
    label: 'Role',
    help: 'For “All users with a role together”: they share the amount. A call counts for the roles its user has at that time.',
  },
  plugin: {
    label: 'Plugin',
    help: 'For “One plugin”: its folder name, as on the page Usage. Counts calls that the plugin requests.',
  },
  at_limit: { label: 'At the limit', help: 'Only text falls back. Images and embeddings are refused.' },
  fallback_model: { label: 'Fallback model', help: 'The fallback model is not limited by this budget.' },
  alert_percent: { label: 'Alert at (%)', help: '0 turns the alert off.' },
  unpriced: { label: 'Calls without a price', help: 'Only for budgets in US dollars.' },
};

/** The fields of a budget's form by group, for `admin/field`. */
export function budgetFields({ values, errors, providers, roles }: FieldInit) {
  const withChoices = {
    ...hints,
    whose: { choices: withCurrent(scopes, values['whose'], (value) => value.replace('module:', 'Module ')) },
    role: {
      ...hints['role'],
      choices: withCurrent([{ value: '', label: 'None' }, ...roles], values['role'], (value) => value),
    },
    fallback_provider: { label: 'Fallback provider', choices: [{ value: '', label: 'None' }, ...providers] },
  };
  const fields = (...paths: readonly string[]): FormField[] =>
    formFields(schema, { values, errors, id: 'budget', hints: withChoices, paths });
  return {
    limit: fields('name', 'amount', 'unit', 'period'),
    whose: fields('whose', 'bot_id', 'key_id', 'user_id', 'role', 'plugin'),
    atLimit: fields('at_limit', 'fallback_provider', 'fallback_model'),
    more: fields('alert_percent', 'unpriced'),
  };
}

/** The options and the stored value, even if it no longer exists. */
function withCurrent(options: readonly Choice[], value: unknown, label: (value: string) => string): readonly Choice[] {
  return typeof value !== 'string' || options.some((option) => option.value === value)
    ? options
    : [...options, { value, label: label(value) }];
}
