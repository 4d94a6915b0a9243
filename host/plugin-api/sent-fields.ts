import { isUtf8 } from 'node:buffer';
import { restError } from './errors.ts';
import { decodeUtf8 } from './stored-text.ts';

/**
 * Decodes `%` escapes, and `+` as a space if `spaces` says so. Incomplete escapes stay as they are. It works on bytes: replacing
 * a million signs of a text one by one takes a hundred times as long (D46).
 *
 * @returns null for bytes that are not UTF-8
 */
export function decodeEscapes(text: string, spaces = false): string | null {
  if (!text.includes('%') && !(spaces && text.includes('+'))) return text;
  const bytes = unescapedBytes(text, spaces);
  return isUtf8(bytes) ? bytes.toString() : null;
}

function unescapedBytes(text: string, spaces: boolean): Buffer {
  const bytes = Buffer.from(text);
  let length = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0;
    const escaped = byte === percent ? escapedByte(bytes[index + 1], bytes[index + 2]) : -1;
    if (escaped >= 0) index += 2;
    bytes[length] = escaped >= 0 ? escaped : byte === plus && spaces ? space : byte;
    length += 1;
  }
  return bytes.subarray(0, length);
}

const [percent, plus, space] = [0x25, 0x2b, 0x20];

/** -1 without two hexadecimal digits. */
function escapedByte(first?: number, second?: number): number {
  const [high, low] = [hexDigit(first), hexDigit(second)];
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

function hexDigit(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/**
 * The fields of a query or of a URL-encoded body, as `URLSearchParams` reads them, but for bytes that are not UTF-8: these are
 * marked, so that the border for text refuses the field (D54).
 */
export function readSentFields(encoded: string | Uint8Array): [name: string, value: string][] {
  return [...sentFields(typeof encoded === 'string' ? encoded : readBytes(encoded))];
}

function* sentFields(text: string): Generator<[name: string, value: string]> {
  for (const part of sentParts(text.startsWith('?') ? text.slice(1) : text)) {
    const equals = part.indexOf('=');
    const [name, value] = equals < 0 ? [part, ''] : [part.slice(0, equals), part.slice(equals + 1)];
    yield [decodePart(name), decodePart(value)];
  }
}

/**
 * The parts of a query or a URL-encoded body between `&`, one after the other: a list of a million of them would be made before
 * the first one is counted (D46).
 */
export function* sentParts(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    const found = text.indexOf('&', start);
    const end = found < 0 ? text.length : found;
    if (end > start) yield text.slice(start, end);
    start = end + 1;
  }
}

/** The text of a URL-encoded body. Bytes that are not UTF-8 are escaped. */
export function readBytes(body: Uint8Array): string {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (isUtf8(bytes)) return bytes.toString();
  const escaped = Buffer.alloc(bytes.length * 3);
  let length = 0;
  for (const byte of bytes) {
    escaped[length] = byte < 0x80 ? byte : percent;
    length += 1;
    if (byte < 0x80) continue;
    escaped[length] = hexDigits[byte >> 4] ?? 0;
    escaped[length + 1] = hexDigits[byte & 15] ?? 0;
    length += 2;
  }
  return escaped.toString('latin1', 0, length);
}

const hexDigits = Buffer.from('0123456789abcdef');

function decodePart(text: string): string {
  return decodeUtf8(unescapedBytes(text, true));
}

/** Reads the fields of a multipart form that `busboy` parses with the charset `latin1`, which loses no byte. */
export interface MultipartFields {
  /** Notes a piece of the body, before its fields are read. */
  see(chunk: Uint8Array): void;
  /** The text of a value, marked where it is not UTF-8, so that the border for text refuses it (D54). */
  read(value: string): string;
}

/** Fields whose part names a charset are decoded by `busboy`, so what is no UTF-8 then may be right. */
export function createMultipartFields(): MultipartFields {
  let namesCharset = false;
  return {
    see(chunk) {
      namesCharset ||= Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).includes('charset=');
    },
    read(value) {
      if (/[^\x00-\xff]/.test(value)) return value;
      const bytes = Buffer.from(value, 'latin1');
      return namesCharset && !isUtf8(bytes) ? value : decodeUtf8(bytes);
    },
  };
}

/** Fields of a form or query as PHP nests them: keys in order, and the next free index. */
export interface NestedFields {
  readonly members: Map<string, string | NestedFields>;
  next: number;
}

export function createNestedFields(): NestedFields {
  return { members: new Map(), next: 0 };
}

/** Sets `top[key][key]`; the key '' appends. Of equal names the last wins. */
export function setNestedField(fields: NestedFields, [top = '', ...keys]: readonly string[], value: string): void {
  let node = fields;
  let name = top;
  for (const key of keys) {
    const present = node.members.get(name);
    const child = typeof present === 'object' ? present : createNestedFields();
    setMember(node, name, child);
    node = child;
    name = key === '' ? String(node.next) : key;
  }
  setMember(node, name, value);
}

function setMember(node: NestedFields, name: string, value: string | NestedFields): void {
  node.members.set(name, value);
  if (/^(?:0|[1-9]\d{0,14})$/.test(name)) node.next = Math.max(node.next, Number(name) + 1);
}

/** The fields as an object. Below it, keys that count from 0 are a list. */
export function nestedValues({ members }: NestedFields): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, member] of members) values[name] = typeof member === 'string' ? member : nestedValue(member);
  return values;
}

function nestedValue(node: NestedFields): unknown {
  const isList = [...node.members.keys()].every((key, index) => key === String(index));
  const values = nestedValues(node);
  return isList ? Object.values(values) : values;
}

/** Names that would reach the prototype of an object. */
const forbidden = new Set(['__proto__', 'constructor', 'prototype']);
const maxDepth = 8;
const maxFields = 2_000;

/**
 * Parses the query or the URL-encoded body of a page as PHP does: `a[b]=1` nests, `a[]=1` appends, and the last of several equal
 * names wins. Consecutive keys from 0 become an array. Fields with a forbidden or too deeply nested name are dropped.
 *
 * @throws RestError 400 `rest_too_many_fields` above 2,000 fields.
 */
export function parseForm(sent: string): Record<string, unknown> {
  return nestFields(sentFields(sent));
}

/** The same of fields that have been read already. */
export function nestFields(fields: Iterable<readonly [name: string, value: string]>): Record<string, unknown> {
  const nested = createNestedFields();
  let count = 0;
  for (const [name, value] of fields) {
    count += 1;
    if (count > maxFields)
      throw restError(400, 'rest_too_many_fields', `The form has more than ${String(maxFields)} fields. Send fewer.`);
    const path = parseFieldName(name);
    if (path) setNestedField(nested, path, value);
  }
  return nestedValues(nested);
}

/** `a[b][]` -> `['a', 'b', '']`; null when the name is not allowed. */
function parseFieldName(name: string): string[] | null {
  const bracket = name.indexOf('[');
  const head = bracket > 0 ? name.slice(0, bracket) : name;
  const tail = bracket > 0 ? name.slice(bracket) : '';
  const keys = [...tail.matchAll(/\[([^[\]]*)\]/g)];
  const whole = keys.map((key) => key[0]).join('') === tail;
  const path = whole ? [head, ...keys.map((key) => key[1] ?? '')] : [name];
  return head === '' || path.length > maxDepth || path.some((key) => forbidden.has(key)) ? null : path;
}
