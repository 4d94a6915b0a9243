import { trimTrailingSlashes } from '#plugin-api';
import type { ChromaClient } from 'chromadb';
import { createClientCache } from '../../kit/caches.ts';
import { exchange, exchangeFetch } from '../exchange.ts';
import { unreadableResponse } from '../store-errors.ts';
import type { VectorStoreConnection, VectorMetric, VectorTarget } from '../vector-store.ts';

/** Metadata key of the requested dimension: in Chroma the first vector sets it. */
export const dimensionKey = 'svc_dimension';

const spaces = { cosine: 'cosine', euclidean: 'l2', dotproduct: 'ip' } as const satisfies Record<VectorMetric, string>;

export function toSpace(metric: VectorMetric): (typeof spaces)[VectorMetric] {
  return spaces[metric];
}

export function chromaTarget({
  name,
  dimension,
  metadata,
  configuration_json: configuration,
}: ChromaCollection): VectorTarget {
  const asked = metadata?.[dimensionKey];
  const space = configuration?.hnsw?.space ?? configuration?.spann?.space ?? metadata?.['hnsw:space'] ?? 'l2';
  return {
    name,
    dimension: dimension ?? (typeof asked === 'number' ? asked : null),
    metric: (Object.keys(spaces) as VectorMetric[]).find((metric) => spaces[metric] === space) ?? null,
  };
}

/** Converts a distance, 0 for the same vector, to a score. */
export function toScore(distance: number, metric: VectorMetric | null): number {
  return metric === 'euclidean' ? -distance : 1 - distance;
}

const clients = createClientCache<ChromaClient>();

/** One exchange with Chroma through its client. Throws VectorStoreError. */
export async function askChroma<T>(
  connection: VectorStoreConnection,
  call: (client: ChromaClient) => Promise<T>,
): Promise<T> {
  const client = await getClient(connection);
  return exchange(connection, () => call(client));
}

function getClient({ fetch, settings }: VectorStoreConnection): Promise<ChromaClient> {
  const { url = '' } = settings;
  const { tenant, database } = tenantSettings(settings);
  return clients.get(fetch, [url, tenant, database, settings.api_key ?? ''], async () => {
    const { ChromaClient } = await import('chromadb');
    const { hostname, protocol } = new URL(url);
    const client = new ChromaClient({
      host: hostname,
      ssl: protocol === 'https:',
      tenant,
      database,
      headers: authHeaders(settings),
    });
    // The client has no option for `fetch` (time limit, signal, pool), and drops the path of the URL.
    const { apiClient } = client as unknown as {
      readonly apiClient: { setConfig(config: { fetch: typeof globalThis.fetch; baseUrl: string }): void };
    };
    apiClient.setConfig({ fetch: exchangeFetch, baseUrl: trimTrailingSlashes(url) });
    return client;
  });
}

/** A collection as the server returns it. The client hides the dimension and expects embedding functions. */
export interface ChromaCollection {
  readonly id: string;
  readonly name: string;
  readonly dimension?: number | null;
  readonly metadata?: Readonly<Record<string, unknown>> | null;
  readonly configuration_json?: {
    readonly hnsw?: { readonly space?: unknown } | null;
    readonly spann?: { readonly space?: unknown } | null;
  } | null;
}

/**
 * GET below the database, for example `/collections/notes`.
 *
 * @throws VectorStoreError
 */
export async function readChroma(connection: VectorStoreConnection, path: string): Promise<unknown> {
  const { url = '' } = connection.settings;
  const { tenant, database } = tenantSettings(connection.settings);
  const base = `${trimTrailingSlashes(url)}/api/v2/tenants/${encodeURIComponent(tenant)}`;
  const address = `${base}/databases/${encodeURIComponent(database)}${path}`;
  return exchange(connection, async () => {
    const response = await exchangeFetch(address, {
      headers: { accept: 'application/json', ...authHeaders(connection.settings) },
    });
    return (await response.json()) as unknown;
  });
}

export function asCollection(value: unknown): ChromaCollection {
  if (typeof value === 'object' && value !== null && typeof (value as { id?: unknown }).id === 'string')
    return value as ChromaCollection;
  throw unreadableResponse('no collection in it');
}

function authHeaders({ api_key: key }: VectorStoreConnection['settings']): Record<string, string> {
  return key === undefined || key === '' ? {} : { 'x-chroma-token': key };
}

function tenantSettings(settings: VectorStoreConnection['settings']): {
  readonly tenant: string;
  readonly database: string;
} {
  const text = (name: string, usual: string): string => {
    const value = settings[name];
    return typeof value === 'string' && value !== '' ? value : usual;
  };
  return { tenant: text('tenant', 'default_tenant'), database: text('database', 'default_database') };
}
