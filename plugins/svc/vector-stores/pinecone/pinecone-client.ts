import type { Index, IndexModel, Pinecone } from '@pinecone-database/pinecone';
import { createClientCache } from '../../kit/caches.ts';
import { exchange, exchangeFetch } from '../exchange.ts';
import { unreadableResponse } from '../store-errors.ts';
import { vectorMetrics, type VectorMetric, type VectorStoreConnection, type VectorTarget } from '../vector-store.ts';

const clients = createClientCache<Pinecone>();

/** One exchange with Pinecone: its control plane, or the index that `call` chooses. Throws VectorStoreError. */
export async function askPinecone<T>(
  connection: VectorStoreConnection,
  call: (client: Pinecone) => Promise<T>,
): Promise<T> {
  const { fetch, settings } = connection;
  const { url = '', api_key: apiKey = '' } = settings;
  const client = await clients.get(fetch, [url, apiKey], async () => {
    const { Pinecone } = await import('@pinecone-database/pinecone');
    return new Pinecone({ apiKey, controllerHostUrl: url, fetchApi: exchangeFetch, maxRetries: 0 });
  });
  return exchange(connection, () => call(client));
}

/** Passes the host, so that the package neither requests it nor caches that of a deleted index. */
export function indexAt(client: Pinecone, { host }: Pick<IndexModel, 'host'>, namespace: string | undefined): Index {
  if (typeof host !== 'string' || host === '') throw unreadableResponse('no host of the index in it');
  return client.index({ host, ...(namespace !== undefined && namespace !== '' && { namespace }) });
}

export function pineconeTarget({
  name,
  dimension,
  metric,
}: Pick<IndexModel, 'name' | 'dimension' | 'metric'>): VectorTarget {
  return {
    name,
    dimension: dimension ?? null,
    metric: vectorMetrics.find((known) => known === (metric as VectorMetric)) ?? null,
  };
}
