import { VectorStoreError } from './vector-store.ts';

export type FilterValue = string | number | boolean;

/**
 * A filter by metadata for all stores; each store maps it to its own format. A missing field is unequal to every value, in no
 * list, and in no range. Chroma does not support `exists` and throws an error for it.
 */
export type VectorFilter =
  | { readonly all: readonly VectorFilter[] }
  | { readonly any: readonly VectorFilter[] }
  | { readonly field: string; readonly equals: FilterValue }
  | { readonly field: string; readonly unequal: FilterValue }
  | { readonly field: string; readonly in: readonly FilterValue[] }
  | { readonly field: string; readonly notIn: readonly FilterValue[] }
  | { readonly field: string; readonly exists: boolean }
  /** A range of numbers; all given bounds apply. `from` and `to` are inclusive. */
  | {
      readonly field: string;
      readonly from?: number;
      readonly above?: number;
      readonly to?: number;
      readonly below?: number;
    };

type RangeFilter = Extract<VectorFilter, { readonly from?: number }>;

/**
 * A list of conditions. Refuses an empty one, which would otherwise match, and delete, everything.
 */
export function conditions(list: readonly VectorFilter[]): readonly VectorFilter[] {
  if (list.length > 0) return list;
  throw new VectorStoreError({ kind: 'unsupported', message: 'a filter needs at least one condition.' });
}

/** The bounds of a range by the store's names. */
export function toBounds(
  { from, above, to, below }: RangeFilter,
  names: readonly [from: string, above: string, to: string, below: string],
): Record<string, number> {
  const given = [from, above, to, below].map((bound, index) => [names[index] ?? '', bound] as const);
  const bounds = given.filter((pair): pair is readonly [string, number] => pair[1] !== undefined);
  if (bounds.length > 0) return Object.fromEntries(bounds);
  throw new VectorStoreError({ kind: 'unsupported', message: 'a filter by range needs at least one bound.' });
}

/** For stores whose filters are evaluated late. @throws VectorStoreError for an empty list of conditions or a range without bounds */
export function checkFilter(filter: VectorFilter): void {
  if ('all' in filter) conditions(filter.all).forEach(checkFilter);
  else if ('any' in filter) conditions(filter.any).forEach(checkFilter);
  else if (['equals', 'unequal', 'in', 'notIn', 'exists'].every((name) => !(name in filter)))
    toBounds(filter as RangeFilter, ['from', 'above', 'to', 'below']);
}
