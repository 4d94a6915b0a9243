import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createSystemClock } from '../../../host/clock.ts';
import type { TestHost } from '#testing';
import { describeHosts } from '../../helpers/dialects.ts';
import { createMigratedHost } from '../../helpers/migrated.ts';
import { until } from '../../helpers/until.ts';
import { restKey } from '../service.ts';

type Members = Readonly<Record<string, unknown>>;
type Door = keyof typeof doors;

/** By route: a vendor with its format, the smallest request, and the response. */
const doors = {
  'svc-openai/v1/chat/completions': {
    least: { model: 'deepseek/m', max_tokens: 50, messages: [{ role: 'user', content: 'Hello' }] },
    response: (input: number) => ({
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: input, completion_tokens: 2, total_tokens: input + 2 },
    }),
  },
  'svc-openai/v1/responses': {
    least: { model: 'openai/m', max_output_tokens: 50, input: [{ role: 'user', content: 'Hello' }] },
    response: (input: number) => ({
      ...{ id: 'resp_1', object: 'response', status: 'completed', error: null, incomplete_details: null },
      output: [
        {
          ...{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' },
          content: [{ type: 'output_text', text: 'Hi.', annotations: [] }],
        },
      ],
      usage: { input_tokens: input, output_tokens: 2, total_tokens: input + 2 },
    }),
  },
  'svc-anthropic/v1/messages': {
    least: { model: 'claude/m', max_tokens: 50, messages: [{ role: 'user', content: 'Hello' }] },
    response: (input: number) => ({
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null },
      content: [{ type: 'text', text: 'Hi.' }],
      usage: { input_tokens: input, output_tokens: 2 },
    }),
  },
} as const;

/** Names a member of the body with a text where only the vendor reads it. */
type Hide = (text: string) => Members;

const chatWith = (...messages: readonly object[]): Members => ({ messages });
const claudeWith = (block: object): Members => ({ messages: [{ role: 'user', content: [block] }] });
const inputWith = (item: object): Members => ({ input: [{ role: 'user', content: 'Hello' }, item] });
const schemaWith = (description: string): object => ({
  type: 'object',
  properties: { town: { type: 'string', description } },
});
const named = (text: string): object => ({ [text]: 1 });
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const hidden: Readonly<Record<Door, Readonly<Record<string, Hide>>>> = {
  'svc-openai/v1/chat/completions': {
    'a text': (text) => chatWith({ role: 'user', content: text }),
    'a text beside an unknown member': (text) => ({ ...chatWith({ role: 'user', content: text }), x: 1 }),
    'a text that begins with data:': (text) => ({
      ...chatWith({ role: 'user', content: `data:${text}` }),
      x: 1,
    }),
    'a text that is base64': (text) => chatWith({ role: 'user', content: `data:text/plain;base64,${base64(text)}` }),
    'an unknown member': (text) => ({ x: { data: text } }),
    'the name of a member': (text) => ({ x: named(text) }),
    'a number of members': (text) => ({ x: Array.from(text.slice(0, 20_000), () => 1.5) }),
    'a file': (text) =>
      chatWith({
        role: 'user',
        content: [{ type: 'file', file: { file_data: `data:text/plain;base64,${base64(text)}` } }],
      }),
    'an image that is none': (text) =>
      chatWith({ role: 'user', content: [{ type: 'image_url', image_url: { url: `data:image/png,${text}` } }] }),
    'the schema of a tool': (text) => ({
      tools: [{ type: 'function', function: { name: 'f', parameters: schemaWith(text) } }],
    }),
    'what the model thought': (text) =>
      chatWith({ role: 'user', content: 'Hello' }, { role: 'assistant', content: 'Hi', reasoning_content: text }),
  },
  'svc-openai/v1/responses': {
    instructions: (text) => ({ instructions: text }),
    'a file': (text) =>
      inputWith({
        role: 'user',
        content: [{ type: 'input_file', filename: 'a.txt', file_data: `data:text/plain;base64,${base64(text)}` }],
      }),
    'the output of a custom tool': (text) => inputWith({ type: 'custom_tool_call_output', call_id: 'c', output: text }),
    'the description of a custom tool': (text) => ({ tools: [{ type: 'custom', name: 't', description: text }] }),
    'an item of another kind': (text) => inputWith({ type: 'shell_call_output', output: [{ stdout: text }] }),
  },
  'svc-anthropic/v1/messages': {
    'the system text': (text) => ({ system: [{ type: 'text', text }] }),
    'a document with a text': (text) =>
      claudeWith({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: text } }),
    'a document with bytes': (text) =>
      claudeWith({
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: base64(text) },
      }),
    'a search result': (text) =>
      claudeWith({ type: 'search_result', source: 'a', title: 'b', content: [{ type: 'text', text }] }),
    'the description of a tool': (text) => ({
      tools: [{ name: 't', description: text, input_schema: { type: 'object' } }],
    }),
    'the schema of a tool': (text) => ({ tools: [{ name: 't', input_schema: schemaWith(text) }] }),
  },
};

const words = 'The quick brown fox jumps over the lazy dog. ';
const budget = 5_000;

describeHosts('requests in the format of their vendor, by all that the vendor gets,', ({ location }) => {
  let host: TestHost;
  let vendor: Awaited<ReturnType<typeof startVendor>>;
  beforeEach(async function () {
    this.timeout(60_000);
    const { databaseUrl, dataDir } = location();
    vendor = await startVendor();
    host = await createMigratedHost({
      plugins: ['svc'],
      clock: createSystemClock(),
      database: databaseUrl ?? dataDir,
    });
    host.hooks.addFilter('svc_provider_settings', (saved: Members, id: string) => ({
      ...saved,
      ...{ api_key: 'k', base_url: id === 'claude' ? vendor.origin : `${vendor.origin}/v1` },
      ...(id === 'openai' && { api: 'responses' }),
    }));
    await host.options.update('svc_api_key', host.secrets.encrypt(restKey));
  });
  afterEach(async () => {
    await host.stop();
    vendor.stop();
  });

  const setBudget = async (): Promise<void> => {
    const given = { id: 'tokens', name: 'Tokens', unit: 'tokens', amount: budget };
    const { code, err } = await host.cli('svc', 'budget', 'set', JSON.stringify(given));
    expect(code, err).to.equal(0);
  };
  const post = async (door: Door, members: Members, signal?: AbortSignal) => {
    const response = await host.fetch(`/wp-json/${door}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${restKey}` },
      body: JSON.stringify({ ...doors[door].least, ...members }),
      ...(signal && { signal }),
    });
    return { status: response.status, text: await response.text() };
  };
  /** Of each call in the ledger, where rows come later. */
  const inputTokens = async (calls: number): Promise<number[]> => {
    await until('the records of all calls', async () => (await readInputTokens()).length === calls);
    return readInputTokens();
  };
  const readInputTokens = async (): Promise<number[]> =>
    (await host.database.knex('svc_usage').select('input_tokens').orderBy('id')).map((row) =>
      Number(row['input_tokens']),
    );

  it('are refused under a budget that they exceed, wherever the text is', async function () {
    this.timeout(120_000);
    await setBudget();
    for (const door of Object.keys(doors) as Door[])
      for (const [where, hide] of Object.entries(hidden[door])) {
        // Longer texts were taken for files.
        const text = words.repeat(where.includes('unknown') ? 10_000 : 1_000);
        const { status, text: body } = await post(door, hide(text));
        expect([status, vendor.received.length], `${door}: ${where}: ${body}`).to.deep.equal([429, 0]);
        expect(body).to.include('The budget “Tokens” is used up');
      }
  });

  it('count an image as one, whatever its bytes', async () => {
    await setBudget();
    const data = 'A'.repeat(300_000);
    const url = `data:image/png;base64,${data}`;
    const images: Readonly<Record<Door, Members>> = {
      'svc-openai/v1/chat/completions': {
        ...chatWith({ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }),
        x: 1,
      },
      'svc-openai/v1/responses': inputWith({ role: 'user', content: [{ type: 'input_image', image_url: url }] }),
      'svc-anthropic/v1/messages': claudeWith({
        type: 'image',
        source: { type: 'base64', media_type: 'image/png', data },
      }),
    };
    for (const door of Object.keys(doors) as Door[]) {
      const { status, text } = await post(door, images[door]);
      expect(status, text).to.equal(200);
    }
  });

  it('do not exceed a budget if 20 come at once', async function () {
    this.timeout(120_000);
    await setBudget();
    const each = words.repeat(100);
    const sent = (Object.keys(doors) as Door[]).flatMap((door) =>
      Array.from({ length: 20 }, (_, index) => {
        const ways = Object.values(hidden[door]);
        return post(door, ways[index % ways.length]!(each));
      }),
    );
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    expect(new Set(statuses)).to.deep.equal(new Set([200, 429]));
    const calls = statuses.filter((status) => status === 200).length;
    expect(vendor.received.length).to.equal(calls);
    const billed = (await inputTokens(calls)).reduce((sum, tokens) => sum + tokens, 0);
    expect(billed).to.be.within(1, budget);
  });

  it('are counted whole if the vendor reports nothing', async function () {
    this.timeout(120_000);
    vendor.reportsUsage = false;
    const calls = Object.entries(hidden).flatMap(([door, ways]) =>
      Object.values(ways).map((hide) => post(door as Door, hide(words.repeat(1_000)))),
    );
    for (const { status, text } of await Promise.all(calls)) expect(status, text).to.equal(200);
    expect(Math.min(...(await inputTokens(calls.length)))).to.be.greaterThan(10_000);
  });

  it('are counted whole if their client leaves', async function () {
    this.timeout(120_000);
    const gone = new AbortController();
    const ways = Object.entries(hidden).flatMap(([door, each]) =>
      Object.values(each).map((hide) => ({ door: door as Door, hide })),
    );
    vendor.onRequest = () => {
      if (vendor.received.length === ways.length) gone.abort();
    };
    const calls = ways.map(({ door, hide }) => post(door, hide(words.repeat(1_000)), gone.signal));
    for (const { status } of await Promise.allSettled(calls)) expect(status).to.equal('rejected');
    expect(Math.min(...(await inputTokens(ways.length)))).to.be.greaterThan(10_000);
  });
});

/** A vendor with three formats, which counts the words that it gets, and no images. */
async function startVendor() {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString();
      vendor.received.push(body);
      if (vendor.onRequest !== null) return vendor.onRequest();
      const door = (Object.keys(doors) as Door[]).find((one) => request.url?.endsWith(one.slice(one.indexOf('v1'))));
      const input = vendor.reportsUsage ? Math.ceil(body.replace(/A{1000,}/, '').length / words.length) * 10 : 0;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ model: 'm', ...doors[door!].response(input) }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const vendor = {
    origin: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    received: [] as string[],
    reportsUsage: true,
    /** Called instead of a response. */
    onRequest: null as (() => void) | null,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
  return vendor;
}
