import type { JsonSchema } from '#plugin-api';

/** The option `svc_limits`. */
export interface Limits {
  /** Seconds one text call may take, retries included (D5). */
  readonly text_timeout: number;
  /** Seconds one request for images may take: all its calls, their retries, fetching and saving included (D5). */
  readonly images_timeout: number;
  /** Seconds one embeddings call may take, all its calls to the provider and their retries included (D5). */
  readonly embeddings_timeout: number;
  /** REST calls a minute over all nodes; 0: no limit. */
  readonly requests_per_minute: number;
  /** Days that calls are kept in the usage ledger. */
  readonly usage_days: number;
}

export const limitSchemas = {
  text_timeout: {
    type: 'integer',
    title: 'Text time limit (seconds)',
    description: 'A provider that has not answered by then is given up with 504. Retries are made within it.',
    minimum: 1,
    maximum: 600,
    default: 60,
  },
  embeddings_timeout: {
    type: 'integer',
    title: 'Embeddings time limit (seconds)',
    description: 'As above, for a call for embeddings, all its texts together.',
    minimum: 1,
    maximum: 600,
    default: 60,
  },
  images_timeout: {
    type: 'integer',
    title: 'Image time limit (seconds)',
    description:
      'For a whole request: images that are not there by then count as failed; with none at all it is given up with 504.',
    minimum: 1,
    maximum: 1800,
    default: 180,
  },
  requests_per_minute: {
    type: 'integer',
    title: 'REST calls a minute',
    description: 'For all callers together. Calls above it get 429 with Retry-After. 0 is no limit.',
    minimum: 0,
    maximum: 1_000_000,
    default: 0,
  },
  usage_days: {
    type: 'integer',
    title: 'Days to keep usage',
    description: 'Calls in the usage ledger that are older are removed once a day.',
    minimum: 1,
    maximum: 3650,
    default: 400,
  },
} as const satisfies Record<keyof Limits, JsonSchema>;
