import { cleanMessage } from '../kit/clean-message.ts';
import { VectorStoreError, type VectorStoreConnection, type VectorStoreErrorKind } from './vector-store.ts';

export interface StoreResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** The failure of an answer that is no success. Its message is the store's own sentence where it has one. */
export function errorFromResponse(
  { status, headers, text }: StoreResponse,
  { settings, clock }: Pick<VectorStoreConnection, 'settings' | 'clock'>,
): VectorStoreError {
  const sentence = sentenceOf(text);
  return new VectorStoreError({
    kind: kindOf(status),
    status,
    message:
      sentence === null ? `status ${String(status)} without a readable message.` : cleanMessage(sentence, settings),
    retryAfter: retryAfterOf(headers, clock.now()),
  });
}

/** Statuses without a line of their own count as refusals: another try would be refused as well. */
function kindOf(status: number): VectorStoreErrorKind {
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

/** The sentence of an error body in the shapes of the three stores; null when there is none a person could read. */
function sentenceOf(text: string): string | null {
  if (text.trim() === '' || /^\s*</.test(text)) return null;
  try {
    return sentenceIn(JSON.parse(text) as unknown);
  } catch {
    return text;
  }
}

function sentenceIn(body: unknown): string | null {
  if (typeof body === 'string') return body.trim() === '' ? null : body;
  if (typeof body !== 'object' || body === null) return null;
  const { message, error, status, detail } = body as Readonly<Record<string, unknown>>;
  // Pinecone: {error: {message}} or {message}; Qdrant: {status: {error}}; Chroma: {error: name, message}.
  return (
    sentenceIn(message) ??
    sentenceIn(error) ??
    (typeof status === 'object' ? sentenceIn(status) : null) ??
    sentenceIn(detail)
  );
}

function retryAfterOf(headers: Headers, now: number): number | null {
  const header = headers.get('retry-after')?.trim();
  if (!header) return null;
  const seconds = /^\d+(\.\d+)?$/.test(header) ? Number(header) : (Date.parse(header) - now) / 1000;
  return Number.isNaN(seconds) ? null : Math.max(0, seconds);
}

const connectionSentences: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'it refused the connection (ECONNREFUSED).',
  ENOTFOUND: 'its address could not be found (ENOTFOUND).',
  EAI_AGAIN: 'its address could not be looked up (EAI_AGAIN).',
  ECONNRESET: 'the connection was cut (ECONNRESET).',
  UND_ERR_SOCKET: 'the connection was cut (UND_ERR_SOCKET).',
  UND_ERR_CONNECT_TIMEOUT: 'the connection could not be made in time (UND_ERR_CONNECT_TIMEOUT).',
};

/** The failure of a connection, or of an answer that could not be parsed; anything else as it came: it is an error of ours. */
export function errorFromThrown(thrown: unknown): unknown {
  if (thrown instanceof VectorStoreError || !(thrown instanceof Error)) return thrown;
  if (thrown instanceof SyntaxError) return unreadableResponse('no JSON', thrown);
  const code = codeOf(thrown);
  if (code === null && !/fetch failed|terminated|aborted|socket/i.test(thrown.message)) return thrown;
  const message = connectionSentences[code ?? ''] ?? `the connection failed${code === null ? '' : ` (${code})`}.`;
  return new VectorStoreError({ kind: 'connection', message, cause: thrown });
}

/** The first system or undici code along the chain of causes. */
function codeOf(thrown: Error): string | null {
  for (let error: unknown = thrown, depth = 0; error instanceof Error && depth < 6; error = error.cause, depth += 1) {
    const { code } = error as { readonly code?: unknown };
    if (
      typeof code === 'string' &&
      /^(E[A-Z_]+|UND_ERR_\w+|ERR_(TLS|SSL|HTTP2?|STREAM)\w*|[A-Z_]*CERT[A-Z_]*)$/.test(code)
    )
      return code;
  }
  return null;
}

/** An answer of success that cannot be used. */
export function unreadableResponse(what: string, cause?: unknown): VectorStoreError {
  return new VectorStoreError({
    kind: 'unreadable',
    status: 200,
    message: `its answer could not be read (${what}).`,
    cause,
  });
}
