/** A JSON object with unknown members. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The member if it is an object, else an empty one, so that nested reads need no checks. */
export function objectAt(value: unknown, member: string): JsonObject {
  const found = isObject(value) ? value[member] : undefined;
  return isObject(found) ? found : {};
}

export function listAt(value: unknown, member: string): readonly unknown[] {
  const found = isObject(value) ? value[member] : undefined;
  return Array.isArray(found) ? found : [];
}

/** The member if it is text that is not blank, else null. */
export function textAt(value: unknown, member: string): string | null {
  const found = isObject(value) ? value[member] : undefined;
  return typeof found === 'string' && found.trim() !== '' ? found : null;
}

/** The member as a whole number of 0 or more, else null. */
export function countAt(value: unknown, member: string): number | null {
  const found = isObject(value) ? value[member] : undefined;
  return typeof found === 'number' && Number.isFinite(found) && found >= 0 ? Math.trunc(found) : null;
}
