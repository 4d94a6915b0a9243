import type { JsonSchema } from '#plugin-api';

/** The option `svc_limits`. */
export interface Limits {
  /** Time limit of a text call in seconds, including retries (D5). */
  readonly text_timeout: number;
  /** Time limit of an image request in seconds: all calls, retries, downloads and saving (D5). */
  readonly images_timeout: number;
  /** Time limit of an embeddings call in seconds: all calls to the provider and their retries (D5). */
  readonly embeddings_timeout: number;
  /** REST calls per minute, counted over all nodes; 0: no limit. */
  readonly requests_per_minute: number;
  /** Days that the usage ledger keeps its records. */
  readonly usage_days: number;
}

export const limitSchemas = {
  text_timeout: {
    type: 'integer',
    title: 'Text time limit (seconds)',
    description: 'After this, the call fails with 504. Includes retries.',
    minimum: 1,
    maximum: 600,
    default: 60,
  },
  embeddings_timeout: {
    type: 'integer',
    title: 'Embeddings time limit (seconds)',
    description: 'After this, a call for embeddings fails with 504. Includes all its texts and retries.',
    minimum: 1,
    maximum: 600,
    default: 60,
  },
  images_timeout: {
    type: 'integer',
    title: 'Image time limit (seconds)',
    description:
      'For the whole request. Images that are missing by then count as failed. With no image at all, the request fails with 504.',
    minimum: 1,
    maximum: 1800,
    default: 180,
  },
  requests_per_minute: {
    type: 'integer',
    title: 'REST calls per minute',
    description: 'For all callers together. Extra calls get 429 with Retry-After. 0 means no limit.',
    minimum: 0,
    maximum: 1_000_000,
    default: 0,
  },
  usage_days: {
    type: 'integer',
    title: 'Keep usage records for (days)',
    description: 'Older records are deleted from the usage ledger once a day.',
    minimum: 1,
    maximum: 3650,
    default: 400,
  },
} as const satisfies Record<keyof Limits, JsonSchema>;
