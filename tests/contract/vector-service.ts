import { createSystemClock } from '../../host/clock.ts';
import { createFakeClock, type FakeClock, type TestHost } from '#testing';
import { upstreamHttp } from '../helpers/upstream-http.ts';
import { store as chroma } from '../../plugins/svc/vector-stores/chroma.store.ts';
import { store as pinecone } from '../../plugins/svc/vector-stores/pinecone.store.ts';
import { store as qdrant } from '../../plugins/svc/vector-stores/qdrant.store.ts';
import type { OpenVectorStore } from '../../plugins/svc/vector-stores/vector-store.ts';
import { findFakeStore } from '../../plugins/sandbox/fakes.ts';
import { noDatabase } from '../helpers/no-database.ts';
import { silentLog } from '../helpers/silent-log.ts';
import { openSandbox } from '../sandbox/helpers/open-sandbox.ts';
import { startEmbeddingUpstream, type EmbeddingUpstream } from './embedding-upstream.ts';
import { startVectorRelay, type VectorRelay } from './vector-relay.ts';
import { createMigratedHost } from '../helpers/migrated.ts';

export const restKey = 'the REST key of these tests';
export const storeIds = ['pinecone', 'qdrant', 'chroma'] as const;
export type StoreId = (typeof storeIds)[number];

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- bodies are compared, not typed.
  readonly body: any;
  readonly text: string;
}

/** The whole site with the service, a REST key, providers of embeddings and vector stores pointed at upstreams of the test's own. */
export interface VectorService {
  readonly host: TestHost;
  readonly clock: FakeClock;
  readonly embeddings: EmbeddingUpstream;
  readonly relay: VectorRelay;
  /** A store at its upstream, past the service and the relay. */
  behind(id: StoreId): OpenVectorStore;
  /** Settings that lead to the store through the relay. */
  settingsOf(id: StoreId): Readonly<Record<string, unknown>>;
  /** POST /vector-stores/upsert; an object is sent as JSON, a text as it is. */
  upsert(body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  stop(): Promise<void>;
}

const stores = { pinecone, qdrant, chroma } as const;

/** @param elsewhere origins of real servers, in place of the stand-in's. */
export async function startVectorService(elsewhere: Partial<Record<StoreId, string>> = {}): Promise<VectorService> {
  const clock = createFakeClock({ skipSleeps: true });
  const [embeddings, sandbox] = await Promise.all([startEmbeddingUpstream(), openSandbox()]);
  const relay = await startVectorRelay(elsewhere.chroma ?? sandbox.url);
  const host = await createMigratedHost({ plugins: ['svc'], clock });
  const baseUrls: Readonly<Record<string, string>> = {
    openai: `${embeddings.origin}/v1`,
    openrouter: `${embeddings.origin}/api/v1`,
    azure: embeddings.origin,
    google: embeddings.origin,
  };
  host.hooks.addFilter('svc_provider_settings', (settings: Readonly<Record<string, unknown>>, id: string) =>
    id in baseUrls
      ? {
          ...settings,
          api_key: 'sk-upstream-0123456789',
          base_url: baseUrls[id],
          ...(id === 'azure' && { api_version: 'v1' }),
        }
      : settings,
  );
  const leadingTo = (id: StoreId, origin: string): Readonly<Record<string, unknown>> =>
    elsewhere[id] === undefined ? (findFakeStore(id)?.settings(origin) ?? {}) : { url: origin };
  host.hooks.addFilter('svc_vector_store_settings', (settings: Readonly<Record<string, unknown>>, id: string) =>
    (storeIds as readonly string[]).includes(id)
      ? { ...settings, ...leadingTo(id as StoreId, relay.origin) }
      : settings,
  );
  await host.options.update('svc_api_key', host.secrets.encrypt(restKey));
  const opened = await Promise.all(
    storeIds.map(async (id) => [
      id,
      await stores[id].open({
        settings: leadingTo(id, elsewhere[id] ?? sandbox.url),
        ...upstreamHttp.accessTo(elsewhere[id] ?? sandbox.url),
        database: noDatabase,
        clock: createSystemClock(),
        log: silentLog,
        timeout: 20_000,
      }),
    ]),
  );
  const behind = Object.fromEntries(opened) as Record<StoreId, OpenVectorStore>;
  return {
    host,
    clock,
    embeddings,
    relay,
    behind: (id) => behind[id],
    settingsOf: (id) => leadingTo(id, relay.origin),
    async upsert(body, headers = { authorization: `Bearer ${restKey}` }) {
      const response = await host.fetch('/wp-json/svc/v1/vector-stores/upsert', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
    },
    async stop() {
      await host.stop();
      await Promise.all([embeddings.stop(), relay.stop(), sandbox.close()]);
    },
  };
}

/** A request for a store whose target `notes` the tests make. */
export function requestTo(provider: string, vectors: readonly object[], changes: object = {}): Record<string, unknown> {
  return {
    provider,
    target_id: 'notes',
    vectors,
    embedding_provider: 'openai',
    embedding_model: 'text-embedding-3-small',
    ...changes,
  };
}

export function items(
  count: number,
  content: (place: number) => string = (place) => `Text number ${String(place)}`,
): { content: string; id: string }[] {
  return Array.from({ length: count }, (_, place) => ({ content: content(place), id: `item-${String(place)}` }));
}
