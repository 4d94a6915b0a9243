import { asRecord, isRecord } from '#plugin-api';

/** A JSON object with unknown members. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The member if it is an object, else an empty one, so that nested reads need no checks. */
export function objectAt(value: unknown, member: string): JsonObject {
  const found = isRecord(value) ? value[member] : undefined;
  return asRecord(found);
}

export function listAt(value: unknown, member: string): readonly unknown[] {
  const found = isRecord(value) ? value[member] : undefined;
  return Array.isArray(found) ? found : [];
}

/** The member if it is text that is not blank, else null. */
export function textAt(value: unknown, member: string): string | null {
  const found = isRecord(value) ? value[member] : undefined;
  return typeof found === 'string' && found.trim() !== '' ? found : null;
}

/** The member as a whole number of 0 or more, else null. */
export function countAt(value: unknown, member: string): number | null {
  const found = isRecord(value) ? value[member] : undefined;
  return typeof found === 'number' && Number.isFinite(found) && found >= 0 ? Math.trunc(found) : null;
}

/** The arguments of a tool call as an object. Of another text, which a model may write by mistake, it is the member `input`. */
export function parseArguments(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : { input: value };
  } catch {
    return { input: text };
  }
}
