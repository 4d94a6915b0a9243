import { RestError } from '#plugin-api';
import type { Store } from './module.ts';

const maxDimension = 65_536;

export interface NewTarget {
  readonly name: string;
  readonly dimension: number;
  readonly metric: Store['metrics'][number];
}

/**
 * Reads a form for a new index or collection by the store's rules.
 *
 * @throws RestError 400 `rest_invalid_param` with a sentence for each invalid field (`data.params`).
 */
export function readNewTarget(
  store: Store,
  typed: Readonly<Record<'name' | 'dimension' | 'metric', string>>,
): NewTarget {
  const errors: Record<string, string> = {};
  const name = typed.name.trim();
  const dimension = Number(typed.dimension.trim());
  const metric = typed.metric === '' ? store.metrics[0] : store.metrics.find((known) => known === typed.metric);
  if (name === '') errors['name'] = `Enter a name for the ${store.targetKind}.`;
  else if (store.targetName && !store.targetName.pattern.test(name))
    errors['name'] = `Use only ${store.targetName.rule}.`;
  if (!/^\d+$/.test(typed.dimension.trim()) || dimension < 1 || dimension > maxDimension) {
    errors['dimension'] = 'Enter the vector length of your embedding model, a whole number such as 1536.';
  }
  if (metric === undefined) errors['metric'] = `Choose one of ${store.metrics.join(', ')}.`;
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
