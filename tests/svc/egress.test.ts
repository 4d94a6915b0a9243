import { expect } from 'chai';
import { outboundReason, type RestError } from '#plugin-api';
import { createFakeClock } from '#testing';
import type { Outbound } from '../../host/http/outbound.ts';
import { fetchImage } from '../../plugins/svc/ai/fetch-output.ts';
import { createOpenStore } from '../../plugins/svc/ai/open-vector-store.ts';
import { createTestProvider } from '../../plugins/svc/ai/test-provider.ts';
import { createUpstreamHttp, type UpstreamHttp } from '../../plugins/svc/ai/upstream-http.ts';
import { readSource as readTaskSource } from '../../plugins/svc/modules/automations/sources/read-source.ts';
import { fetchPage } from '../../plugins/svc/modules/chatbots/site-check/fetch-page.ts';
import { fetchSource } from '../../plugins/svc/modules/content-writer/write/read-source.ts';
import { createImageAddresses } from '../../plugins/svc/ai/image-addresses.ts';
import { fetchAddress } from '../../plugins/svc/modules/knowledge-base/sources/read-source.ts';
import { readSitemap } from '../../plugins/svc/modules/knowledge-base/sources/read-sitemap.ts';
import { origins } from '../../plugins/svc/modules/knowledge-base/sources/source.ts';
import { createVectorStoreRegistry } from '../../plugins/svc/vector-stores/registry.ts';
import { createHooks } from '../../host/hooks/hooks.ts';
import { forbiddenHosts, forbiddenNames, literalHosts, names, privateNames } from '../helpers/guard-cases.ts';
import { documents } from '../helpers/documents.ts';
import { noDatabase } from '../helpers/no-database.ts';
import { silentLog } from '../helpers/silent-log.ts';
import { watchConnections, type ConnectionWatch } from '../helpers/watch-connections.ts';
import { services } from './ai/helpers.ts';
import { openOutbound, openReceiver, type Receiver } from './webhooks/delivery/open-receiver.ts';

interface Site {
  readonly http: Outbound;
  readonly upstream: UpstreamHttp;
}

interface Client {
  readonly name: string;
  /**
   * `public`: public addresses only. `literal`: also a private literal that an administrator entered. `entered`: also a name
   * of a private address that an administrator entered.
   */
  readonly policy: 'public' | 'literal' | 'entered';
  readonly redirects: boolean;
  /** Calls a URL and returns what came of it, errors included. */
  call(site: Site, url: string): Promise<unknown>;
}

const site = { url: 'https://site.example' } as never;
const signal = new AbortController().signal;
const reading = { signal, onProgress: () => undefined };

const provider = (id: string, settings: object = {}): Client => ({
  name: `the provider ${id}`,
  policy: 'entered',
  redirects: false,
  call: async ({ upstream }, base_url) =>
    createTestProvider({
      ...(await services({ settings: { provider: () => Promise.resolve({ ...settings, api_key: 'key', base_url }) } })),
      upstream,
    })(id),
});

const vectorStore = (id: string, settings: object = {}): Client => ({
  name: `the vector store ${id}`,
  policy: 'entered',
  redirects: false,
  call: async ({ upstream }, url) => {
    const open = createOpenStore({
      stores: createVectorStoreRegistry({ hooks: createHooks() }),
      storeSettings: { effective: () => Promise.resolve({ ...settings, api_key: 'key', url }) },
      host: { database: noDatabase, clock: createFakeClock({ skipSleeps: true }), log: silentLog },
      upstream,
    });
    return (await open(id)).list();
  },
});

const clients: readonly Client[] = [
  ...['openai', 'openrouter', 'deepseek', 'xai', 'ollama', 'claude', 'google'].map((id) => provider(id)),
  provider('azure', { model: 'a-deployment', api_version: 'v1' }),
  ...['qdrant', 'chroma', 'pinecone'].map((id) => vectorStore(id)),
  {
    name: 'a host that an upstream names',
    policy: 'public',
    redirects: false,
    call: ({ upstream }, url) => upstream.accessTo('https://store.example').fetch(url),
  },
  {
    name: 'a feed',
    policy: 'literal',
    redirects: true,
    call: async ({ http }, url) => {
      for await (const entry of readTaskSource({ kind: 'rss', url }, { host: { http } as never })) return entry;
      return null;
    },
  },
  {
    name: 'a sitemap',
    policy: 'literal',
    redirects: true,
    call: ({ http }, url) => readSitemap({ documents, http, site }, { url, origin: origins.admin }, reading),
  },
  {
    name: 'a page for a knowledge base',
    policy: 'literal',
    redirects: true,
    call: ({ http }, url) => fetchAddress({ http, site }, { url, origin: origins.admin }, signal),
  },
  {
    name: 'a page for a knowledge base that a task found',
    policy: 'public',
    redirects: true,
    call: ({ http }, url) => fetchAddress({ http, site }, { url, origin: origins.task }, signal),
  },
  {
    name: 'a page to write about',
    policy: 'public',
    redirects: true,
    call: ({ http }, url) => fetchSource({ http }, url),
  },
  {
    name: 'an image of a message',
    policy: 'public',
    redirects: true,
    call: ({ http }, url) => {
      const images = createImageAddresses(http);
      images.add(url, 'messages');
      return images.load([], signal).catch((error: unknown) => {
        throw new Error(JSON.stringify((error as RestError).data));
      });
    },
  },
  {
    name: 'an image of a provider',
    policy: 'public',
    redirects: true,
    call: ({ http }, url) =>
      fetchImage(url, { http, settings: { base_url: 'https://api.example.com/v1' }, timeout: 5000 }),
  },
  {
    name: 'the site check',
    policy: 'literal',
    redirects: true,
    call: ({ http }, url) => fetchPage(http, new URL(url), { allowInternal: false }),
  },
  {
    name: 'the site check of a private network',
    policy: 'entered',
    redirects: false,
    call: ({ http }, url) => fetchPage(http, new URL(url), { allowInternal: true }),
  },
];

/** What a call was refused with, as JSON with causes, so that a refusal is found wherever it is said. */
function describeOutcome(outcome: unknown): string {
  const parts: string[] = [];
  for (let error = outcome; error !== undefined && error !== null && parts.length < 8;) {
    parts.push(
      error instanceof Error
        ? `${error.message} ${outboundReason(error) ?? ''} ${String((error as { code?: unknown }).code)}`
        : JSON.stringify(error),
    );
    error = error instanceof Error ? error.cause : null;
  }
  return parts.join(' <- ');
}

describe('outbound calls of the service', () => {
  let traps: Receiver[];
  let first: Receiver;
  let opened: Site;
  let watch: ConnectionWatch;

  before(async () => {
    traps = [await openReceiver('127.0.0.1'), await openReceiver('::1')];
    first = await openReceiver();
  });
  after(async () => {
    for (const receiver of [...traps, first]) await receiver.close();
  });
  beforeEach(() => {
    const http = openOutbound({ ...names, 'first.example': ['127.0.0.1'] });
    opened = { http, upstream: createUpstreamHttp({ http }) };
  });
  afterEach(async () => {
    await opened.upstream.close();
    await opened.http.close();
  });

  async function outcomeOf(client: Client, url: string): Promise<unknown> {
    return client.call(opened, url).catch((error: unknown) => error);
  }

  /** @param expected ports that may be connected to */
  async function expectRefusals(
    client: Client,
    urls: readonly string[],
    expected: readonly string[] = [],
  ): Promise<void> {
    for (const url of urls) {
      watch = watchConnections();
      const outcome = await outcomeOf(client, url).finally(() => watch.stop());
      expect(
        watch.ports.filter((port) => !expected.includes(port)),
        `connections for ${url}`,
      ).to.deep.equal([]);
      expect(describeOutcome(outcome), url).to.match(
        /not a public address|is not public|could not be fetched|metadata service|is not an address|cannot be resolved|could not be found|not found|connection failed|[Ii]nvalid URL|Too many redirects|redirects to one/,
      );
    }
    for (const trap of traps) expect(trap.connections(), 'connections to a trap').to.equal(0);
  }

  for (const client of clients) {
    describe(client.name, () => {
      const urlOf = (host: string): string => `http://${host}:${String(traps[0]?.port)}/`;

      it('opens no connection to an address that is never called', async function () {
        this.timeout(60_000);
        await expectRefusals(client, [...forbiddenHosts, ...Object.keys(forbiddenNames)].map(urlOf));
      });

      if (client.policy !== 'entered')
        it('opens no connection to a name of a private address', async () => {
          await expectRefusals(client, Object.keys(privateNames).map(urlOf));
        });

      if (client.policy === 'public')
        it('tells neither internal names nor open ports', async () => {
          const open = `http://127.0.0.1:${String(first.port)}/`;
          const told = new Set<string>();
          for (const url of [...Object.keys(privateNames), 'absent.example', 'refused.example'].map(urlOf)) {
            const outcome = await outcomeOf(client, url);
            told.add(outcome instanceof Error ? outcome.message.replaceAll(url, 'URL') : '');
          }
          expect([...told]).to.have.length(1);
          expect([...told][0]).to.match(/could not be fetched|may not be called|fetch failed/);
          const literal = await outcomeOf(client, open);
          expect(String(literal))
            .to.match(/is not public|may not be called|fetch failed/)
            .and.not.include('loopback');
        });

      if (client.policy === 'public')
        it('opens no connection to a private address', async () => {
          await expectRefusals(client, literalHosts.map(urlOf));
        });

      if (client.redirects && client.policy === 'literal')
        it('follows no redirect to any of them', async function () {
          this.timeout(60_000);
          for (const host of [...literalHosts, ...Object.keys(names)]) {
            first.answer = (_request, response) =>
              void response
                .writeHead(307, { location: Buffer.from(`//${host}:${String(traps[0]?.port)}/`).toString('latin1') })
                .end();
            await expectRefusals(client, [`http://127.0.0.1:${String(first.port)}/`], [String(first.port)]);
          }
        });

      if (client.policy !== 'public')
        it('reaches the private address that was entered', async () => {
          const before = first.connections();
          first.answer = (_request, response) => void response.writeHead(404).end('not found');
          const host = client.policy === 'entered' ? 'first.example' : '127.0.0.1';
          await outcomeOf(client, `http://${host}:${String(first.port)}/`);
          expect(first.connections()).to.be.greaterThan(before);
        });
    });
  }

  it('of a store goes to the private host that was entered on every port, and to no other', async () => {
    first.answer = (_request, response) => void response.end('{}');
    const access = opened.upstream.accessTo('http://127.0.0.1:1');
    expect((await access.fetch(`http://127.0.0.1:${String(first.port)}/`)).status).to.equal(200);
    const elsewhere = await access.fetch(`http://localhost:${String(first.port)}/`).catch((error: unknown) => error);
    expect(describeOutcome(elsewhere)).to.match(/outbound_(refused|dns)/);
    expect(opened.upstream.accessTo('http://127.0.0.1:2').fetch).to.equal(access.fetch);
  });
});
