import { restError } from './errors.ts';
import { readSentFields } from './sent-fields.ts';

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
  return nestFields(readSentFields(sent));
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
