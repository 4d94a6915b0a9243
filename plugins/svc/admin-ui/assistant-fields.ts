import {
  asRecord,
  fieldLabel,
  formFields,
  invalidFields,
  isRecord,
  readForm,
  translateText,
  valueAt,
} from '#plugin-api';
import type { Choice, FieldErrors, FieldHints, FormField, JsonSchema } from '#plugin-api';
import { missingSettings, type Configurable, type SavedSettings } from '../settings/configured.ts';
import { providerChoices, type Providers } from './model-choices.ts';

/** Where the names in the settings of a chatbot or form come from. */
export interface AssistantChoices extends Providers {
  readonly vectorStores: { all(): readonly Configurable[] };
  readonly vectorStoreSettings: { effective(id: string): Promise<SavedSettings> };
  knowledgeBases(): Promise<readonly { readonly id: number; readonly name: string }[]>;
}

/** Entered or stored settings with the errors of a form that was refused. */
export interface FormState {
  readonly draft: Readonly<Record<string, unknown>>;
  readonly errors: FieldErrors;
}

/** The providers, vector stores, knowledge bases and models that the settings of an assistant can name now. */
export async function assistantHints(
  parts: AssistantChoices,
  draft: FormState['draft'],
): Promise<Readonly<Record<string, FieldHints>>> {
  const [providers, embeddingProviders, stores, bases] = await Promise.all([
    providerChoices(parts, 'text'),
    providerChoices(parts, 'embeddings'),
    storeChoices(parts),
    parts.knowledgeBases(),
  ]);
  const none = { value: '', label: 'None' };
  const listOf = (kind: string, path: string): FieldHints => ({
    list: `models-${kind}-${String(valueAt(draft, path) ?? '')}`,
  });
  return {
    provider: { choices: providers },
    model: listOf('text', 'provider'),
    'knowledge.base': {
      choices: [
        { value: '0', label: 'None: use the vector store below' },
        ...bases.map(({ id, name }) => ({ value: String(id), label: name, isData: true })),
      ],
      ...(bases.length === 0 && {
        help: 'No knowledge base yet. Create one on the page "Knowledge", or choose a vector store below.',
      }),
    },
    'knowledge.store': { choices: [none, ...stores] },
    'knowledge.embedding_provider': { choices: [none, ...embeddingProviders] },
    'knowledge.embedding_model': listOf('embedding', 'knowledge.embedding_provider'),
  };
}

async function storeChoices({ vectorStores, vectorStoreSettings }: AssistantChoices): Promise<Choice[]> {
  return Promise.all(
    vectorStores.all().map(async (store) => {
      const missing = missingSettings(store, await vectorStoreSettings.effective(store.id));
      return { value: store.id, label: missing.length === 0 ? store.label : `${store.label} (not configured)` };
    }),
  );
}

/** Roles of the site. Other roles with limits are shown too. */
const siteRoles = ['subscriber', 'contributor', 'author', 'editor', 'administrator'];

export interface LimitRow {
  readonly title: string;
  readonly fields: readonly FormField[];
}

const rolesOf = (values: object): string[] => {
  const roles = valueAt(values, 'limits.roles');
  return isRecord(roles) ? Object.keys(roles) : [];
};

/** The limits of visitors: one row for guests, one for users, and one for each role. */
export function limitRows(schema: JsonSchema, { draft, errors }: FormState): LimitRow[] {
  const row = (path: string, title: string): LimitRow => {
    const fields = formFields(schema, { values: draft, errors, id: 'bot', paths: [path] });
    // The role is known here only; without an amount, the limit of users applies.
    const named = fields.map((field) => ({
      ...field,
      label: `${translateText(title)}: ${translateText(field.label.replace(/^.*: /, ''))}`,
      ...(field.error !== undefined && { error: field.error.replace(/^Role/, title) }),
      ...(title.endsWith(' role') && valueAt(draft, field.path) === undefined && { value: valueOfMissing(field) }),
      // Stored 0 is no limit, which a person would read as nothing allowed.
      ...(field.path.endsWith('.amount') &&
        valueAt(draft, field.path) === 0 &&
        field.error === undefined && { value: '' }),
    }));
    return { title, fields: named };
  };
  const roles = [...new Set([...siteRoles, ...rolesOf(draft)])];
  return [
    row('limits.guest', 'Guests'),
    row('limits.user', 'Signed-in users'),
    ...roles.map((role) => row(`limits.roles.${role}`, `${translateText(fieldLabel(role, {}))} role`)),
  ];
}

const valueOfMissing = ({ type, value }: FormField): unknown => (type === 'number' ? '' : value);

/**
 * Refuses an amount of 0, which is stored for no limit: who types it wants the opposite.
 *
 * @throws RestError 400 with a sentence for each
 */
export function requireAmounts({ limits }: Readonly<Record<string, unknown>>): void {
  const { guest, user, roles } = asRecord(limits);
  const rows = {
    guest,
    user,
    ...Object.fromEntries(Object.entries(asRecord(roles)).map(([role, row]) => [`roles.${role}`, row])),
  };
  const zeros = Object.entries(rows).filter(([, row]) => /^\s*0+\s*$/.test(String(asRecord(row)['amount'] ?? '')));
  if (zeros.length === 0) return;
  const sentence = 'Enter 1 or more, or leave it empty for no limit.';
  throw invalidFields(Object.fromEntries(zeros.map(([name]) => [`limits.${name}.amount`, translateText(sentence)])));
}

/** Reads the limits of visitors. An empty amount means no limit, and for a role no separate limit. */
export function readLimits(schema: JsonSchema, form: Readonly<Record<string, unknown>>): Record<string, unknown> {
  if (!isRecord(form['limits'])) return {};
  const posted = (path: string): boolean => String(valueAt(form, `${path}.amount`) ?? '').trim() !== '';
  const read = (path: string): unknown => {
    const limit = valueAt(readForm(schema, form, { paths: [path] }), path);
    return isRecord(limit) && !posted(path) ? { ...limit, amount: 0 } : limit;
  };
  const roles = rolesOf(form).filter((role) => posted(`limits.roles.${role}`));
  return {
    guest: read('limits.guest'),
    user: read('limits.user'),
    roles: Object.fromEntries(roles.map((role) => [role, read(`limits.roles.${role}`)])),
  };
}
