import type { InferMembers, JsonSchema } from '#plugin-api';

/** Limits of calls and of the usage ledger. */
export const limitSchemas = {
  text_timeout: {
    type: 'integer',
    title: 'Text time limit (seconds)',
    description: 'For the beginning of the response. After this, the call fails with 504. Includes retries.',
    minimum: 1,
    maximum: 600,
    default: 60,
  },
  text_idle_timeout: {
    type: 'integer',
    title: 'Text silence limit (seconds)',
    description: 'If a response that has begun stops for so long, the call fails.',
    minimum: 1,
    maximum: 600,
    default: 60,
  },
  text_total_timeout: {
    type: 'integer',
    title: 'Text total limit (seconds)',
    description: 'For the whole call, however long its text is. Never less than the text time limit.',
    minimum: 1,
    maximum: 3600,
    default: 600,
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
} as const satisfies Record<string, JsonSchema>;

/** The option `svc_limits`. Time limits are in seconds and include retries (D5); 0 calls per minute: no limit. */
export type Limits = InferMembers<typeof limitSchemas>;
