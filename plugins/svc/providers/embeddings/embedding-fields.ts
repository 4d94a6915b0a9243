import type { EmbeddingRequest } from '../provider.ts';

/** Optional fields of a request (contract 4.4). */
export type EmbeddingField = 'dimensions' | 'encodingFormat' | 'taskType' | 'outputDimensionality' | 'user';

/** Public names of the fields, in the order of the contract. */
const publicNames: Readonly<Record<EmbeddingField, string>> = {
  dimensions: 'dimensions',
  encodingFormat: 'encoding_format',
  taskType: 'task_type',
  outputDimensionality: 'output_dimensionality',
  user: 'user',
};

export interface SplitFields {
  /** Fields of the request that the upstream supports. */
  readonly supported: Readonly<Partial<Pick<EmbeddingRequest, EmbeddingField>>>;
  /** Names of the other fields of the request, for `X-SVC-Ignored-Params` (D8). */
  readonly ignored: readonly string[];
}

/** Splits the fields by support. Every upstream returns floats by default, so `float` is never reported as ignored. */
export function splitFields(request: EmbeddingRequest, supports: readonly EmbeddingField[]): SplitFields {
  const given = (Object.keys(publicNames) as EmbeddingField[]).filter((field) => request[field] !== undefined);
  return {
    supported: Object.fromEntries(
      given.filter((field) => supports.includes(field)).map((field) => [field, request[field]]),
    ),
    ignored: given
      .filter((field) => !supports.includes(field) && request[field] !== 'float')
      .map((field) => publicNames[field]),
  };
}
