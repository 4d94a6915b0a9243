import { foldText } from '../kit/fold-text.ts';

/** Creates a unique id from a name: `Contact us` -> `contact-us`, `contact-us-2`. */
export function uniqueId(name: string, existing: readonly string[], fallback: string): string {
  const base =
    foldText(name)
      .replaceAll('ß', 'ss')
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 50) || fallback;
  for (let count = 1; ; count += 1) {
    const id = count === 1 ? base : `${base}-${String(count)}`;
    if (!existing.includes(id)) return id;
  }
}

/** Returns the list with an item at another index; unchanged if an index is out of range. */
export function moveItem<Item>(items: readonly Item[], from: number, to: number): Item[] {
  const list = [...items];
  if ([from, to].some((index) => index < 0 || index >= list.length)) return list;
  list.splice(to, 0, ...list.splice(from, 1));
  return list;
}

/** Parses the value of a button in a list: `up:3` is `{verb: 'up', at: 3}`, `move:3:0` also has `to: 0`. */
export function readEdit(typed: unknown): { readonly verb: string; readonly at: number; readonly to: number } {
  const text = typeof typed === 'string' ? typed : '';
  const [, verb = '', at = '-1', to = '-1'] = /^([a-z-]+)(?::(\d{1,5}))?(?::(\d{1,5}))?$/.exec(text) ?? [];
  return { verb, at: Number(at), to: Number(to) };
}
