import type { JsonSchema } from '#plugin-api';
import { readFields } from '../../settings/field-value.ts';
import type { Store } from './module.ts';

/** The form of a new index or collection, by the store's rules. */
export function targetSchemas({ targetName, metrics }: Store) {
  return {
    name: {
      type: 'string',
      title: 'Name',
      required: true,
      ...(targetName && {
        description: `${targetName.rule}.`,
        pattern: targetName.pattern.source,
        rule: `must have ${targetName.rule}`,
      }),
    },
    dimension: {
      type: 'integer',
      title: 'Dimension',
      description: 'Vector length of your embedding model: 1536 for text-embedding-3-small.',
      minimum: 1,
      maximum: 65_536,
      required: true,
    },
    metric: {
      type: 'string',
      title: 'Metric',
      description: 'How vectors are compared. Cosine suits most embedding models.',
      enum: metrics,
      default: metrics[0] ?? 'cosine',
    },
  } as const satisfies Record<string, JsonSchema>;
}

/** @throws RestError 400 `rest_invalid_param` with a sentence for each invalid field */
export function readTarget(store: Store, given: Readonly<Record<string, unknown>>) {
  const { name, dimension, metric = store.metrics[0] ?? 'cosine' } = readFields(targetSchemas(store), given);
  return { name, dimension, metric };
}
