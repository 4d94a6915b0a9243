import { isUtf8 } from 'node:buffer';

/**
 * The border for text at every door (D54). PostgreSQL stores neither NUL nor half of a surrogate pair, and pages, feeds and
 * JSON of others break on them. Bytes that are not UTF-8 are as broken: what decodes them leaves a mark, which is half of a pair.
 * Where people type, a text with one is refused (`textError`, `findTextError`,
 * `findFieldError`); where machines send, each becomes U+FFFD (`storableText`, `storableValue`), and also in JSON that is read
 * back (`storedJson`).
 */

const replacement = '\ufffd';
/** Holds the place of bytes that are not UTF-8 until the border is reached. */
const brokenMark = '\udfff';
const loneSurrogate = /\p{Surrogate}/u;
const loneSurrogates = /\p{Surrogate}/gu;

/** What a text must not contain, to follow the name of its field; null: it can be stored. */
export function textRule(text: string): string | null {
  if (text.includes('\0')) return 'must not contain NUL characters';
  if (!loneSurrogate.test(text)) return null;
  return text.includes(brokenMark) ? 'must be valid UTF-8' : 'must not contain half of a surrogate pair';
}

/** A sentence about a text that cannot be stored, which begins with the name of its field; null: it can. */
export function textError(name: string, text: string): string | null {
  const rule = textRule(text);
  return rule === null ? null : `${name} ${rule}.`;
}

/** A text that was decoded from bytes that are not UTF-8, so that the border refuses or replaces them. */
export function markBroken(text: string): string {
  return text.includes(replacement) ? text.replaceAll(replacement, brokenMark) : text + brokenMark;
}

/** The text of bytes, marked as `markBroken` does if they are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  return isUtf8(bytes) ? text : markBroken(text);
}

export interface TextError {
  /** Names and indexes of members, from the value to the text. */
  readonly steps: readonly string[];
  readonly rule: string;
}

/** The first text of a value, at any depth, that cannot be stored. A name of a member counts as text of the value that has it. */
export function findTextError(value: unknown): TextError | null {
  if (typeof value === 'string') {
    const rule = textRule(value);
    return rule === null ? null : { steps: [], rule };
  }
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    const rule = textRule(name);
    if (rule !== null) return { steps: [], rule };
    const found = findTextError(member);
    if (found !== null) return { ...found, steps: [name, ...found.steps] };
  }
  return null;
}

/** The field, a member of the form or query, with text that cannot be stored, and a sentence that names it; null: none has. */
export function findFieldError(fields: object): { readonly name: string; readonly message: string } | null {
  const error = findTextError(fields);
  if (error === null) return null;
  const { steps, rule } = error;
  const name = steps[0] ?? 'The name of a field';
  return { name, message: `${name} ${rule}.` };
}

/** The first member of a value, at any depth, that would be taken for the prototype of what it is copied to. */
function findPrototype(value: unknown): TextError | null {
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    if (name === '__proto__') return { steps: [], rule: 'must not have a member named __proto__' };
    const found = findPrototype(member);
    if (found !== null) return { ...found, steps: [name, ...found.steps] };
  }
  return null;
}

/** Returns the value of a flag or argument. @throws Error that names it if it cannot be stored, as REST refuses it. */
export function requireStorable<Value>(value: Value, name: string): Value {
  const error = findTextError(value) ?? findPrototype(value);
  if (error !== null) throw new Error(`${[name, ...error.steps].join('.')} ${error.rule}.`);
  return value;
}

/** The text with each NUL and each half of a surrogate pair replaced by U+FFFD. */
export function storableText(text: string): string {
  const clean = text.includes('\0') ? text.replaceAll('\0', replacement) : text;
  return loneSurrogate.test(clean) ? clean.replace(loneSurrogates, replacement) : clean;
}

/** A copy of a JSON value with all its texts, names of members included, as `storableText` makes them. */
export function storableValue<Value>(value: Value): Value {
  if (findTextError(value) === null) return value;
  return copy(value) as Value;
}

function copy(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map(copy);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [storableText(name), copy(member)]));
}

/** `JSON.stringify` of a value whose texts come from a machine. */
export function storableJson(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) => (typeof part === 'string' ? storableText(part) : part));
}

/** How JSON writes NUL and half of a pair: whole pairs are not escaped. */
const escapedText = /\\u(?:0000|d[89a-f])/i;

/**
 * The value of JSON that was stored, with texts as `storableText` makes them: versions before D54 stored them as they were typed, and
 * what reads them would pass them on to a column that cannot hold them.
 */
export function storedJson(json: string): unknown {
  const value: unknown = JSON.parse(json);
  return escapedText.test(json) ? storableValue(value) : value;
}
