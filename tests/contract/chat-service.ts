import { createSystemClock } from '../../host/clock.ts';
import { createFakeClock, type FakeClock, type TestHost } from '#testing';
import { upstreamHttp } from '../helpers/upstream-http.ts';
import { store as qdrant } from '../../plugins/svc/vector-stores/qdrant.store.ts';
import type { OpenVectorStore } from '../../plugins/svc/vector-stores/vector-store.ts';
import { findFakeStore } from '../../plugins/sandbox/fakes.ts';
import { noDatabase } from '../helpers/no-database.ts';
import { silentLog } from '../helpers/silent-log.ts';
import { openSandbox } from '../sandbox/helpers/open-sandbox.ts';
import { base64Of, startEmbeddingUpstream, type EmbeddingUpstream } from './embedding-upstream.ts';
import { startUpstream, type Upstream } from './upstream.ts';
import { startVectorRelay, type VectorRelay } from './vector-relay.ts';
import { restKey, type Answer } from './service.ts';
import { createMigratedHost } from '../helpers/migrated.ts';

/** The whole site with chatbots: openai's texts, openrouter's embeddings and qdrant at upstreams of the test's own. */
export interface ChatService {
  readonly host: TestHost;
  readonly clock: FakeClock;
  readonly upstream: Upstream;
  readonly embeddings: EmbeddingUpstream;
  readonly relay: VectorRelay;
  /** Qdrant, past the service and the relay. */
  readonly behind: OpenVectorStore;
  /** As `svc bot create` prints it. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- compared, not typed.
  bot(settings?: object): Promise<any>;
  /** POST /chat/{bot_id}/message; an object is sent as JSON, a text as it is. The REST key goes along unless `headers` are given. */
  chat(botId: number | string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  stop(): Promise<void>;
}

export const key = { authorization: `Bearer ${restKey}` };

export const say = (...contents: readonly string[]): { messages: { role: string; content: string }[] } => ({
  messages: contents.map((content, place) => ({
    role: (contents.length - place) % 2 === 1 ? 'user' : 'assistant',
    content,
  })),
});

/** Texts about one of these lie in one direction; `shipping` and `delivery` are near each other. */
const directions: Readonly<Record<string, readonly number[]>> = {
  shipping: [1, 0, 0, 0],
  delivery: [0.8, 0.6, 0, 0],
  opening: [0, 0, 1, 0],
  garden: [0, 0, 0, 1],
};

export function directionOf(text: string): readonly number[] {
  return Object.entries(directions).find(([word]) => text.toLowerCase().includes(word))?.[1] ?? [0, 0.6, 0, 0.8];
}

export async function startChatService(database?: string): Promise<ChatService> {
  const clock = createFakeClock({ skipSleeps: true });
  const [upstream, embeddings, sandbox] = await Promise.all([startUpstream(), startEmbeddingUpstream(), openSandbox()]);
  const relay = await startVectorRelay(sandbox.url);
  const host = await createMigratedHost({
    plugins: ['svc', 'sandbox'],
    clock,
    ...(database !== undefined && { database }),
  });
  const own: Readonly<Record<string, object>> = {
    openai: { api_key: 'sk-upstream', base_url: upstream.url, model: 'saved-model' },
    openrouter: { api_key: 'sk-upstream', base_url: `${embeddings.origin}/api/v1` },
  };
  host.hooks.addFilter(
    'svc_provider_settings',
    (settings: Readonly<Record<string, unknown>>, id: string) =>
      id in own && settings['api_key'] !== 'sandbox' ? { ...settings, ...own[id] } : settings,
    20,
  );
  host.hooks.addFilter(
    'svc_vector_store_settings',
    (settings: Readonly<Record<string, unknown>>, id: string) =>
      id === 'qdrant' && settings['api_key'] !== 'sandbox'
        ? { ...settings, ...findFakeStore('qdrant')?.settings(relay.origin) }
        : settings,
    20,
  );
  await host.options.update('svc_api_key', host.secrets.encrypt(restKey));
  embedByDirection(embeddings);
  return {
    host,
    clock,
    upstream,
    embeddings,
    relay,
    behind: await qdrant.open({
      settings: findFakeStore('qdrant')?.settings(sandbox.url) ?? {},
      ...upstreamHttp.accessTo(sandbox.url),
      database: noDatabase,
      clock: createSystemClock(),
      log: silentLog,
      timeout: 20_000,
    }),
    async bot(settings = {}) {
      const { code, out, err } = await host.cli(
        'svc',
        'bot',
        'create',
        '--json',
        JSON.stringify({ provider: 'openai', model: 'gpt-4o-mini', instructions: 'You help customers.', ...settings }),
      );
      if (code !== 0) throw new Error(err);
      return JSON.parse(out);
    },
    async chat(botId, body, headers = key) {
      const response = await host.fetch(`/wp-json/svc/v1/chat/${String(botId)}/message`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
    },
    async stop() {
      await host.stop();
      await Promise.all([upstream.stop(), embeddings.stop(), relay.stop(), sandbox.close()]);
    },
  };
}

/** What the upstream of embeddings answers by itself in these tests. */
export function embedByDirection(embeddings: EmbeddingUpstream): void {
  embeddings.script(({ body }) => ({
    body: {
      object: 'list',
      model: String(body['model']),
      data: (body['input'] as readonly string[]).map((text, index) => ({
        object: 'embedding',
        index,
        embedding: body['encoding_format'] === 'base64' ? base64Of(directionOf(text)) : directionOf(text),
      })),
      usage: { prompt_tokens: 3, total_tokens: 3 },
    },
  }));
}
