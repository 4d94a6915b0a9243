import { RestError } from '#plugin-api';
import { vectorMetrics, type VectorMetric, type VectorStore } from '../../vector-stores/vector-store.ts';

const largestDimension = 65_536;

export interface NewTarget {
  readonly name: string;
  readonly dimension: number;
  readonly metric: VectorMetric;
}

/**
 * What an administrator typed for a new index or collection, read by the store's rules.
 *
 * @throws RestError 400 `rest_invalid_param` with a sentence for each bad field (`data.params`).
 */
export function readNewTarget(
  store: VectorStore,
  typed: Readonly<Record<'name' | 'dimension' | 'metric', string>>,
): NewTarget {
  const errors: Record<string, string> = {};
  const name = typed.name.trim();
  const dimension = Number(typed.dimension.trim());
  const metric = typed.metric === '' ? store.metrics[0] : vectorMetrics.find((known) => known === typed.metric);
  if (name === '') errors['name'] = `Type a name for the ${store.targetKind}.`;
  else if (store.targetName && !store.targetName.pattern.test(name))
    errors['name'] = `A name has ${store.targetName.rule}.`;
  if (!/^\d+$/.test(typed.dimension.trim()) || dimension < 1 || dimension > largestDimension) {
    errors['dimension'] =
      'Type the length of the vectors your embedding model gives: a whole number, 1 or more, such as 1536.';
  }
  if (metric === undefined || !store.metrics.includes(metric))
    errors['metric'] = `The metric is one of ${store.metrics.join(', ')}.`;
  if (Object.keys(errors).length > 0 || metric === undefined) {
    throw new RestError({
      code: 'rest_invalid_param',
      status: 400,
      message: Object.values(errors).join(' '),
      data: { params: errors },
    });
  }
  return { name, dimension, metric };
}
