import type { EmbeddingRequest } from '../provider.ts';

/** What a caller may choose, beside model and input (contract 4.4). */
export type EmbeddingField = 'dimensions' | 'encodingFormat' | 'taskType' | 'outputDimensionality' | 'user';

/** The names callers know the fields by, in the order of the contract. */
const callersNames: Readonly<Record<EmbeddingField, string>> = {
  dimensions: 'dimensions',
  encodingFormat: 'encoding_format',
  taskType: 'task_type',
  outputDimensionality: 'output_dimensionality',
  user: 'user',
};

export interface SortedFields {
  /** Those that were given and that the far end takes. */
  readonly taken: Readonly<Partial<Pick<EmbeddingRequest, EmbeddingField>>>;
  /** Names of the others that were given, for `X-SVC-Ignored-Params` (D8). */
  readonly ignored: readonly string[];
}

/** Floats are what every far end answers unless told otherwise, so that asking for them is never in vain. */
export function sortFields(request: EmbeddingRequest, takes: readonly EmbeddingField[]): SortedFields {
  const given = (Object.keys(callersNames) as EmbeddingField[]).filter((field) => request[field] !== undefined);
  return {
    taken: Object.fromEntries(given.filter((field) => takes.includes(field)).map((field) => [field, request[field]])),
    ignored: given
      .filter((field) => !takes.includes(field) && request[field] !== 'float')
      .map((field) => callersNames[field]),
  };
}
