import type { JsonSchema } from '#plugin-api';
import type { Capability } from '../../ai/capable-provider.ts';

/** A model to try when another provider fails. */
export interface FailoverTarget {
  /** Id of a provider. */
  readonly provider: string;
  readonly model: string;
}

/** A model whose vectors have so many dimensions. Vectors of two models do not compare: list one model at several providers. */
export interface EmbeddingTarget extends FailoverTarget {
  readonly dimensions: number;
}

export interface Failover {
  readonly enabled: boolean;
  /** Whether REST calls, which choose their provider, fall back too. */
  readonly rest: boolean;
  /** Tried in this order. */
  readonly text: readonly FailoverTarget[];
  readonly images: readonly FailoverTarget[];
  readonly embeddings: readonly EmbeddingTarget[];
}

/** Entries of a list at most. */
export const maxTargets = 10;

/** One entry of a list. */
export function targetSchema(use: Capability): JsonSchema {
  const properties: Record<string, JsonSchema> = {
    provider: { type: 'string', title: 'Provider', minLength: 1, maxLength: 60 },
    model: { type: 'string', title: 'Model', minLength: 1, maxLength: 200, ui: { mono: true } },
    ...(use === 'embeddings' && {
      dimensions: {
        type: 'integer',
        title: 'Dimensions',
        minimum: 1,
        maximum: 100_000,
        examples: [1536],
        ui: { short: true },
      },
    }),
  };
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

const listOf = (use: Capability): JsonSchema => ({
  type: 'array',
  maxItems: maxTargets,
  default: [],
  items: targetSchema(use),
});
const lists = { text: listOf('text'), images: listOf('images'), embeddings: listOf('embeddings') };

/** What `svc failover set` takes. */
export const listsSchema: JsonSchema = { type: 'object', properties: lists, additionalProperties: false };

export const failoverOption = 'svc_failover';

export const failoverSchema: JsonSchema = {
  type: 'object',
  properties: {
    enabled: { type: 'boolean', default: false },
    rest: { type: 'boolean', default: false },
    ...lists,
  },
  additionalProperties: false,
};

export const noFailover: Failover = { enabled: false, rest: false, text: [], images: [], embeddings: [] };
