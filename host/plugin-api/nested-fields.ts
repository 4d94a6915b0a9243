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
  let name = top;
  let node = fields;
  for (const key of keys) {
    const present = node.members.get(name);
    const child = typeof present === 'object' ? present : createNestedFields();
    set(node, name, child);
    node = child;
    name = key === '' ? String(node.next) : key;
  }
  set(node, name, value);
}

function set(node: NestedFields, name: string, value: string | NestedFields): void {
  node.members.set(name, value);
  if (/^(?:0|[1-9]\d{0,14})$/.test(name)) node.next = Math.max(node.next, Number(name) + 1);
}

/** The fields as an object. Below it, keys that count from 0 become a list. */
export function nestedValues({ members }: NestedFields): Record<string, unknown> {
  return Object.fromEntries([...members].map(([name, member]) => [name, valueOf(member)]));
}

function valueOf(member: string | NestedFields): unknown {
  if (typeof member === 'string') return member;
  const isList = [...member.members.keys()].every((key, index) => key === String(index));
  return isList ? [...member.members.values()].map(valueOf) : nestedValues(member);
}
