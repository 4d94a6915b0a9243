/** What any upstream can fail with. */
export const upstreamErrorKinds = [
  'auth',
  'rate_limited',
  'rejected',
  'unavailable',
  'unreadable',
  'connection',
  'timeout',
  'aborted',
] as const;

export interface UpstreamErrorInit<Kind extends string> {
  readonly kind: Kind;
  /** The upstream's message without secrets, or a default one. It follows "<name> failed: ". */
  readonly message: string;
  /** HTTP status of the upstream response, or null without one. */
  readonly status?: number | null;
  /** Seconds to wait as the upstream requests, or null. */
  readonly retryAfter?: number | null;
  readonly cause?: unknown;
}

/** An error of a provider or a vector store. */
export class UpstreamError<Kind extends string> extends Error {
  readonly kind: Kind;
  readonly status: number | null;
  readonly retryAfter: number | null;

  constructor({ kind, message, status = null, retryAfter = null, cause }: UpstreamErrorInit<Kind>) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** Sentences for codes of connections that failed. */
export const connectionSentences: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'it refused the connection (ECONNREFUSED).',
  ENOTFOUND: 'its address could not be found (ENOTFOUND).',
  EAI_AGAIN: 'its address could not be looked up (EAI_AGAIN).',
  ECONNRESET: 'the connection was cut (ECONNRESET).',
  UND_ERR_SOCKET: 'the connection was cut (UND_ERR_SOCKET).',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out (UND_ERR_CONNECT_TIMEOUT).',
};

/** Seconds of `Retry-After`, which is a number or a date; null if it is neither. */
export function parseRetryAfter(headers: Headers, now: number): number | null {
  const header = headers.get('retry-after')?.trim();
  if (!header) return null;
  const seconds = /^\d+(\.\d+)?$/.test(header) ? Number(header) : (Date.parse(header) - now) / 1000;
  return Number.isNaN(seconds) ? null : Math.max(0, seconds);
}
