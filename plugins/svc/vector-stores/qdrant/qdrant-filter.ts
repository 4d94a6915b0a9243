import { boundsOf, conditions } from '../filter-tools.ts';
import type { FilterValue, VectorFilter } from '../vector-filter.ts';

/** A condition, or a group of them, in Qdrant's words. */
export type QdrantFilter = Readonly<Record<string, unknown>>;

/** `{must: [...]}`, as filters of requests are. */
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
  return { key, range: boundsOf(filter, ['gte', 'gt', 'lte', 'lt']) };
}

/** Dots and brackets lead into nested values, unless the name is quoted. */
function keyOf(field: string): string {
  return /^[\w-]+$/.test(field) ? field : `"${field.replaceAll('"', '\\"')}"`;
}

/** Qdrant matches texts, integers and booleans; another number is a range of its own. */
function equals(key: string, value: FilterValue): QdrantFilter {
  const isFraction = typeof value === 'number' && !Number.isSafeInteger(value);
  return isFraction ? { key, range: { gte: value, lte: value } } : { key, match: { value } };
}

/** A list of all texts or all integers is one condition; of none, one that no point meets. */
function oneOf(key: string, values: readonly FilterValue[]): QdrantFilter {
  const alike =
    values.every((value) => typeof value === 'string') || values.every((value) => Number.isSafeInteger(value));
  return alike ? { key, match: { any: values } } : { should: values.map((value) => equals(key, value)) };
}
