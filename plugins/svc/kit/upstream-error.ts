import { isRecord } from '#plugin-api';
import { cleanMessage } from './clean-message.ts';

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

/** Why an upstream refused a request, where callers act on it. */
export interface Rejection {
  /**
   * `refusal`: the model declined. `content_filter`: a filter or moderation did. `insufficient_quota`: the account has no credits
   * or quota left, whatever the request. `invalid_request`: the upstream named what is wrong in it.
   */
  readonly reason:
    'refusal' | 'content_filter' | 'context_length' | 'model_not_found' | 'insufficient_quota' | 'invalid_request';
  /** The parameter that the upstream names, such as `prompt`. */
  readonly param?: string;
  /** Of an invalid request: the upstream's code, such as `unsupported_value`. */
  readonly vendor_code?: string;
  /** Of a filter: its results by category. */
  readonly filtered?: Readonly<Record<string, Readonly<Record<string, string | boolean>>>>;
}

export interface UpstreamErrorInit<Kind extends string> {
  readonly kind: Kind;
  /** The upstream's message without secrets, or a default one. It follows "<name> failed: ". */
  readonly message: string;
  /** HTTP status of the upstream response, or null without one. */
  readonly status?: number | null;
  /** Seconds to wait as the upstream requests, or null. */
  readonly retryAfter?: number | null;
  /** Whether a retry fails as well, for example because the account has no credits left. */
  readonly isFinal?: boolean;
  /** Null or left out: another reason, or none that is known. */
  readonly rejection?: Rejection | null;
  readonly cause?: unknown;
}

/** An error of a provider or a vector store. */
export class UpstreamError<Kind extends string> extends Error {
  readonly kind: Kind;
  readonly status: number | null;
  readonly retryAfter: number | null;
  readonly rejection: Rejection | null;

  constructor({ kind, message, status = null, retryAfter = null, rejection = null, cause }: UpstreamErrorInit<Kind>) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.status = status;
    this.retryAfter = retryAfter;
    this.rejection = rejection;
  }
}

/**
 * An error of another plugin, which cannot import the classes of errors: any with a known `kind` counts. Returns its members,
 * or null for any other value.
 */
export function upstreamErrorOf<Kind extends string>(
  thrown: unknown,
  kinds: readonly Kind[],
): UpstreamErrorInit<Kind> | null {
  if (!(thrown instanceof Error) || !('kind' in thrown) || !kinds.includes(thrown.kind as Kind)) return null;
  const { status, retryAfter } = thrown as { status?: unknown; retryAfter?: unknown };
  return {
    kind: thrown.kind as Kind,
    message: thrown.message,
    status: typeof status === 'number' ? status : null,
    retryAfter: typeof retryAfter === 'number' ? retryAfter : null,
    cause: thrown,
  };
}

/**
 * Kind and message of a failed connection, by anything an SDK or `fetch` throws. Null for any other error: it is a bug of
 * this service.
 */
export function connectionFailure(
  thrown: Error,
): Pick<UpstreamErrorInit<'unreadable' | 'connection'>, 'kind' | 'message' | 'isFinal' | 'cause'> | null {
  if (isRefused(thrown)) return { kind: 'unreadable', message: 'its URL may not be called.', cause: thrown };
  const code = findErrorCode(thrown);
  if (code === null && !/fetch failed|terminated|connection error|timed out|socket|aborted/i.test(thrown.message))
    return null;
  if (code !== null && certificateCode.test(code))
    return { kind: 'connection', message: certificateSentence(code), isFinal: true, cause: thrown };
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    return { kind: 'unreadable', message: 'its response is longer than 256 MB.', cause: thrown };
  const message = connectionSentences[code ?? ''] ?? `the connection failed${code === null ? '' : ` (${code})`}.`;
  return { kind: 'connection', message, cause: thrown };
}

/** Whether a connection failed before a request could be sent: nothing was used. */
export function isUnsent(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  const code = findErrorCode(thrown) ?? '';
  return (
    isRefused(thrown) ||
    certificateCode.test(code) ||
    /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_(TLS|SSL)\w*)$/.test(code)
  );
}

/** Codes of certificates that could not be verified: OpenSSL's `X509_V_ERR_*`, as Node names them, and Node's own. */
const certificateCode =
  /^([A-Z_]*(CERT|CRL)[A-Z_]*|UNABLE_TO_[A-Z_]+|ERR_TLS_CERT\w*|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|PATH_LENGTH_EXCEEDED)$/;

function certificateSentence(code: string): string {
  return `its certificate could not be verified (${code}). If an authority of your own signed it, name it in NODE_EXTRA_CA_CERTS.`;
}

/** The first code of the system, TLS, zlib or undici in the chain of causes. */
export function findErrorCode(thrown: unknown): string | null {
  for (let error = thrown, depth = 0; isRecord(error) && depth < 6; error = error['cause'], depth += 1) {
    const code = error['code'];
    if (
      typeof code === 'string' &&
      (certificateCode.test(code) || /^(E[A-Z_]+|UND_ERR_\w+|Z_[A-Z_]+|ERR_(TLS|SSL|HTTP2?|STREAM)\w*)$/.test(code))
    )
      return code;
  }
  return null;
}

/** Kind, status and message of a success response that cannot be used. A retry would return the same. */
export function unreadableFailure(what: string, status: number | null = 200) {
  return { kind: 'unreadable', status, message: `its response could not be read (${what}).` } as const;
}

/** The message of an error response, without secrets. */
export function responseMessage(
  status: number,
  sentence: string | null,
  settings: Readonly<Record<string, unknown>>,
): string {
  if (sentence !== null) return cleanMessage(sentence, settings);
  const wrongAddress = status === 404 || status === 405 ? ' Its base URL may be wrong.' : '';
  return `status ${String(status)} without a readable message.${wrongAddress}`;
}

/** Sentences for codes of connections that failed. */
const connectionSentences: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'it refused the connection (ECONNREFUSED).',
  ENOTFOUND: 'its address could not be found (ENOTFOUND).',
  EAI_AGAIN: 'its address could not be looked up (EAI_AGAIN).',
  ECONNRESET: 'the connection was cut (ECONNRESET).',
  UND_ERR_SOCKET: 'the connection was cut (UND_ERR_SOCKET).',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out (UND_ERR_CONNECT_TIMEOUT).',
};

/** Whether a client's error has headers of a response: those of Node's `fetch`, or of undici's. */
export function isHeaders(value: unknown): value is Headers {
  return isRecord(value) && typeof value['get'] === 'function';
}

/** Seconds of `Retry-After`, which is a number or a date; null if it is neither. */
export function parseRetryAfter(headers: Headers, now: number): number | null {
  const header = headers.get('retry-after')?.trim();
  if (!header) return null;
  const seconds = /^\d+(\.\d+)?$/.test(header) ? Number(header) : (Date.parse(header) - now) / 1000;
  return Number.isNaN(seconds) ? null : Math.max(0, seconds);
}

/** Whether the outbound guard refused an address (D23). */
function isRefused(thrown: unknown): boolean {
  return isCausedBy(thrown, (error) => (error as { readonly code?: unknown }).code === 'outbound_refused');
}

/** Clients wrap the error of their `fetch`, so its causes are searched. */
function isCausedBy(thrown: unknown, matches: (error: Error) => boolean): boolean {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 6; error = error.cause, depth += 1)
    if (matches(error)) return true;
  return false;
}
