import type { VectorFilter } from './vector-filter.ts';
import { VectorStoreError } from './vector-store.ts';

export type RangeFilter = Extract<VectorFilter, { readonly from?: number }>;

/**
 * A list of conditions that is not empty. An empty one is refused rather than taken for "everything": it would delete
 * everything.
 */
export function conditions(list: readonly VectorFilter[]): readonly VectorFilter[] {
  if (list.length > 0) return list;
  throw new VectorStoreError({ kind: 'unsupported', message: 'a filter needs at least one condition.' });
}

/** The bounds of a range under the store's names for them. */
export function boundsOf(
  { from, above, to, below }: RangeFilter,
  names: readonly [from: string, above: string, to: string, below: string],
): Record<string, number> {
  const given = [from, above, to, below].map((bound, place) => [names[place] ?? '', bound] as const);
  const bounds = given.filter((pair): pair is readonly [string, number] => pair[1] !== undefined);
  if (bounds.length > 0) return Object.fromEntries(bounds);
  throw new VectorStoreError({ kind: 'unsupported', message: 'a filter by range needs at least one bound.' });
}
