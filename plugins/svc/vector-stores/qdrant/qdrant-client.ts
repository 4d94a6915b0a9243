import type { QdrantClient } from '@qdrant/js-client-rest';
import { createClientCache } from '../../kit/client-cache.ts';
import { exchange } from '../exchange.ts';
import { errorFromResponse, unreadableResponse } from '../store-errors.ts';
import { VectorStoreError, type VectorStoreConnection } from '../vector-store.ts';

const clients = createClientCache<QdrantClient>();
const usualPort = 6333;

export type QdrantApi = ReturnType<QdrantClient['api']>;
/** Goes with each request: the client's own time limit is off, and a key never follows a redirect. */
export type QdrantInit = { readonly signal: AbortSignal; readonly redirect: 'manual'; readonly headers: Headers };

/**
 * One exchange with Qdrant. Its client takes no `fetch` and uses the global one, over connections of its own.
 *
 * @throws VectorStoreError
 */
export async function askQdrant<T>(
  connection: VectorStoreConnection,
  call: (api: QdrantApi, init: QdrantInit) => Promise<{ readonly data: { readonly result?: T } }>,
): Promise<T> {
  const client = await clientOf(connection);
  const { data } = await exchange(
    connection,
    (signal) => call(client.api(), { signal, redirect: 'manual', headers: new Headers() }),
    (thrown) => failureOf(thrown, connection),
  );
  if (typeof data !== 'object' || data.result === undefined || data.result === null)
    throw unreadableResponse('no result in it');
  return data.result;
}

async function clientOf({ fetch, settings }: VectorStoreConnection): Promise<QdrantClient> {
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
      prefix: address.pathname === '/' ? '' : address.pathname.replace(/\/+$/, ''),
      // As a header: the client's own option warns on the console about plain http, which an administrator chose.
      ...(key !== '' && { headers: { 'api-key': key } }),
      checkCompatibility: false,
      timeout: Number.POSITIVE_INFINITY,
    });
  });
}

/**
 * The client's error of an answer carries its status, headers and body; but that of a 429 with `Retry-After` nothing of
 * it than the first digit of the seconds.
 */
function failureOf(thrown: unknown, connection: VectorStoreConnection): VectorStoreError | null {
  if (thrown instanceof Error && 'retry_after' in thrown) {
    return new VectorStoreError({
      kind: 'rate_limited',
      status: 429,
      message: 'it asks for fewer requests.',
      retryAfter: Number(thrown.retry_after) || null,
      cause: thrown,
    });
  }
  if (!(thrown instanceof Error) || !('status' in thrown) || typeof thrown.status !== 'number') return null;
  const { data, headers } = thrown as { readonly data?: unknown; readonly headers?: unknown };
  return errorFromResponse(
    {
      status: thrown.status,
      headers: headers instanceof Headers ? headers : new Headers(),
      text: typeof data === 'string' ? data : JSON.stringify(data ?? ''),
    },
    connection,
  );
}
