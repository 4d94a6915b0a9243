import type { DatabaseApi } from '#plugin-api';
import { cleanMessage } from '../../../kit/clean-message.ts';

/** An error as the queue sees it. */
export interface Failure {
  /** One sentence for people. */
  readonly message: string;
  readonly retryable: boolean;
  /** Milliseconds that the far end asked for; null: it did not. */
  readonly wait: number | null;
}

const networkCodes =
  /^(E(CONN(RESET|REFUSED|ABORTED)|TIMEDOUT|PIPE|HOSTUNREACH|NETUNREACH|AI_AGAIN)|ENOTFOUND|UND_ERR_\w+|outbound_(dns|connect|tls|timeout|unreadable))$/;
/** Nobody waits longer for a far end's `Retry-After`, in milliseconds. */
const longestWait = 24 * 3_600_000;

/** Decides once, for every kind of work alike, whether another attempt may help: 429 and 5xx, the network, and a database that is away. */
export function failureOf(error: unknown, database: Pick<DatabaseApi, 'isUnavailable'>): Failure {
  const { code, status, headers, message } = (typeof error === 'object' && error !== null ? error : {}) as Partial<
    Record<'code' | 'status' | 'headers' | 'message', unknown>
  >;
  const isRest = typeof code === 'string' && typeof status === 'number' && status >= 400 && status < 600;
  const retryable = isRest ? status === 429 || status >= 500 : isNetworkError(error) || database.isUnavailable(error);
  return {
    message: cleanMessage(typeof message === 'string' && message !== '' ? message : String(error), {}),
    retryable,
    wait: isRest ? retryAfter(headers) : null,
  };
}

function isNetworkError(error: unknown): boolean {
  const { code, cause } = (typeof error === 'object' && error !== null ? error : {}) as {
    readonly code?: unknown;
    readonly cause?: unknown;
  };
  return (
    (typeof code === 'string' && networkCodes.test(code)) ||
    (cause !== undefined && cause !== error && isNetworkError(cause))
  );
}

function retryAfter(headers: unknown): number | null {
  const value =
    typeof headers === 'object' && headers !== null
      ? Object.entries(headers).find(([name]) => name.toLowerCase() === 'retry-after')?.[1]
      : undefined;
  const seconds = Number(value);
  return value === undefined || !Number.isFinite(seconds) || seconds < 0 ? null : Math.min(longestWait, seconds * 1000);
}
