import { errors } from '../kit/errors.ts';
import type { VectorStore, VectorTarget } from '../vector-stores/vector-store.ts';

export interface DimensionQuestion {
  readonly store: Pick<VectorStore, 'id'>;
  readonly target: VectorTarget;
  /** The embedding model as it was asked for. */
  readonly model: string;
  readonly vector: readonly number[];
}

/** @throws RestError 400 `rest_svc_vector_dimension_mismatch` that names both (D5). A target that does not know its own takes any. */
export function checkDimension({ store, target, model, vector }: DimensionQuestion): void {
  const { name, dimension } = target;
  if (dimension === null || dimension === vector.length) return;
  throw errors.vector_dimension_mismatch({
    values: { target: name, expected: dimension, model, actual: vector.length },
    data: { provider: store.id, target_dimension: dimension, model_dimension: vector.length },
  });
}
