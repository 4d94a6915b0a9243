import {
  createNestedFields,
  decodeEscapes,
  nestedValues,
  sentParts,
  setNestedField,
  textError,
  type NestedFields,
  type Params,
} from '#plugin-api';

/** Parameters of a query or form, and why they are refused. */
export interface ParsedQuery {
  readonly params: Params;
  /** Name and message of the first refused parameter, or null. */
  readonly error: { readonly name: string; readonly message: string } | null;
}

/** At most (D46). Characters of a name, which is read several times. */
const limits = { variables: 1000, depth: 64, name: 2_000 } as const;

/**
 * Reads `a=1&b[]=2&c[d]=3` as PHP does: `b` becomes a list, `c` an object; the last of equal names wins; spaces and dots
 * in names become `_`; `+` is a space. Malformed percent-escapes are left unchanged. Invalid UTF-8, NUL characters,
 * `__proto__`, more than 1,000 parameters, more than 64 levels and names above 2,000 characters are refused.
 */
export function parseQuery(text: string): ParsedQuery {
  if (text === '') return { params: {}, error: null };
  const fields = createNestedFields();
  let error: ParsedQuery['error'] = null;
  let count = 0;
  for (const part of sentParts(text)) {
    count += 1;
    const equals = part.indexOf('=');
    const written = equals < 0 ? part : part.slice(0, equals);
    if (written.length > limits.name) return { params: nestedValues(fields), error: tooLongName(written) };
    const name = decodePart(written);
    const value = equals < 0 ? '' : decodePart(part.slice(equals + 1));
    const shown = name === null ? 'query' : printable(name);
    const unstorable = name === null || value === null ? null : textError(shown, name + value);
    if (count > limits.variables)
      error ??= { name: shown, message: `There are more than ${limits.variables} parameters.` };
    else if (name === null || value === null) error ??= { name: shown, message: `${shown} is not valid UTF-8.` };
    else if (unstorable !== null) error ??= { name: shown, message: unstorable };
    else if (!assign(fields, name, value))
      error ??= { name: shown, message: `${shown} is not a valid parameter name.` };
    if (count > limits.variables) break;
  }
  return { params: nestedValues(fields), error };
}

function tooLongName(written: string): ParsedQuery['error'] {
  const most = limits.name.toLocaleString('en-US');
  const hint = /^\s*[[{]/.test(written) ? ' To send JSON, add the header Content-Type: application/json.' : '';
  return { name: printable(written), message: `A parameter’s name has more than ${most} characters.${hint}` };
}

function printable(name: string): string {
  return name.replaceAll('\0', '').slice(0, 100);
}

/** Null for escapes that are not UTF-8. */
function decodePart(text: string): string | null {
  return decodeEscapes(text, true);
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
