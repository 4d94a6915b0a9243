import { readSentFields, RestError } from '#plugin-api';

/** Names that would reach the prototype of an object. */
const forbidden = new Set(['__proto__', 'constructor', 'prototype']);
const maxDepth = 8;
const maxFields = 2_000;

interface Branch {
  readonly entries: Map<string, Branch | string>;
  /** Key of the next `[]`: one more than the highest number so far. */
  next: number;
}

/**
 * Parses a URL-encoded body as PHP does: `a[b]=1` nests, `a[]=1` appends, and the last of several equal names wins.
 * Consecutive keys from 0 become an array. Fields with a forbidden or too deeply nested name are dropped.
 *
 * @throws RestError 400 `rest_too_many_fields` above 2,000 fields.
 */
export function parseForm(body: string): Record<string, unknown> {
  return nestFields(readSentFields(body));
}

/** The same of fields that have been read already. */
export function nestFields(fields: Iterable<readonly [name: string, value: string]>): Record<string, unknown> {
  const root = newBranch();
  let count = 0;
  for (const [name, value] of fields) {
    count += 1;
    if (count > maxFields) throw tooManyFields();
    const path = parseFieldName(name);
    if (path) setValue(root, path, value);
  }
  return Object.fromEntries([...root.entries].map(([key, value]) => [key, toPlainValue(value)]));
}

function tooManyFields(): RestError {
  return new RestError({
    code: 'rest_too_many_fields',
    message: `The form has more than ${String(maxFields)} fields. Send fewer.`,
    status: 400,
  });
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

function newBranch(): Branch {
  return { entries: new Map(), next: 0 };
}

function setValue(root: Branch, path: readonly string[], value: string): void {
  let branch = root;
  for (const [index, given] of path.entries()) {
    const key = given === '' && index > 0 ? String(branch.next) : given;
    if (/^\d{1,9}$/.test(key)) branch.next = Math.max(branch.next, Number(key) + 1);
    if (index === path.length - 1) {
      branch.entries.set(key, value);
      return;
    }
    const existing = branch.entries.get(key);
    const next = typeof existing === 'object' ? existing : newBranch();
    branch.entries.set(key, next);
    branch = next;
  }
}

function toPlainValue(value: Branch | string): unknown {
  if (typeof value === 'string') return value;
  const entries = [...value.entries];
  const isList = entries.every(([key], index) => key === String(index));
  return isList
    ? entries.map(([, child]) => toPlainValue(child))
    : Object.fromEntries(entries.map(([key, child]) => [key, toPlainValue(child)]));
}

/** The fields of a parsed form by their flat names, in order: what a form needs to send it again. */
export function flattenForm(form: Readonly<Record<string, unknown>>): { name: string; value: string }[] {
  const flatten = (name: string, value: unknown): { name: string; value: string }[] =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, child]) => flatten(`${name}[${key}]`, child))
      : [{ name, value: String(value) }];
  return Object.entries(form).flatMap(([name, value]) => flatten(name, value));
}

/** A text field of a form, trimmed. Empty when it is missing or not text. */
export function textField(form: Readonly<Record<string, unknown>>, name: string): string {
  const value = form[name];
  return typeof value === 'string' ? value.trim() : '';
}
