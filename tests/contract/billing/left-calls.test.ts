import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createSystemClock } from '../../../host/clock.ts';
import type { TestHost } from '#testing';
import { describeHosts } from '../../helpers/dialects.ts';
import { createMigratedHost } from '../../helpers/migrated.ts';
import { until } from '../../helpers/until.ts';
import { restKey } from '../service.ts';

type Members = Readonly<Record<string, unknown>>;

const messages = [{ role: 'user', content: 'Hello' }];
const chat = { model: 'deepseek/m', messages };
const longest = 9_000;

interface Door {
  readonly path: string;
  readonly body: Members;
  readonly limit: Members;
}

const chatDoor: Door = {
  path: 'svc-openai/v1/chat/completions',
  body: chat,
  limit: { max_completion_tokens: longest },
};
/** Requests that the vendor answers whole. */
const doors: Readonly<Record<string, Door>> = {
  'chat/completions': chatDoor,
  'chat/completions with max_tokens': { ...chatDoor, limit: { max_completion_tokens: 5, max_tokens: longest } },
  messages: {
    path: 'svc-anthropic/v1/messages',
    body: { model: 'claude/m', messages },
    limit: { max_tokens: longest },
  },
  responses: {
    path: 'svc-openai/v1/responses',
    body: { model: 'openai/m', input: 'Hello' },
    limit: { max_output_tokens: longest },
  },
  generate: {
    path: 'svc/v1/generate',
    body: { provider: 'deepseek', model: 'm', messages },
    limit: { ai_params: { max_completion_tokens: longest } },
  },
};

/** Those that the vendor streams. */
const streamed: Readonly<Record<string, Door>> = {
  'chat/completions, streamed': { ...chatDoor, body: { ...chat, stream: true } },
  'messages, streamed': {
    path: 'svc-anthropic/v1/messages',
    body: { model: 'claude/m', messages, stream: true },
    limit: { max_tokens: longest },
  },
  'responses, streamed': {
    path: 'svc-openai/v1/responses',
    body: { model: 'openai/m', input: 'Hello', stream: true },
    limit: { max_output_tokens: longest },
  },
};

const piece = { choices: [{ index: 0, delta: { role: 'assistant', content: 'Paris is a town.' } }] };

describeHosts('calls that end before their response is read', ({ location }) => {
  let host: TestHost;
  let vendor: Awaited<ReturnType<typeof startVendor>>;
  beforeEach(async function () {
    this.timeout(60_000);
    const { databaseUrl, dataDir } = location();
    vendor = await startVendor();
    host = await createMigratedHost({ plugins: ['svc'], clock: createSystemClock(), database: databaseUrl ?? dataDir });
    host.hooks.addFilter('svc_provider_settings', (saved: Members, id: string) => ({
      ...saved,
      ...{ api_key: 'k', base_url: id === 'claude' ? vendor.origin : `${vendor.origin}/v1` },
      ...(id === 'openai' && { api: 'responses' }),
    }));
    await host.options.update('svc_api_key', host.secrets.encrypt(restKey));
    const price = { model: '*', input: 0.1, output: 0.6 };
    await host.options.update(
      'svc_prices',
      ['deepseek', 'claude', 'openai'].map((provider) => ({ provider, ...price })),
    );
  });
  afterEach(async () => {
    await host.stop();
    vendor.stop();
  });

  const setBudget = async (amount: number): Promise<void> => {
    const budget = { id: 'cents', name: 'Cents', unit: 'dollars', amount };
    const { code, err } = await host.cli('svc', 'budget', 'set', JSON.stringify(budget));
    expect(code, err).to.equal(0);
  };
  const rows = async () => (await host.database.knex('svc_usage').orderBy('id')) as Record<string, unknown>[];
  const used = async (): Promise<Members> => (await host.database.knex('svc_budget_counters'))[0] as Members;
  const post = ({ path, body, limit }: Door, signal?: AbortSignal): Promise<Response> =>
    host.fetch(`/wp-json/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${restKey}` },
      body: JSON.stringify({ ...body, ...limit }),
      ...(signal && { signal }),
    });
  /** Closes the connection when the vendor has the request. Returns the status if there was a response before. */
  const leave = async (door: Door): Promise<number | null> => {
    const gone = new AbortController();
    const before = (await rows()).length;
    vendor.respond = () => gone.abort();
    try {
      const response = await post(door, gone.signal);
      await response.text();
      return response.status;
    } catch (error) {
      if (!gone.signal.aborted) throw error;
    }
    await until('the record of the call', async () => (await rows()).length === before + 1);
    return null;
  };

  it('use up a budget of dollars at each door, if their client leaves', async function () {
    this.timeout(120_000);
    for (const [name, door] of Object.entries(doors)) {
      for (const table of ['svc_budget_counters', 'svc_usage_days', 'svc_usage'])
        await host.database.knex(table).delete();
      await setBudget(0.02);
      vendor.received = 0;
      const statuses = [];
      for (let call = 0; call < 6; call += 1) statuses.push(await leave(door));
      expect(statuses, name).to.deep.equal([null, null, null, 429, 429, 429]);
      expect(vendor.received, name).to.equal(3);
      for (const row of await rows()) {
        expect(Number(row['output_tokens']), name).to.equal(longest);
        expect(Number(row['input_tokens']), name).to.be.greaterThan(0);
      }
      const { used: sum, reserved } = await used();
      expect(Number(sum), name).to.be.within(3 * 5_400, 20_000);
      expect(Number(reserved), name).to.equal(0);
    }
  });

  it('cost the response that was assumed, if they set no limit', async () => {
    await setBudget(1);
    expect(await leave({ ...chatDoor, limit: {} })).to.equal(null);
    expect(Number((await rows())[0]?.['output_tokens'])).to.equal(4_096);
  });

  it('cost what the time allowed, if a stream wrote nothing', async () => {
    await setBudget(1);
    for (const [name, door] of Object.entries(streamed)) {
      await host.database.knex('svc_usage').delete();
      expect(await leave({ ...door, limit: { [Object.keys(door.limit)[0]!]: 1_000_000 } }), name).to.equal(null);
      expect(Number((await rows())[0]?.['output_tokens']), name).to.be.within(1, 100_000);
    }
  });

  it('cost what was written, if a stream wrote something', async () => {
    await setBudget(1);
    const gone = new AbortController();
    vendor.respond = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify(piece)}\n\n`);
    };
    const response = await post(streamed['chat/completions, streamed']!, gone.signal);
    let text = '';
    const decoder = new TextDecoder();
    try {
      for await (const part of response.body!) {
        text += decoder.decode(part as Uint8Array, { stream: true });
        if (text.includes('Paris')) gone.abort();
      }
    } catch (error) {
      if (!gone.signal.aborted) throw error;
    }
    await until('the record of the call', async () => (await rows()).length === 1);
    expect(Number((await rows())[0]?.['output_tokens'])).to.be.within(4, 8);
  });

  it('cost their estimate for each connection that is cut, and nothing for what the vendor refused or never got', async () => {
    await setBudget(1);
    vendor.respond = (response) => response.socket?.destroy();
    expect((await post(chatDoor)).ok).to.equal(false);
    const { used: sum } = await used();
    const [row] = await rows();
    expect([vendor.received, Number(row?.['output_tokens'])]).to.deep.equal([3, 3 * longest]);
    vendor.respond = (response) => void response.writeHead(400).end('{}');
    expect((await post(chatDoor)).status).to.equal(400);
    vendor.stop();
    expect((await post(chatDoor)).ok).to.equal(false);
    expect(Number((await used())['used'])).to.equal(Number(sum));
  });
});

/** A vendor that does with each request what the test says. */
async function startVendor() {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      vendor.received += 1;
      vendor.respond(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const vendor = {
    origin: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    received: 0,
    respond: (_response: ServerResponse): void => undefined,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
  return vendor;
}
