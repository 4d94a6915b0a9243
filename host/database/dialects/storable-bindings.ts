import { storableText } from '#plugin-api';

/**
 * Values of a statement with each text as PostgreSQL can store it (D54). The last border: text that a machine sent, through
 * whichever reader, breaks no statement, and both databases store the same. People's texts are refused before, at the door.
 */
export function storableBindings(bindings: readonly unknown[]): unknown[] {
  return bindings.some(isUnstorable) ? bindings.map(storable) : (bindings as unknown[]);
}

const isUnstorable = (value: unknown): boolean => storable(value) !== value;

/** Arrays are values of PostgreSQL's `ANY`. */
function storable(value: unknown): unknown {
  return typeof value === 'string' ? storableText(value) : Array.isArray(value) ? storableBindings(value) : value;
}
