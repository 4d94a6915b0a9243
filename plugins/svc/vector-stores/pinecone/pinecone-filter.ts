import { boundsOf, conditions } from '../filter-tools.ts';
import type { VectorFilter } from '../vector-filter.ts';

/** A filter in Pinecone's words, MongoDB's. */
export type PineconeFilter = Readonly<Record<string, unknown>>;

export function pineconeFilter(filter: VectorFilter): PineconeFilter {
  if ('all' in filter) return { $and: conditions(filter.all).map(pineconeFilter) };
  if ('any' in filter) return { $or: conditions(filter.any).map(pineconeFilter) };
  const { field } = filter;
  if ('equals' in filter) return { [field]: { $eq: filter.equals } };
  if ('unequal' in filter) return missingOr(field, { [field]: { $ne: filter.unequal } });
  if ('in' in filter) return { [field]: { $in: filter.in } };
  if ('notIn' in filter) return missingOr(field, { [field]: { $nin: filter.notIn } });
  if ('exists' in filter) return { [field]: { $exists: filter.exists } };
  return { [field]: boundsOf(filter, ['$gte', '$gt', '$lte', '$lt']) };
}

/** A field that a vector does not have is unequal to everything, which Pinecone does not promise. */
function missingOr(field: string, filter: PineconeFilter): PineconeFilter {
  return { $or: [filter, { [field]: { $exists: false } }] };
}
