import { toBounds, conditions } from '../vector-filter.ts';
import type { VectorFilter } from '../vector-filter.ts';
import { VectorStoreError } from '../vector-store.ts';

/** Chroma's filter format: one operator of one field, or a list in `$and` or `$or`. */
export type ChromaWhere = Readonly<Record<string, unknown>>;

export function chromaWhere(filter: VectorFilter): ChromaWhere {
  if ('all' in filter) return joined('$and', conditions(filter.all).map(chromaWhere));
  if ('any' in filter) return joined('$or', conditions(filter.any).map(chromaWhere));
  const { field } = filter;
  if ('equals' in filter) return { [field]: { $eq: filter.equals } };
  if ('unequal' in filter) return { [field]: { $ne: filter.unequal } };
  // Chroma requires lists of one type that are not empty.
  if ('in' in filter)
    return joined(
      '$or',
      notEmpty(filter.in).map((value) => ({ [field]: { $eq: value } })),
    );
  if ('notIn' in filter)
    return joined(
      '$and',
      notEmpty(filter.notIn).map((value) => ({ [field]: { $ne: value } })),
    );
  if ('exists' in filter)
    throw new VectorStoreError({
      kind: 'unsupported',
      message: `it cannot filter by the existence of the field ${field}.`,
    });
  return joined(
    '$and',
    Object.entries(toBounds(filter, ['$gte', '$gt', '$lte', '$lt'])).map(([operator, bound]) => ({
      [field]: { [operator]: bound },
    })),
  );
}

/** The server refuses a list of one. */
function joined(operator: '$and' | '$or', list: readonly ChromaWhere[]): ChromaWhere {
  const [first] = list;
  return list.length === 1 && first !== undefined ? first : { [operator]: list };
}

function notEmpty<Value>(values: readonly Value[]): readonly Value[] {
  if (values.length > 0) return values;
  throw new VectorStoreError({ kind: 'unsupported', message: 'a filter by list needs at least one value.' });
}
