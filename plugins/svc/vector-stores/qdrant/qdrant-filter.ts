import { toBounds, conditions } from '../vector-filter.ts';
import type { FilterValue, VectorFilter } from '../vector-filter.ts';

/** A condition or a group of conditions in Qdrant's format. */
export type QdrantFilter = Readonly<Record<string, unknown>>;

/** The filter of a request, `{must: [...]}`. */
export function qdrantFilter(filter: VectorFilter): QdrantFilter {
  return { must: [condition(filter)] };
}

function condition(filter: VectorFilter): QdrantFilter {
  if ('all' in filter) return { must: conditions(filter.all).map(condition) };
  if ('any' in filter) return { should: conditions(filter.any).map(condition) };
  const key = keyOf(filter.field);
  if ('equals' in filter) return equals(key, filter.equals);
  if ('unequal' in filter) return { must_not: [equals(key, filter.unequal)] };
  if ('in' in filter) return oneOf(key, filter.in);
  if ('notIn' in filter) return { must_not: [oneOf(key, filter.notIn)] };
  if ('exists' in filter) return filter.exists ? { must_not: [{ is_empty: { key } }] } : { is_empty: { key } };
  return { key, range: toBounds(filter, ['gte', 'gt', 'lte', 'lt']) };
}

/** A quoted name: dots and brackets would otherwise select nested values. */
function keyOf(field: string): string {
  return /^[\w-]+$/.test(field) ? field : `"${field.replaceAll('"', '\\"')}"`;
}

/** Qdrant matches texts, integers and booleans; other numbers need a range. */
function equals(key: string, value: FilterValue): QdrantFilter {
  const isFraction = typeof value === 'number' && !Number.isSafeInteger(value);
  return isFraction ? { key, range: { gte: value, lte: value } } : { key, match: { value } };
}

/** One condition for a list of texts or integers; for an empty list, a condition that matches nothing. */
function oneOf(key: string, values: readonly FilterValue[]): QdrantFilter {
  const alike =
    values.every((value) => typeof value === 'string') || values.every((value) => Number.isSafeInteger(value));
  return alike ? { key, match: { any: values } } : { should: values.map((value) => equals(key, value)) };
}
