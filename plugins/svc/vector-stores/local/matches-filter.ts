import type { FilterValue, VectorFilter } from '../vector-filter.ts';
import type { VectorMetadata } from '../vector-store.ts';

/** Whether metadata meets a filter. A list meets what one of its items meets; null counts as missing. */
export function matchesFilter(metadata: VectorMetadata, filter: VectorFilter): boolean {
  if ('all' in filter) return filter.all.every((each) => matchesFilter(metadata, each));
  if ('any' in filter) return filter.any.some((each) => matchesFilter(metadata, each));
  const value = Object.hasOwn(metadata, filter.field) ? (metadata[filter.field] ?? null) : null;
  const items: readonly unknown[] = value === null ? [] : Array.isArray(value) ? value : [value];
  const isIn = (wanted: readonly FilterValue[]): boolean => items.some((item) => wanted.includes(item as FilterValue));
  if ('equals' in filter) return isIn([filter.equals]);
  if ('unequal' in filter) return !isIn([filter.unequal]);
  if ('in' in filter) return isIn(filter.in);
  if ('notIn' in filter) return !isIn(filter.notIn);
  if ('exists' in filter) return (value !== null) === filter.exists;
  const { from = -Infinity, above = -Infinity, to = Infinity, below = Infinity } = filter;
  return items.some((item) => typeof item === 'number' && item >= from && item > above && item <= to && item < below);
}
