import { trimTrailingSlashes } from '#plugin-api';
import type { QdrantClient } from '@qdrant/js-client-rest';
import { createClientCache } from '../../kit/caches.ts';
import { isHeaders } from '../../kit/upstream-error.ts';
import { exchange } from '../exchange.ts';
import { errorFromResponse, unreadableResponse } from '../store-errors.ts';
import { VectorStoreError, type VectorStoreConnection } from '../vector-store.ts';

const clients = createClientCache<QdrantClient>();
const usualPort = 6333;

export type QdrantApi = ReturnType<QdrantClient['api']>;
/**
 * Options of each request: the signal replaces the client's time limit; keys are never sent to a redirect target; the
 * dispatcher replaces the client's own, which has no outbound guard.
 */
export type QdrantInit = {
  readonly signal: AbortSignal;
  readonly redirect: 'manual';
  readonly headers: Headers;
  readonly dispatcher: NonNullable<RequestInit['dispatcher']>;
};

/**
 * One exchange with Qdrant. Its client has no `fetch` option and uses the global one, with the connection's dispatcher.
 *
 * @throws VectorStoreError
 */
export async function askQdrant<T>(
  connection: VectorStoreConnection,
  call: (api: QdrantApi, init: QdrantInit) => Promise<{ readonly data: { readonly result?: T } }>,
): Promise<T> {
  const client = await getClient(connection);
  const dispatcher = (await connection.dispatcher()) as QdrantInit['dispatcher'];
  const { data } = await exchange(
    connection,
    (signal) => call(client.api(), { signal, redirect: 'manual', headers: new Headers(), dispatcher }),
    (thrown) => toFailure(thrown, connection),
  );
  if (typeof data !== 'object' || data.result === undefined || data.result === null)
    throw unreadableResponse('no result in it');
  return data.result;
}

async function getClient({ fetch, settings }: VectorStoreConnection): Promise<QdrantClient> {
  const key = settings.api_key ?? '';
  const { url = '' } = settings;
  const port = Number(settings['port'] ?? usualPort);
  return clients.get(fetch, [url, port, key], async () => {
    const { QdrantClient } = await import('@qdrant/js-client-rest');
    const address = new URL(url);
    return new QdrantClient({
      host: address.hostname,
      port: address.port === '' ? port : Number(address.port),
      https: address.protocol === 'https:',
      prefix: address.pathname === '/' ? '' : trimTrailingSlashes(address.pathname),
      // As a header: the client's option would warn on the console about plain HTTP.
      ...(key !== '' && { headers: { 'api-key': key } }),
      checkCompatibility: false,
      timeout: Number.POSITIVE_INFINITY,
    });
  });
}

/**
 * The client's error has the response's status, headers and body; but for a 429 with `Retry-After` only the first digit of
 * the seconds.
 */
function toFailure(thrown: unknown, connection: VectorStoreConnection): VectorStoreError | null {
  if (thrown instanceof Error && 'retry_after' in thrown) {
    return new VectorStoreError({
      kind: 'rate_limited',
      status: 429,
      message: 'it is rate limited.',
      retryAfter: Number(thrown.retry_after) || null,
      cause: thrown,
    });
  }
  if (!(thrown instanceof Error) || !('status' in thrown) || typeof thrown.status !== 'number') return null;
  const { data, headers } = thrown as { readonly data?: unknown; readonly headers?: unknown };
  return errorFromResponse(
    {
      status: thrown.status,
      headers: isHeaders(headers) ? headers : new Headers(),
      text: typeof data === 'string' ? data : JSON.stringify(data ?? ''),
    },
    connection,
  );
}
