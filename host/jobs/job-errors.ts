import { asRecord } from '#plugin-api';

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
  const { status, message, headers, retryable } = asRecord(error);
  const text = typeof message === 'string' && message !== '' ? message : String(error);
  const isRefusal = typeof status === 'number' && status >= 400 && status < 500 && !temporary.includes(status);
  return {
    message: text.slice(0, longestMessage),
    isRetryable: typeof retryable === 'boolean' ? retryable : !isRefusal,
    wait: retryAfter(headers),
  };
}

function retryAfter(headers: unknown): number {
  const seconds = Number(
    Object.entries(asRecord(headers)).find(([name]) => name.toLowerCase() === 'retry-after')?.[1] ?? 0,
  );
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(longestWait, seconds * 1000) : 0;
}
