import { asRecord, translateText, type AdminRequest, type Choice } from '#plugin-api';
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

/**
 * Records as choices by name. A stored id without a record stays a choice, so that saving the form does not change it.
 *
 * @param deleted label of such an id
 */
export function recordChoices(
  records: readonly NamedRecord[],
  stored: unknown,
  deleted: (id: string) => string,
): Choice[] {
  const known = records.map(({ id, name }) => ({ value: String(id), label: name, isData: true }));
  const ids = [...new Set([stored].flat().map((id) => String(id ?? '')))];
  const missing = ids.filter((id) => /^\d+$/.test(id) && !known.some(({ value }) => value === id));
  return [...known, ...missing.map((id) => ({ value: id, label: deleted(id), isData: true }))];
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
