/** Names that would reach an object's prototype; PHP knows no such trap, JavaScript does. */
const forbidden = new Set(['__proto__', 'constructor', 'prototype']);
const deepest = 8;
const mostFields = 2_000;

interface Branch {
  readonly entries: Map<string, Branch | string>;
  /** Key of the next `[]`: one above the highest number so far. */
  next: number;
}

/**
 * Reads an urlencoded body as PHP does: `a[b]=1` nests, `a[]=1` appends, of a name given twice the last one counts.
 * Consecutive keys from 0 become an array. Fields with a forbidden or too deep name are dropped.
 *
 * @throws Error above 2,000 fields.
 */
export function parseForm(body: string): Record<string, unknown> {
  const root = newBranch();
  let count = 0;
  for (const [name, value] of new URLSearchParams(body)) {
    count += 1;
    if (count > mostFields) throw new Error(`The form has more than ${String(mostFields)} fields.`);
    const path = pathOf(name);
    if (path) put(root, path, value);
  }
  return Object.fromEntries([...root.entries].map(([key, value]) => [key, plain(value)]));
}

/** `a[b][]` -> `['a', 'b', '']`; null when the name is not taken. */
function pathOf(name: string): string[] | null {
  const bracket = name.indexOf('[');
  const head = bracket > 0 ? name.slice(0, bracket) : name;
  const tail = bracket > 0 ? name.slice(bracket) : '';
  const keys = [...tail.matchAll(/\[([^[\]]*)\]/g)];
  const whole = keys.map((key) => key[0]).join('') === tail;
  const path = whole ? [head, ...keys.map((key) => key[1] ?? '')] : [name];
  return head === '' || path.length > deepest || path.some((key) => forbidden.has(key)) ? null : path;
}

function newBranch(): Branch {
  return { entries: new Map(), next: 0 };
}

function put(root: Branch, path: readonly string[], value: string): void {
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

function plain(value: Branch | string): unknown {
  if (typeof value === 'string') return value;
  const entries = [...value.entries];
  const isList = entries.every(([key], index) => key === String(index));
  return isList
    ? entries.map(([, child]) => plain(child))
    : Object.fromEntries(entries.map(([key, child]) => [key, plain(child)]));
}

/** A text field of a form, trimmed; empty when it is missing or no text. */
export function textField(form: Readonly<Record<string, unknown>>, name: string): string {
  const value = form[name];
  return typeof value === 'string' ? value.trim() : '';
}
