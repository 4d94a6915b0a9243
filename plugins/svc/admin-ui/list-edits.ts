import { foldText } from '../kit/fold-text.ts';

/** An id made of a name that none of the others has: `Contact us` -> `contact-us`, `contact-us-2`. */
export function uniqueId(name: string, taken: readonly string[], fallback: string): string {
  const base =
    foldText(name)
      .replaceAll('ß', 'ss')
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 50) || fallback;
  for (let count = 1; ; count += 1) {
    const id = count === 1 ? base : `${base}-${String(count)}`;
    if (!taken.includes(id)) return id;
  }
}

/** The list with the item at another place; unchanged where there is no such place. */
export function moveItem<Item>(items: readonly Item[], from: number, to: number): Item[] {
  const list = [...items];
  if (to < 0 || to >= list.length) return list;
  list.splice(to, 0, ...list.splice(from, 1));
  return list;
}

/** What a button of a list asks for: `up:3` is `{verb: 'up', at: 3}`. */
export function readEdit(typed: unknown): { readonly verb: string; readonly at: number } {
  const [, verb = '', at = '-1'] = /^([a-z-]+)(?::(\d{1,5}))?$/.exec(typeof typed === 'string' ? typed : '') ?? [];
  return { verb, at: Number(at) };
}
