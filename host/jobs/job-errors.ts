import { asRecord, readRetryAfter } from '#plugin-api';

/** An error of an attempt, with the decision whether to retry. */
export interface JobFailure {
  /** A sentence for people. */
  readonly message: string;
  readonly isRetryable: boolean;
  /** `Retry-After` in milliseconds, 0 without one. */
  readonly wait: number;
}

/** Statuses below 500 that may succeed later: request timeout, too early, too many requests. */
const temporary: readonly unknown[] = [408, 425, 429];
/** Most milliseconds of a `Retry-After`. */
const longestWait = 86_400_000;
const longestMessage = 2_000;

export function toJobFailure(error: unknown): JobFailure {
  const { status, message, retryable } = asRecord(error);
  const text = typeof message === 'string' && message !== '' ? message : String(error);
  const isRefusal = typeof status === 'number' && status >= 400 && status < 500 && !temporary.includes(status);
  return {
    message: text.slice(0, longestMessage),
    isRetryable: typeof retryable === 'boolean' ? retryable : !isRefusal,
    wait: Math.min(longestWait, (readRetryAfter(error) ?? 0) * 1000),
  };
}
