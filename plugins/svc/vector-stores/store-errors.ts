import { connectionFailure, parseRetryAfter, responseMessage, unreadableFailure } from '../kit/upstream-error.ts';
import { VectorStoreError, type VectorStoreConnection, type VectorStoreErrorKind } from './vector-store.ts';

export interface StoreResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** The failure of an error response, with the store's message if it has one. */
export function errorFromResponse(
  { status, headers, text }: StoreResponse,
  { settings, clock }: Pick<VectorStoreConnection, 'settings' | 'clock'>,
): VectorStoreError {
  return new VectorStoreError({
    kind: errorKind(status),
    status,
    message: responseMessage(status, readMessage(text), settings),
    retryAfter: parseRetryAfter(headers, clock.now()),
  });
}

/** Other statuses are rejections: a retry would be rejected as well. */
function errorKind(status: number): VectorStoreErrorKind {
  if (status >= 500) return 'unavailable';
  const kinds: Readonly<Record<number, VectorStoreErrorKind>> = {
    401: 'auth',
    403: 'auth',
    404: 'not_found',
    408: 'unavailable',
    409: 'conflict',
    429: 'rate_limited',
  };
  return kinds[status] ?? 'rejected';
}

/** The message of an error body in the formats of the three stores; null if it has no readable one. */
function readMessage(text: string): string | null {
  if (text.trim() === '' || /^\s*</.test(text)) return null;
  try {
    return findMessage(JSON.parse(text) as unknown);
  } catch {
    return text;
  }
}

function findMessage(body: unknown): string | null {
  if (typeof body === 'string') return body.trim() === '' ? null : body;
  if (typeof body !== 'object' || body === null) return null;
  const { message, error, status, detail } = body as Readonly<Record<string, unknown>>;
  // Pinecone: {error: {message}} or {message}; Qdrant: {status: {error}}; Chroma: {error: name, message}.
  return (
    findMessage(message) ??
    findMessage(error) ??
    (typeof status === 'object' ? findMessage(status) : null) ??
    findMessage(detail)
  );
}

/** The failure of a connection or an unreadable response. Returns any other error unchanged: it is a bug of this service. */
export function errorFromThrown(thrown: unknown): unknown {
  if (thrown instanceof VectorStoreError || !(thrown instanceof Error)) return thrown;
  if (thrown instanceof SyntaxError) return unreadableResponse('not JSON', thrown);
  const failure = connectionFailure(thrown);
  return failure === null ? thrown : new VectorStoreError(failure);
}

/** A success response that cannot be used. */
export function unreadableResponse(what: string, cause?: unknown): VectorStoreError {
  return new VectorStoreError({ ...unreadableFailure(what), cause });
}
