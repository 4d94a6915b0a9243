import { asRecord, formFields, translateText, type Choice, type FieldErrors, type FieldHints } from '#plugin-api';
import type { FormField, JsonSchema, User } from '#plugin-api';
import { deletedBotLabel, recordHints, type NamedRecord } from '../../admin-ui/form-values.ts';
import { moduleTitles } from '../../kit/module-titles.ts';
import { budgetSchema } from './budget.ts';
import type { BudgetPorts } from './module.ts';

/** What the fields of a budget offer. */
export interface BudgetChoices {
  readonly providers: readonly Choice[];
  readonly roles: readonly Choice[];
  readonly bots: readonly NamedRecord[];
  readonly keys: Awaited<ReturnType<BudgetPorts['namedKeys']>>;
  /** Active plugins; empty if the user may not see them. */
  readonly plugins: readonly Choice[];
}

interface FieldInit {
  readonly values: Readonly<Record<string, unknown>>;
  readonly errors: FieldErrors;
  readonly choices: BudgetChoices;
}

/** The form has one choice for the scope and its module, and finds users by their login or email address too. */
const schema: JsonSchema = {
  type: 'object',
  properties: {
    ...budgetSchema.properties,
    whose: { type: 'string', title: 'Calls' },
    user_id: { type: 'string', title: 'User', maxLength: 254 },
  },
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
  user_id: { label: 'User', help: 'For “One user”: user name, email address or ID.' },
  role: {
    label: 'Role',
    help: 'For “All users with a role together”: they share the amount. A call counts for the roles its user has at that time.',
  },
  plugin: {
    label: 'Plugin',
    help: 'For “One plugin”. Counts calls that the plugin requests.',
  },
  at_limit: { label: 'At the limit', help: 'Only text falls back. Images and embeddings are refused.' },
  fallback_model: { label: 'Fallback model', help: 'The fallback model is not limited by this budget.' },
  alert_percent: { label: 'Alert at (%)', help: '0 turns the alert off.' },
  unpriced: { label: 'Calls without a price', help: 'Only for budgets in US dollars.' },
};

/** @param user who sees the form */
export async function readBudgetChoices(ports: BudgetPorts, user: User): Promise<BudgetChoices> {
  const { host, providers } = ports;
  const [bots, keys, plugins] = await Promise.all([
    ports.botReplies.list(),
    ports.namedKeys(),
    activePlugins(ports, user),
  ]);
  return {
    providers: providers.all().map(({ id, label }) => ({ value: id, label })),
    roles: host.users.roles().map(({ name, label }) => ({ value: name, label })),
    ...{ bots, keys, plugins },
  };
}

/** The service itself is left out: what it requests is budgeted by module. */
async function activePlugins({ host }: BudgetPorts, user: User): Promise<Choice[]> {
  const { status, body } = await host.rest.dispatch('/wp/v2/plugins', { query: { status: 'active' }, user });
  return (status === 200 && Array.isArray(body) ? (body as unknown[]) : []).map(asRecord).flatMap((plugin) => {
    const [slug = ''] = String(plugin['plugin']).split('/');
    return slug === host.plugin.slug ? [] : [{ value: slug, label: String(plugin['name']), isData: true }];
  });
}

const none: Choice = { value: '', label: 'None' };

/** The fields of a budget's form by group, for `admin/field`. */
export function budgetFields({ values, errors, choices }: FieldInit) {
  const withChoices = {
    ...hints,
    whose: { choices: withCurrent(scopes, values['whose'], (value) => value.replace('module:', 'Module ')) },
    bot_id: botHints(choices, values['bot_id']),
    key_id: keyHints(choices, values['key_id']),
    role: { ...hints['role'], choices: withCurrent([none, ...choices.roles], values['role'], (value) => value) },
    // Without a list, the folder of the plugin is typed.
    plugin: { ...hints['plugin'], ...(choices.plugins.length > 0 && { choices: [none, ...choices.plugins] }) },
    fallback_provider: { label: 'Fallback provider', choices: [none, ...choices.providers] },
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

function botHints({ bots }: BudgetChoices, stored: unknown): FieldHints {
  return {
    label: 'Chatbot',
    help: 'For “One chatbot”.',
    ...recordHints(bots, stored, deletedBotLabel),
    ...(bots.length === 0 && { help: 'No chatbot yet. Create one on the page “Chatbots”.' }),
  };
}

function keyHints({ keys }: BudgetChoices, stored: unknown): FieldHints {
  const records = keys.map(({ id, name, revokedAt }) => ({
    id,
    name: revokedAt === null ? name : `${name} (${translateText('revoked')})`,
  }));
  return {
    label: 'Named key',
    help: 'For “One named key”.',
    ...recordHints(records, stored, (id) => translateText(`Key ${id} (deleted)`)),
    ...(keys.length === 0 && { help: 'No named key yet. Create one on the page “API keys”.' }),
  };
}

/** The options and the stored value, even if it no longer exists. */
function withCurrent(options: readonly Choice[], value: unknown, label: (value: string) => string): readonly Choice[] {
  return typeof value !== 'string' || options.some((option) => option.value === value)
    ? options
    : [...options, { value, label: label(value) }];
}
