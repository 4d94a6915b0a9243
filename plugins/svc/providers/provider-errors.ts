import { cleanMessage } from '../kit/clean-message.ts';
import { isObject, listAt, objectAt, textAt } from './json.ts';
import { ProviderError, type ProviderConnection, type ProviderErrorKind } from './provider.ts';

export interface UpstreamResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON, or text when it was none. */
  readonly body: unknown;
}

/** The ProviderError of an answer that is no success (D5). Its message is the far end's own sentence where it has one. */
export function errorFromResponse(
  { status, headers, body }: UpstreamResponse,
  connection: Pick<ProviderConnection, 'settings' | 'clock'>,
): ProviderError {
  const sentence = readErrorMessage(body);
  return new ProviderError({
    kind: kindOf(status),
    status,
    message:
      sentence === null
        ? `status ${String(status)} without a readable message.`
        : cleanMessage(sentence, connection.settings),
    retryAfter: retryAfterOf(headers, body, connection.clock.now()),
  });
}

/** 402, 409 and other 4xx count as refusals: another try would be refused as well. */
function kindOf(status: number): ProviderErrorKind {
  if (status === 401 || status === 403) return 'auth';
  if (status === 429) return 'rate_limited';
  if (status === 408) return 'timeout';
  return status >= 500 ? 'unavailable' : 'rejected';
}

/** The sentence of an error body in any of the shapes the providers use; null when there is none a person could read. */
export function readErrorMessage(body: unknown): string | null {
  if (typeof body === 'string') return /^\s*</.test(body) || body.trim() === '' ? null : body;
  if (Array.isArray(body)) return readErrorMessage(body[0]);
  if (!isObject(body)) return null;
  const error = body['error'];
  const sentence =
    textAt(error, 'message') ?? textAt(body, 'error') ?? textAt(body, 'message') ?? textAt(body, 'detail');
  const first = sentence ?? textAt(listAt(body, 'detail')[0], 'msg') ?? textAt(listAt(body, 'errors')[0], 'message');
  const upstream = upstreamSentence(objectAt(error, 'metadata')['raw']);
  return first !== null && upstream !== null && !first.includes(upstream) ? `${first}: ${upstream}` : first;
}

/** OpenRouter passes the error of the provider behind it on as text in `metadata.raw`, most often JSON. */
function upstreamSentence(raw: unknown): string | null {
  if (typeof raw !== 'string') return readErrorMessage(raw);
  try {
    return readErrorMessage(JSON.parse(raw) as unknown);
  } catch {
    return readErrorMessage(raw);
  }
}

/** Seconds asked for by `retry-after-ms`, by `Retry-After` (seconds or a date), or by Google's RetryInfo. */
function retryAfterOf(headers: Headers, body: unknown, now: number): number | null {
  const milliseconds = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (milliseconds >= 0) return milliseconds / 1000;
  const header = headers.get('retry-after')?.trim();
  if (header) {
    const seconds = /^\d+(\.\d+)?$/.test(header) ? Number(header) : (Date.parse(header) - now) / 1000;
    if (!Number.isNaN(seconds)) return Math.max(0, seconds);
  }
  const details = listAt(objectAt(Array.isArray(body) ? body[0] : body, 'error'), 'details');
  const delay = details.map((detail) => textAt(detail, 'retryDelay')).find((found) => found !== null);
  const match = /^(\d+(?:\.\d+)?)s$/.exec(delay ?? '');
  return match ? Number(match[1]) : null;
}

const connectionSentences: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'it refused the connection (ECONNREFUSED).',
  ENOTFOUND: 'its address could not be found (ENOTFOUND).',
  EAI_AGAIN: 'its address could not be looked up (EAI_AGAIN).',
  ECONNRESET: 'the connection was cut (ECONNRESET).',
  UND_ERR_SOCKET: 'the connection was cut (UND_ERR_SOCKET).',
  UND_ERR_CONNECT_TIMEOUT: 'the connection could not be made in time (UND_ERR_CONNECT_TIMEOUT).',
};

/**
 * The ProviderError of anything an SDK or `fetch` throws. An error that is neither an answer's nor the connection's is
 * answered as it came: it is an error of ours.
 */
export function errorFromThrown(thrown: unknown, connection: ProviderConnection): unknown {
  if (thrown instanceof ProviderError || !(thrown instanceof Error)) return thrown;
  const { status, headers, error } = thrown as { status?: unknown; headers?: unknown; error?: unknown };
  if (typeof status === 'number' && headers instanceof Headers) {
    return errorFromResponse({ status, headers, body: error ?? thrown.message.replace(/^\d+ /, '') }, connection);
  }
  const code = codeOf(thrown);
  if (code === null && !/fetch failed|terminated|connection error|timed out|socket|aborted/i.test(thrown.message))
    return thrown;
  const message = connectionSentences[code ?? ''] ?? `the connection failed${code === null ? '' : ` (${code})`}.`;
  return new ProviderError({ kind: 'connection', message, cause: thrown });
}

/** The first system or undici code along the chain of causes. */
function codeOf(thrown: Error): string | null {
  for (let error: unknown = thrown, depth = 0; isErrorLike(error) && depth < 6; error = error.cause, depth += 1) {
    if (
      typeof error.code === 'string' &&
      /^(E[A-Z_]+|UND_ERR_\w+|ERR_(TLS|SSL|HTTP2?|STREAM)\w*|[A-Z_]*CERT[A-Z_]*)$/.test(error.code)
    )
      return error.code;
  }
  return null;
}

function isErrorLike(value: unknown): value is { readonly code?: unknown; readonly cause?: unknown } {
  return typeof value === 'object' && value !== null;
}

/** An answer of success that cannot be used. Not worth another try: the far end would send the same again. */
export function unreadableResponse(what: string, status: number | null = 200): ProviderError {
  return new ProviderError({ kind: 'unreadable', status, message: `its answer could not be read (${what}).` });
}
