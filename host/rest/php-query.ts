import type { Params } from '#plugin-api';
import { createNestedFields, nestedValues, setNestedField, type NestedFields } from '../plugin-api/nested-fields.ts';

/** Parameters of a query or form, and why they are refused. */
export interface ParsedQuery {
  readonly params: Params;
  /** Name and message of the first refused parameter, or null. */
  readonly error: { readonly name: string; readonly message: string } | null;
}

const limits = { variables: 1000, depth: 64 } as const;

/**
 * Reads `a=1&b[]=2&c[d]=3` as PHP does: `b` becomes a list, `c` an object; the last of equal names wins; spaces and dots
 * in names become `_`; `+` is a space. Malformed percent-escapes are left unchanged. Invalid UTF-8, NUL characters,
 * `__proto__`, more than 1,000 parameters and more than 64 levels are refused.
 */
export function parseQuery(text: string): ParsedQuery {
  const fields = createNestedFields();
  let error: ParsedQuery['error'] = null;
  let count = 0;
  for (const part of text.split('&')) {
    if (part === '') continue;
    count += 1;
    const equals = part.indexOf('=');
    const name = decodePart(equals < 0 ? part : part.slice(0, equals));
    const value = equals < 0 ? '' : decodePart(part.slice(equals + 1));
    const shown = name === null ? 'query' : printable(name);
    if (count > limits.variables)
      error ??= { name: shown, message: `There are more than ${limits.variables} parameters.` };
    else if (name === null || value === null) error ??= { name: shown, message: `${shown} is not valid UTF-8.` };
    else if (name.includes('\0') || value.includes('\0'))
      error ??= { name: shown, message: `${shown} must not contain NUL characters.` };
    else if (!assign(fields, name, value))
      error ??= { name: shown, message: `${shown} is not a valid parameter name.` };
    if (count > limits.variables) break;
  }
  return { params: nestedValues(fields), error };
}

function printable(name: string): string {
  return name.replaceAll('\0', '').slice(0, 100);
}

/** Null for escapes that are not UTF-8. */
function decodePart(text: string): string | null {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    try {
      return decodeURIComponent(spaced.replace(/%(?![0-9a-fA-F]{2})/g, '%25'));
    } catch {
      return null;
    }
  }
}

/** Returns false for an invalid name. Empty names are ignored. */
function assign(fields: NestedFields, name: string, value: string): boolean {
  const trimmed = name.replace(/^ +/, '');
  const bracket = trimmed.indexOf('[');
  const closed = bracket > 0 && trimmed.includes(']', bracket);
  const top = (closed ? trimmed.slice(0, bracket) : trimmed).replace(/[ .[]/g, '_');
  if (top === '' || bracket === 0) return true;
  if (top === '__proto__') return false;
  const keys = closed ? readKeys(trimmed.slice(bracket)) : [];
  if (keys.length >= limits.depth || keys.includes('__proto__')) return false;
  setNestedField(fields, [top, ...keys], value);
  return true;
}

/** `[a][][b]rest` -> `a`, ``, `b`. */
function readKeys(text: string): string[] {
  const keys: string[] = [];
  let start = 0;
  while (text.charAt(start) === '[') {
    const end = text.indexOf(']', start);
    if (end < 0) break;
    keys.push(text.slice(start + 1, end).replace(/^\s+/, ''));
    start = end + 1;
  }
  return keys;
}
