import { isRecord } from '#plugin-api';
import {
  connectionFailure,
  isHeaders,
  parseRetryAfter,
  responseMessage,
  unreadableFailure,
  type Rejection,
} from '../kit/upstream-error.ts';
import { cleanMessage } from '../kit/clean-message.ts';
import { rejectionOf } from './rejection.ts';
import { isQuotaUsedUp } from './used-up-quota.ts';
import type { ToolCall } from '../kit/tools.ts';
import { listAt, objectAt, parseArguments, textAt, type JsonObject } from './json.ts';
import { ProviderError, type ProviderConnection, type FailedUsage, type ProviderErrorKind } from './provider.ts';

export interface UpstreamResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON, or text if it is not JSON. */
  readonly body: unknown;
}

/** The upstream answered, but generated nothing. A retry would be rejected as well. */
export function refusedRequest(message: string, reason?: Rejection['reason']): ProviderError {
  return new ProviderError({ kind: 'rejected', status: 200, message, ...(reason && { rejection: { reason } }) });
}

/** The upstream ended the text early. Another attempt, or another provider, may succeed. */
export function failedText(reason: string): ProviderError {
  return new ProviderError({ kind: 'unavailable', status: 200, message: `it ended the response with ${reason}.` });
}

/** The arguments of a call in the conversation, for providers that take objects. @throws ProviderError `rejected` for others */
export function requireArguments({ id, arguments: given }: Pick<ToolCall, 'id' | 'arguments'>): JsonObject {
  const parsed = parseArguments(given);
  if (parsed !== null) return parsed;
  throw new ProviderError({
    kind: 'rejected',
    message: `the arguments of the tool call ${id} are not a JSON object. Leave the call out, or repeat the turn.`,
  });
}

/** A response without text and calls of functions is no result. Another provider may have one. */
export function emptyText(reason: string | null): ProviderError {
  const ending = reason === null ? '' : ` (${reason})`;
  return new ProviderError({ kind: 'unreadable', status: 200, message: `its response is empty${ending}.` });
}

/**
 * Runs what reads a response. A ProviderError gets the usage that was reported until then: a refused, emptied or cut text is
 * billed as well (D51).
 */
export async function keepUsage<Result>(
  report: () => FailedUsage | null,
  run: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ProviderError) error.reported ??= report();
    throw error;
  }
}

/** The ProviderError of an error response (D5), with the upstream's message if it has one. */
export function errorFromResponse(
  { status, headers, body }: UpstreamResponse,
  connection: Pick<ProviderConnection, 'settings' | 'clock'>,
): ProviderError {
  const sentence = readErrorMessage(body);
  if (isQuotaUsedUp(status, body, sentence))
    // A time to wait would be that of another limit.
    return new ProviderError({
      kind: kindOf(status),
      status,
      rejection: { reason: 'insufficient_quota' },
      isFinal: true,
      message: responseMessage(status, sentence, connection.settings),
    });
  if (status >= 300 && status < 400)
    return new ProviderError({ kind: kindOf(status), status, message: redirectSentence(status, headers, connection) });
  const rejection = rejectionOf(status, body, sentence);
  return new ProviderError({
    kind: isInvalidKey(body) ? 'auth' : rejection === null ? kindOf(status) : 'rejected',
    status,
    rejection,
    message: withCategories(responseMessage(status, sentence, connection.settings), rejection),
    retryAfter: retryAfterOf(headers, body, connection.clock.now()),
  });
}

/** Redirects are never followed: the key would leave the host it was saved for. Queries may hold secrets. */
function redirectSentence(
  status: number,
  headers: Headers,
  { settings }: Pick<ProviderConnection, 'settings'>,
): string {
  const [where = ''] = (headers.get('location') ?? '').split(/[?#]/, 1);
  const to = where === '' ? '' : ` to ${cleanMessage(where, settings)}`;
  return `its address redirects${to} (status ${String(status)}), which is not followed. Save the address that it moved to as its base URL.`;
}

/** Names what a filter found, which is not in its message. */
function withCategories(message: string, rejection: Rejection | null): string {
  const categories = Object.entries(rejection?.filtered ?? {}).filter(([, result]) => result['filtered'] === true);
  return categories.length === 0 ? message : `${message} Filtered: ${categories.map(([name]) => name).join(', ')}.`;
}

/** Google's 400 for a wrong key. */
function isInvalidKey(body: unknown): boolean {
  const details = listAt(objectAt(Array.isArray(body) ? body[0] : body, 'error'), 'details');
  return details.some((detail) => textAt(detail, 'reason') === 'API_KEY_INVALID');
}

/**
 * 409 and other 4xx are rejections: a retry would be rejected as well. Redirects, such as to a page to sign in, are
 * failures that another provider does not have.
 */
function kindOf(status: number): ProviderErrorKind {
  if (status < 400) return 'unreadable';
  if (status === 401 || status === 403) return 'auth';
  if (status === 429) return 'rate_limited';
  if (status === 408) return 'timeout';
  return status >= 500 ? 'unavailable' : 'rejected';
}

/** The message of an error body in any provider's format; null if it has no readable one. */
export function readErrorMessage(body: unknown): string | null {
  if (typeof body === 'string') return /^\s*</.test(body) || body.trim() === '' ? null : body;
  if (Array.isArray(body)) return readErrorMessage(body[0]);
  if (!isRecord(body)) return null;
  const error = body['error'];
  const sentence =
    textAt(error, 'message') ?? textAt(body, 'error') ?? textAt(body, 'message') ?? textAt(body, 'detail');
  const first = sentence ?? textAt(listAt(body, 'detail')[0], 'msg') ?? textAt(listAt(body, 'errors')[0], 'message');
  const upstream = upstreamMessage(objectAt(error, 'metadata')['raw']);
  return first !== null && upstream !== null && !first.includes(upstream) ? `${first}: ${upstream}` : first;
}

/** OpenRouter passes on its provider's error as text in `metadata.raw`, usually JSON. */
function upstreamMessage(raw: unknown): string | null {
  if (typeof raw !== 'string') return readErrorMessage(raw);
  try {
    return readErrorMessage(JSON.parse(raw) as unknown);
  } catch {
    return readErrorMessage(raw);
  }
}

/** Seconds from `retry-after-ms`, `Retry-After` (seconds or a date) or Google's RetryInfo. */
function retryAfterOf(headers: Headers, body: unknown, now: number): number | null {
  const milliseconds = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (milliseconds >= 0) return milliseconds / 1000;
  const seconds = parseRetryAfter(headers, now);
  if (seconds !== null) return seconds;
  const details = listAt(objectAt(Array.isArray(body) ? body[0] : body, 'error'), 'details');
  const delay = details.map((detail) => textAt(detail, 'retryDelay')).find((found) => found !== null);
  const match = /^(\d+(?:\.\d+)?)s$/.exec(delay ?? '');
  return match ? Number(match[1]) : null;
}

/**
 * The ProviderError of anything an SDK or `fetch` throws. Returns any other error unchanged: it is a bug of this
 * service.
 */
export function errorFromThrown(thrown: unknown, connection: ProviderConnection): unknown {
  if (thrown instanceof ProviderError || !(thrown instanceof Error)) return thrown;
  const { status, headers, error } = thrown as { status?: unknown; headers?: unknown; error?: unknown };
  if (typeof status === 'number' && isHeaders(headers)) {
    return errorFromResponse({ status, headers, body: error ?? thrown.message.replace(/^\d+ /, '') }, connection);
  }
  const failure = connectionFailure(thrown);
  return failure === null ? thrown : new ProviderError(failure);
}

/** A success response that cannot be used. A retry would return the same. */
export function unreadableResponse(what: string, status: number | null = 200, cause?: unknown): ProviderError {
  return new ProviderError({ ...unreadableFailure(what, status), cause });
}
