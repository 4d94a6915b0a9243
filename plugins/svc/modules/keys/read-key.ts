import { invalidFields, localDay, type HostApi, type JsonSchema } from '#plugin-api';
import { keyScopesSchema, type KeyScopes } from '../../kit/caller.ts';
import { findPeriod } from '../../kit/visitors/period.ts';
import { readFieldValues } from '../../settings/field-value.ts';
import type { NamedKey } from './named-key.ts';
import type { FindUnknownScopes } from './scope-targets.ts';

/** What an administrator chooses of a key. */
export type KeySettings = Pick<NamedKey, 'name' | 'scopes' | 'requestsPerMinute' | 'isLenient' | 'expiresAt'>;

/** The members of a form, and of the JSON of a command. */
export const keyFieldSchemas = {
  name: { type: 'string', title: 'Name', minLength: 1, maxLength: 80 },
  ...keyScopesSchema,
  requests_per_minute: { type: 'integer', title: 'Calls per minute', minimum: 0, maximum: 1_000_000, default: 0 },
  lenient: { type: 'boolean', title: 'Leave out what a model lacks', default: false },
  expires: { type: 'string', title: 'Last day', format: 'date' },
} as const satisfies Record<string, JsonSchema>;

/** What a key is checked against. */
export interface ReadKeyInit {
  readonly host: Pick<HostApi, 'site' | 'clock'>;
  /** The key that is changed: what it has already stays valid. */
  readonly stored?: NamedKey;
  readonly findUnknown: FindUnknownScopes;
}

/**
 * Reads the settings of a key. `expires` is the last day on which it works, in the site's time zone; empty: it never expires.
 *
 * @throws RestError 400 with a sentence for each invalid member
 */
export async function readKey(
  values: Readonly<Record<string, unknown>>,
  { host: { site, clock }, stored, findUnknown }: ReadKeyInit,
): Promise<KeySettings> {
  const { values: read, errors } = readFieldValues(keyFieldSchemas, values);
  const timezone = await site.timezone();
  const expiresAt = endOfDay(String(read['expires'] ?? ''), timezone);
  const list = <Item>(name: keyof KeyScopes): readonly Item[] => [...new Set((read[name] ?? []) as Item[])];
  const scopes: KeyScopes = {
    routes: list('routes'),
    providers: list('providers'),
    models: list('models'),
    chatbots: list('chatbots'),
    abilities: list('abilities'),
  };
  if (errors['name'] === undefined && read['name'] === undefined)
    errors['name'] = 'Enter a name that says who uses the key.';
  if (errors['routes'] === undefined && scopes.routes.length === 0)
    errors['routes'] = 'Select at least one route. Without one the key allows nothing.';
  if (errors['expires'] === undefined && Number.isNaN(expiresAt))
    errors['expires'] = 'Last day must be a date, such as 2026-01-31.';
  if (
    errors['expires'] === undefined &&
    expiresAt !== (stored?.expiresAt ?? null) &&
    (expiresAt ?? Infinity) <= clock.now()
  )
    errors['expires'] = `Last day is over. Enter ${localDay(clock.now(), timezone)} or a later day.`;
  for (const [name, sentence] of Object.entries(await findUnknown(scopes, stored?.scopes))) errors[name] ??= sentence;
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
  return {
    name: String(read['name']).trim(),
    scopes,
    requestsPerMinute: Number(read['requests_per_minute'] ?? 0),
    isLenient: read['lenient'] === true,
    expiresAt,
  };
}

/** Typed ids as numbers. What is no number stays text, so that its error names it. */
export function chatbotIds(items: readonly string[]): (string | number)[] {
  return items.map((item) => (/^\d+$/.test(item) ? Number(item) : item));
}

/** The first moment after a day of the site, in milliseconds since the epoch; null for no day, NaN for an invalid one. */
function endOfDay(day: string, timezone: string): number | null {
  if (day === '') return null;
  const noon = Date.parse(`${day}T12:00:00Z`);
  if (Number.isNaN(noon)) return noon;
  // Clocks are at most 14 hours ahead of UTC: noon may be the next day there.
  const within = [noon, noon - 12 * 3600_000].find((time) => localDay(time, timezone) === day);
  return within === undefined ? Number.NaN : findPeriod('day', within, timezone).endsAt;
}
