import type { JsonSchema } from '#plugin-api';

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

const target = {
  provider: { type: 'string', minLength: 1, maxLength: 60, required: true },
  model: { type: 'string', minLength: 1, maxLength: 200, required: true },
} as const;
const targets = {
  type: 'array',
  maxItems: 10,
  default: [],
  items: { type: 'object', properties: target, additionalProperties: false },
} as const;

export const failoverOption = 'svc_failover';

export const failoverSchema = {
  type: 'object',
  properties: {
    enabled: { type: 'boolean', default: false },
    rest: { type: 'boolean', default: false },
    text: targets,
    images: targets,
    embeddings: {
      type: 'array',
      maxItems: 10,
      default: [],
      items: {
        type: 'object',
        properties: { ...target, dimensions: { type: 'integer', minimum: 1, maximum: 100_000, required: true } },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const noFailover: Failover = { enabled: false, rest: false, text: [], images: [], embeddings: [] };
