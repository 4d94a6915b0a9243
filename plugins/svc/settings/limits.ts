import type { JsonSchema } from '#plugin-api';

/** The option `svc_limits`. */
export interface Limits {
  /** Seconds one text call may take, retries included (D5). */
  readonly text_timeout: number;
  /** REST calls a minute over all nodes; 0: no limit. */
  readonly requests_per_minute: number;
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
  requests_per_minute: {
    type: 'integer',
    title: 'REST calls a minute',
    description: 'For all callers together. Calls above it get 429 with Retry-After. 0 is no limit.',
    minimum: 0,
    maximum: 1_000_000,
    default: 0,
  },
} as const satisfies Record<keyof Limits, JsonSchema>;
