import type { AdminActionResult } from '#plugin-api';

/** What an action returned, or the error it threw. */
export interface Outcome {
  readonly result: AdminActionResult;
  readonly status: number;
  /** Code of the error. */
  readonly code?: string;
  readonly data?: unknown;
}
