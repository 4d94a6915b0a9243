import type { ChromaClient } from 'chromadb';
import { createClientCache } from '../../kit/client-cache.ts';
import { exchange, exchangeFetch } from '../exchange.ts';
import { unreadableResponse } from '../store-errors.ts';
import type { VectorStoreConnection } from '../vector-store.ts';

const clients = createClientCache<ChromaClient>();

/** One exchange with Chroma through its client. Throws VectorStoreError. */
export async function askChroma<T>(
  connection: VectorStoreConnection,
  call: (client: ChromaClient) => Promise<T>,
): Promise<T> {
  const client = await clientOf(connection);
  return exchange(connection, () => call(client));
}

function clientOf({ fetch, settings }: VectorStoreConnection): Promise<ChromaClient> {
  const { url = '' } = settings;
  const { tenant, database } = placeOf(settings);
  return clients.get(fetch, [url, tenant, database, settings.api_key ?? ''], async () => {
    const { ChromaClient } = await import('chromadb');
    const { hostname, protocol } = new URL(url);
    const client = new ChromaClient({
      host: hostname,
      ssl: protocol === 'https:',
      tenant,
      database,
      headers: headersOf(settings),
    });
    // Its `fetch` is fixed, and so are time limit, signal and pool with it; and its address leaves out a path.
    const { apiClient } = client as unknown as {
      readonly apiClient: { setConfig(config: { fetch: typeof globalThis.fetch; baseUrl: string }): void };
    };
    apiClient.setConfig({ fetch: exchangeFetch, baseUrl: url.replace(/\/+$/, '') });
    return client;
  });
}

/** A collection as the server describes it. The client hides the dimension, and looks for embedding functions we do not use. */
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
  const { tenant, database } = placeOf(connection.settings);
  const address = `${url.replace(/\/+$/, '')}/api/v2/tenants/${encodeURIComponent(tenant)}/databases/${encodeURIComponent(database)}${path}`;
  return exchange(connection, async () => {
    const response = await exchangeFetch(address, {
      headers: { accept: 'application/json', ...headersOf(connection.settings) },
    });
    return (await response.json()) as unknown;
  });
}

export function asCollection(value: unknown): ChromaCollection {
  if (typeof value === 'object' && value !== null && typeof (value as { id?: unknown }).id === 'string')
    return value as ChromaCollection;
  throw unreadableResponse('no collection in it');
}

function headersOf({ api_key: key }: VectorStoreConnection['settings']): Record<string, string> {
  return key === undefined || key === '' ? {} : { 'x-chroma-token': key };
}

function placeOf(settings: VectorStoreConnection['settings']): { readonly tenant: string; readonly database: string } {
  const text = (name: string, usual: string): string => {
    const value = settings[name];
    return typeof value === 'string' && value !== '' ? value : usual;
  };
  return { tenant: text('tenant', 'default_tenant'), database: text('database', 'default_database') };
}
