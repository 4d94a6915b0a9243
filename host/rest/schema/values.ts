import { isRecord } from '#plugin-api';

/**
 * How WordPress reads loosely typed values: what counts as a list, an object, a number or a boolean.
 * PHP has one type for lists and maps, so a list becomes an object where one is expected, and the reverse.
 */

export type PlainObject = Record<string, unknown>;

export function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** PHP's text of a scalar: true is `1`, false is empty, floats from 1e15 on are written with an exponent. */
export function scalarText(value: string | number | boolean): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? '1' : '';
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 63) return BigInt(value).toString();
  const text = String(value);
  const exponent = text.indexOf('e');
  if (exponent < 0) return text;
  const mantissa = text.slice(0, exponent);
  return `${mantissa.includes('.') ? mantissa : `${mantissa}.0`}E${text.slice(exponent + 1)}`;
}

const listSeparators = /[ \t\n\v\f\r,]+/;

/** Items of a list written as text, separated by commas or white space; empty ones are dropped. */
export function parseList(value: unknown): string[] {
  if (isScalar(value))
    return scalarText(value)
      .split(listSeparators)
      .filter((item) => item !== '');
  if (Array.isArray(value)) return value.filter(isScalar).map(scalarText);
  return isRecord(value) ? Object.values(value).filter(isScalar).map(scalarText) : [];
}

const indexPattern = /^(?:0|-?[1-9]\d*)$/;

/** Every scalar is a list, with or without commas. An object is one if all its names are integers. */
export function isList(value: unknown): boolean {
  if (Array.isArray(value) || isScalar(value)) return true;
  return isRecord(value) && Object.keys(value).every((name) => indexPattern.test(name));
}

/** The items of a value for which `isList` holds. An array is returned without copying. */
export function toList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value as unknown[];
  if (isScalar(value)) return parseList(value);
  return isRecord(value) ? Object.values(value) : [];
}

/** Empty text counts as an empty object. */
export function isObject(value: unknown): boolean {
  return value === '' || (typeof value === 'object' && value !== null);
}

/** The members of a value for which `isObject` holds. A plain object is returned without copying. */
export function toObject(value: unknown): PlainObject {
  if (isRecord(value)) return value;
  return Array.isArray(value) ? { ...(value as unknown as PlainObject) } : {};
}

const numericPattern = /^[ \t\n\v\f\r]*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?[ \t\n\v\f\r]*$/;

/** A finite number, or the text of one: decimal, with or without exponent, white space around it allowed. */
export function isNumeric(value: unknown): value is number | string {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value === 'string' && numericPattern.test(value) && Number.isFinite(Number(value));
}

/** `4.0`, `"4.0"` and `"1e1"` are integers too. */
export function isInteger(value: unknown): boolean {
  return isNumeric(value) && Number.isInteger(Number(value));
}

const booleanTexts = new Set(['true', 'false', '1', '0']);

export function isBoolean(value: unknown): boolean {
  if (typeof value === 'boolean' || value === 0 || value === 1) return true;
  return typeof value === 'string' && booleanTexts.has(value.toLowerCase());
}

/** Follows `isBoolean`; any other text is true when it is not empty. */
export function toBoolean(value: unknown): boolean {
  if (typeof value !== 'string') return Boolean(value);
  const text = value.toLowerCase();
  return text !== 'false' && text !== '0' && text !== '';
}

/** Text that is equal for equal values, in any order of members. */
export function stableText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(stableText).join()}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? 'null';
  return `{${Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${stableText(value[name])}`)
    .join()}}`;
}

/** Whether any two items are equal, in linear time. */
export function hasDuplicates(items: readonly unknown[]): boolean {
  return new Set(items.map(stableText)).size < items.length;
}

/** `a`, `a and b`, `a, b, and c`. */
export function listSentence(items: readonly string[]): string {
  if (items.length < 3) return items.join(' and ');
  return `${items.slice(0, -1).join(', ')}, and ${String(items.at(-1))}`;
}
