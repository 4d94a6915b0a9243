import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createFakeClock, type TestHost } from '#testing';
import { describeHosts } from '../../helpers/dialects.ts';
import { createMigratedHost } from '../../helpers/migrated.ts';
import { until } from '../../helpers/until.ts';
import { restKey } from '../service.ts';

interface Reply {
  readonly status?: number;
  readonly body?: unknown;
  /** The connection ends after the request. */
  readonly isCut?: boolean;
}

const prices = [
  { provider: 'openai', model: 'embedded', input: 1000 },
  { provider: 'openai', model: 'tokens', input: 5, image_input: 10, output: 40 },
  { provider: 'openai', model: 'piece', image: 0.04 },
  { provider: 'google', model: 'gemini-2.5-flash-image', input: 0.3, output: 30 },
  { provider: 'google', model: 'gemini-embedding-001', input: 1000 },
];
const imageUsage = { input_tokens: 11, output_tokens: 500, total_tokens: 511 };
const googleUsage = { promptTokenCount: 11, candidatesTokenCount: 500, totalTokenCount: 511 };
const embeddingUsage = { prompt_tokens: 11, total_tokens: 11 };
const large = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(11 * 1_048_576)]);

interface Case {
  readonly title: string;
  readonly route: 'embeddings' | 'images/generate';
  readonly request: Readonly<Record<string, unknown>>;
  readonly reply: Reply;
  /** Of the ledger. Null: an estimate above 0. */
  readonly input: number | null;
  readonly output?: number | null;
  readonly images?: number;
  readonly cost: number | null;
  /** The result is returned in another form. */
  readonly isReturned?: boolean;
  /** Attempts at the provider. */
  readonly times?: number;
}

const vectors = (count: number) => Array.from({ length: count }, (_, index) => ({ index, embedding: [0.5, 1] }));

const cases: readonly Case[] = [
  {
    title: 'embeddings with too few vectors',
    route: 'embeddings',
    request: { provider: 'openai', model: 'embedded', input: ['One', 'Two'] },
    reply: { body: { data: vectors(1), usage: embeddingUsage } },
    input: 11,
    cost: 11_000,
  },
  {
    title: 'embeddings of Google with a vector that is none',
    route: 'embeddings',
    request: { provider: 'google', model: 'gemini-embedding-001', input: 'One' },
    reply: { body: { embeddings: [{ values: 'none' }], usageMetadata: { promptTokenCount: 11 } } },
    input: 11,
    cost: 11_000,
  },
  {
    title: 'embeddings without a usage that cannot be read',
    route: 'embeddings',
    request: { provider: 'openai', model: 'embedded', input: 'A text of some words.' },
    reply: { body: { data: 'none' } },
    input: null,
    cost: null,
  },
  {
    title: 'embeddings whose connection is cut three times',
    route: 'embeddings',
    request: { provider: 'openai', model: 'embedded', input: 'One' },
    reply: { isCut: true },
    input: 3,
    cost: 3000,
    times: 3,
  },
  {
    title: 'embeddings that are refused by status',
    route: 'embeddings',
    request: { provider: 'openai', model: 'embedded', input: 'One' },
    reply: { status: 400, body: { error: { message: 'No.' } } },
    input: 0,
    cost: 0,
  },
  {
    title: 'a response without an image',
    route: 'images/generate',
    request: { provider: 'openai', model: 'tokens', prompt: 'A lamp' },
    reply: { body: { data: [], usage: imageUsage } },
    input: 11,
    output: 500,
    cost: 55 + 20_000,
  },
  {
    title: 'an image that Google’s filter withholds',
    route: 'images/generate',
    request: { provider: 'google', model: 'gemini-2.5-flash-image', prompt: 'A lamp' },
    reply: { body: { candidates: [{ finishReason: 'IMAGE_SAFETY' }], usageMetadata: googleUsage } },
    input: 11,
    output: 500,
    cost: 3.3 + 15_000,
  },
  {
    title: 'an image that may have been made when its connection was cut',
    route: 'images/generate',
    request: { provider: 'openai', model: 'piece', prompt: 'A lamp' },
    reply: { isCut: true },
    input: null,
    output: null,
    images: 3,
    cost: 120_000,
    times: 3,
  },
  {
    title: 'an image that is too large for the media library',
    route: 'images/generate',
    request: { provider: 'openai', model: 'tokens', prompt: 'A lamp', response_format: 'url' },
    reply: { body: { data: [{ b64_json: large.toString('base64') }], usage: imageUsage } },
    input: 11,
    output: 500,
    images: 1,
    cost: 55 + 20_000,
    isReturned: true,
  },
];

describeHosts('calls for other things than texts that fail after they were billed', ({ location }) => {
  let host: TestHost;
  let server: Server;
  let reply: Reply = {};
  let times = 0;
  beforeEach(async function () {
    this.timeout(60_000);
    const { databaseUrl, dataDir } = location();
    server = createServer((request, response) => {
      request.resume().on('end', () => {
        times += 1;
        if (reply.isCut === true) return void request.socket.end();
        response.writeHead(reply.status ?? 200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(reply.body));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    const clock = createFakeClock({ skipSleeps: true });
    host = await createMigratedHost({ plugins: ['svc'], clock, database: databaseUrl ?? dataDir });
    host.hooks.addFilter('svc_provider_settings', (settings: Readonly<Record<string, unknown>>, id: string) => ({
      ...settings,
      api_key: 'test-key-0123456789',
      base_url: id === 'google' ? origin : `${origin}/v1`,
    }));
    await host.options.update('svc_api_key', host.secrets.encrypt(restKey));
    await host.options.update('svc_prices', prices);
    const budget = { id: 'all', name: 'All', unit: 'calls', amount: 1000 };
    await host.cli('svc', 'budget', 'set', JSON.stringify(budget));
  });
  afterEach(async () => {
    await host.stop();
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  });

  it('are in the ledger with what was reported, else with an estimate', async function () {
    this.timeout(60_000);
    let billed = 0;
    for (const { title, route, request, ...expected } of cases) {
      [reply, times] = [expected.reply, 0];
      const response = await host.fetch(`/wp-json/svc/v1/${route}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${restKey}` },
        body: JSON.stringify(request),
      });
      const outcome = [response.ok, times];
      expect(outcome, `${title}: ${(await response.text()).slice(0, 300)}`).to.deep.equal([
        expected.isReturned === true,
        expected.times ?? 1,
      ]);
      const { knex } = host.database;
      const rows = async () => (await knex('svc_usage').orderBy('id', 'desc')) as Record<string, unknown>[];
      await until(title, async () => (await rows()).length === cases.findIndex((one) => one.title === title) + 1);
      const [row] = await rows();
      const figures = {
        input: [row?.['input_tokens'], expected.input],
        output: [row?.['output_tokens'], expected.output === undefined ? 0 : expected.output],
        images: [row?.['images'], expected.images ?? 0],
        cost: [row?.['cost'], expected.cost],
      };
      for (const [name, [got, wanted]] of Object.entries(figures)) {
        if (wanted === null) expect(Number(got), `${title}: ${name}`).to.be.greaterThan(0);
        else expect(Number(got), `${title}: ${name}`).to.equal(wanted);
      }
      if (expected.cost !== 0) billed += 1;
      const [counter] = await knex('svc_budget_counters').select('used');
      expect(Number(counter?.used), title).to.equal(billed);
    }
  });
});
