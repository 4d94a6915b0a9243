import { storedJson } from '#plugin-api';

/** Length of the column `name`. */
const maxNameLength = 191;

/** @throws Error for names the database cannot store. An empty name is no error: WordPress returns false for it. */
export function cleanName(name: string): string {
  const clean = name.trim();
  if (clean.length > maxNameLength)
    throw new Error(`The option name '${clean.slice(0, 40)}...' is too long; use at most ${maxNameLength} characters.`);
  if (clean.includes('\0')) throw new Error('An option name must not contain a NUL character.');
  return clean;
}

/**
 * The JSON text of a value.
 *
 * @throws Error with the path of a member that JSON would change: undefined, a function, NaN, a date...
 */
export function encodeValue(name: string, value: unknown): string {
  assertJsonValue(value, name, []);
  return JSON.stringify(value);
}

export const decodeValue = (text: string): unknown => storedJson(text);

/** Whether values are equal, including the order of members, as WordPress compares serialized values. */
export function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

function assertJsonValue(value: unknown, path: string, parents: readonly object[]): void {
  const refuse = (what: string): never => {
    throw new Error(
      `The option value ${path} is ${what}, which JSON cannot represent; ` +
        'use null, a boolean, a finite number, a string, an array or a plain object.',
    );
  };
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return;
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) refuse(String(value));
    return;
  }
  if (typeof value !== 'object') return refuse(value === undefined ? 'undefined' : `a ${typeof value}`);
  if (parents.includes(value)) refuse('part of itself');
  const within = [...parents, value];
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) assertJsonValue(value[index], `${path}[${index}]`, within);
    return;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null)
    refuse(`an instance of ${(value as object).constructor.name}`);
  for (const [member, inner] of Object.entries(value)) assertJsonValue(inner, `${path}.${member}`, within);
}
