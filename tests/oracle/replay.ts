import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { isDeepStrictEqual } from 'node:util';

/** The text of a recording in this folder. */
export function readRecording(name: string): string {
  return gunzipSync(readFileSync(new URL(name, import.meta.url))).toString();
}

/**
 * PHP has one type for lists and maps, so the recording shows `[]` for empty maps and a list for a map of 0, 1, 2:
 * both are brought to one form before they are compared.
 */
export function sameForm(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, member]) => [name, sameForm(member)] as const);
  return { isMap: true, members: Object.fromEntries(entries) };
}

/** Whether two answers say the same. */
export function isSame(actual: unknown, recorded: unknown): boolean {
  return isDeepStrictEqual(sameForm(actual), sameForm(recorded));
}

/** The recorded value with the site's address in it. */
export function withSite<Value>(value: Value, url: string): Value {
  return JSON.parse(JSON.stringify(value).replaceAll('{site}', url)) as Value;
}
