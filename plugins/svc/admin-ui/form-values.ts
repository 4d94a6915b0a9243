import { asRecord, translateText, type AdminRequest, type Choice, type FieldHints } from '#plugin-api';
import type { Configurable } from '../settings/configured.ts';

/** A text field of the posted form; '' if it is missing or not text. */
export function readText(request: AdminRequest, name: string): string {
  const value = request.form[name];
  return typeof value === 'string' ? value : '';
}

/** A link to the same page with another query. */
export function queryHref(query: Readonly<Record<string, string>>, anchor = ''): string {
  return `?${new URLSearchParams(query).toString()}${anchor === '' ? '' : `#${anchor}`}`;
}

/** A record to choose by its name: a chatbot, a key. */
export interface NamedRecord {
  readonly id: number;
  readonly name: string;
}

export function deletedBotLabel(id: string | number): string {
  return translateText(`Chatbot ${String(id)} (deleted)`);
}

/** A page with thousands of them takes long, and a person does not look through them. */
const mostChoices = 200;
/** For a field without choices, see `recordChoices`. */
const idHelp = 'Enter its id, as its list shows it.';

/**
 * Records as choices by name. A stored id without a record stays a choice, so that saving the form does not change it. Null: there
 * are too many, and the id is typed.
 *
 * @param deleted label of such an id
 */
export function recordChoices(
  records: readonly NamedRecord[],
  stored: unknown,
  deleted: (id: string) => string,
): Choice[] | null {
  if (records.length > mostChoices) return null;
  const known = records.map(({ id, name }) => ({ value: String(id), label: name, isData: true }));
  const ids = [...new Set([stored].flat().map((id) => String(id ?? '')))];
  const missing = ids.filter((id) => /^\d+$/.test(id) && !known.some(({ value }) => value === id));
  return [...known, ...missing.map((id) => ({ value: id, label: deleted(id), isData: true }))];
}

/** What a field of a form says that names one of the records, or none. */
export function recordHints(...given: Parameters<typeof recordChoices>): FieldHints {
  const choices = recordChoices(...given);
  return choices === null ? { help: idHelp } : { choices: [{ value: '', label: 'None' }, ...choices] };
}

/** Parameters of the partial `admin/field` that choose one of the records. @param first the choice of none */
export function recordField(
  records: readonly NamedRecord[],
  {
    value,
    first,
    deleted,
  }: { readonly value: string; readonly first?: string; readonly deleted: (id: string) => string },
) {
  const choices = recordChoices(records, value, deleted);
  return choices === null
    ? ({ type: 'number', min: 1, help: idHelp } as const)
    : ({
        type: 'select',
        options: [...(first === undefined ? [] : [{ value: '', label: first }]), ...choices],
      } as const);
}

/** The fields `group[...]` of the posted form. */
export function readGroup(request: AdminRequest, group: string): Readonly<Record<string, unknown>> {
  return asRecord(request.form[group]);
}

/**
 * The posted settings of a provider or vector store as changes. An empty secret stays unless "Remove" is checked.
 *
 * @throws RestError 403 `fresh_sign_in_required` if a secret changes and the sign-in is too old.
 */
export function readChanges(
  request: AdminRequest,
  provider: Pick<Configurable, 'settings'>,
): Readonly<Record<string, unknown>> {
  const posted = readGroup(request, 'settings');
  const removed = request.form['_remove'];
  const changes: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(provider.settings.properties)) {
    const value = Object.hasOwn(posted, name) ? posted[name] : undefined;
    const remove = Array.isArray(removed) && removed.includes(`settings[${name}]`);
    if (remove && !value) changes[name] = '';
    else if (!schema.writeOnly || (value !== '' && value !== undefined)) changes[name] = value;
  }
  if (Object.keys(changes).some((name) => provider.settings.properties[name]?.writeOnly)) request.requireFreshSignIn();
  return changes;
}
