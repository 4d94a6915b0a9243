import { asRecord, readRetryAfter, type Logger } from '#plugin-api';

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

/** Logs the end of a job. An error that refuses further attempts is about what the job was given, such as an unreadable file. */
export function logJobFailure(log: Logger, error: unknown, fields: Readonly<Record<string, unknown>>): void {
  if (error !== undefined && !toJobFailure(error).isRetryable)
    log.warn('Job refused', { event: 'job_refused', ...fields });
  else log.error('Job failed', { event: 'job_failed', ...fields });
}
