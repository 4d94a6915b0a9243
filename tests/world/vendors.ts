import { startConnectProxy } from '../helpers/connect-proxy.ts';
import { readRows } from './data.ts';
import { createMeasure, type Kind, type Measure, type Row } from './measure.ts';
import { startWorldSite, type WorldSite } from './site.ts';
import { compareRequests } from './vendors/compare-requests.ts';
import { collapse, compareSaid, compareUsage, differ, type Exchange } from './vendors/exchange.ts';
import { chatFormat, messagesFormat, readEvents, responsesFormat, type Format } from './vendors/read-answers.ts';
import { startVendorServer, type VendorServer } from './vendors/vendor-server.ts';

/* What the vendors' own servers said and were sent, through the doors of the product. */

interface World {
  readonly site: WorldSite;
  readonly server: VendorServer;
}

/** The path that a base URL of the vendor ends with. */
const basePaths: Readonly<Record<string, string>> = {
  openai: '/v1',
  azure: '',
  openrouter: '/api/v1',
  deepseek: '/v1',
  xai: '/v1',
  ollama: '/v1',
  claude: '',
  google: '',
};

/** Vendors that fetch images at their own host alone. A proxy leads these names to the server of the run. */
const hosts: Readonly<Record<string, string>> = {
  openai: 'api.openai.com',
  azure: 'world.openai.azure.com',
  openrouter: 'openrouter.ai',
  xai: 'api.x.ai',
  claude: 'api.anthropic.com',
};

export const kind: Kind = {
  title: 'vendors: what their servers said and were sent',
  async run(folder) {
    const server = await startVendorServer();
    const proxy = await startConnectProxy();
    const { port } = new URL(server.url);
    for (const host of Object.values(hosts)) proxy.names.set(`${host}:${port}`, Number(port));
    const site = await startWorldSite({ HTTP_PROXY: proxy.url, NO_PROXY: '127.0.0.1' });
    try {
      const world = { site, server };
      await site.setProviders(
        Object.fromEntries(
          Object.entries(basePaths).map(([id, path]) => [id, `http://${hosts[id] ?? '127.0.0.1'}:${port}${path}`]),
        ),
      );
      await setInterface(world, 'chat');
      const read = (file: string): Exchange[] => readRows<Exchange>(folder, `${file}.jsonl`);
      const [chat, responses, messages, gemini] = [read('chat'), read('responses'), read('messages'), read('gemini')];
      return [
        await generate(world, 'generate from Chat Completions', chat),
        await generate(world, 'generate from Messages', messages),
        await generate(world, 'generate from Gemini', gemini),
        await answers(world, { name: 'chat/completions from Chat Completions', format: chatFormat }, chat),
        await answers(world, { name: 'chat/completions from Messages', format: chatFormat }, messages),
        await answers(world, { name: 'chat/completions from Gemini', format: chatFormat }, gemini),
        await answers(world, { name: 'messages from Messages', format: messagesFormat }, messages),
        await answers(world, { name: 'messages from Chat Completions', format: messagesFormat }, chat),
        ...(await requests(
          world,
          { format: chatFormat, vendors: ['openai', 'openrouter', 'deepseek', 'ollama'] },
          chat,
        )),
        ...(await requests(world, { format: messagesFormat, vendors: ['claude'] }, messages)),
        await errors(world, [...chat, ...messages, ...gemini, ...read('embeddings'), ...read('gemini-embed')]),
        await embeddings(world, [...read('embeddings'), ...read('gemini-embed')]),
        await images(world, read('images')),
        // Last: from here on OpenAI, Azure and xAI are asked over the Responses API.
        ...(await overResponses(world, responses)),
      ];
    } finally {
      await site.stop();
      await proxy.stop();
      await server.stop();
    }
  },
};

/** Text and usage of whole answers without tool calls, from `POST /generate`. */
async function generate({ site, server }: World, name: string, exchanges: readonly Exchange[]): Promise<Row> {
  const measure = createMeasure(name);
  for (const exchange of exchanges) {
    const { said } = exchange;
    if (!said || exchange.stream || said.text === '' || said.calls.length > 0) continue;
    server.play(exchange);
    const response = await site.call('svc/v1/generate', {
      provider: exchange.vendor,
      model: modelOf(exchange),
      messages: [{ role: 'user', content: 'What do you say?' }],
    });
    const body = (await response.json()) as Generated;
    measure.add(exchange.id, response.ok ? compareGenerated(said, body) : failure(response, body));
  }
  return measure.row();
}

interface Generated {
  readonly content: string;
  readonly usage: Readonly<Record<'input_tokens' | 'output_tokens', number>>;
}

function compareGenerated(said: NonNullable<Exchange['said']>, { content, usage }: Generated): string | null {
  const counted = { in: usage.input_tokens, out: usage.output_tokens };
  return (
    differ('text', collapse(said.text), collapse(content)) ??
    (said.usage ? compareUsage({ in: said.usage.in, out: said.usage.out }, counted) : null)
  );
}

/** Everything that an answer says, from a door of the format, whole or streamed as it was recorded. */
async function answers(
  world: World,
  { name, format }: { readonly name: string; readonly format: Format },
  exchanges: readonly Exchange[],
): Promise<Row> {
  const measure = createMeasure(name);
  for (const exchange of exchanges) {
    if (!exchange.said) continue;
    const tools = [...new Set(exchange.said.calls.map((call) => call.name))];
    const request = format.request(`${exchange.vendor}/${modelOf(exchange)}`, tools);
    await answer(world, measure, { exchange, format, request });
  }
  return measure.row();
}

interface Try {
  readonly exchange: Exchange;
  readonly format: Format;
  readonly request: Readonly<Record<string, unknown>>;
}

async function answer({ site, server }: World, measure: Measure, { exchange, format, request }: Try): Promise<void> {
  server.play(exchange);
  const streamed = exchange.stream && { stream: true, ...(format === chatFormat && withUsage) };
  const response = await site.call(format.path, { ...request, ...streamed });
  const text = await response.text();
  if (!response.ok) return void measure.add(exchange.id, failure(response, text));
  const said = exchange.stream ? format.readStream(readEvents(text)) : format.readWhole(JSON.parse(text));
  measure.add(exchange.id, exchange.said ? compareSaid(exchange.said, said) : null);
}

const withUsage = { stream_options: { include_usage: true } };

/** Recorded requests, sent through the door of their format, as they reach the vendor. */
async function requests(
  { site, server }: World,
  { format, vendors }: { readonly format: Format; readonly vendors: readonly string[] },
  exchanges: readonly Exchange[],
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const vendor of vendors) {
    const measure = createMeasure(`requests of ${format.name} reach ${vendor} as they were sent`);
    for (const exchange of exchanges) {
      const { request } = exchange;
      if (exchange.vendor !== vendor || request === null || exchange.status !== 200) continue;
      server.play(exchange);
      const response = await site.call(format.path, { ...request, model: `${vendor}/${String(request['model'])}` });
      const text = await response.text();
      const received = server.received();
      measure.add(exchange.id, received === null ? failure(response, text) : compareRequests(request, received));
    }
    rows.push(measure.row());
  }
  return rows;
}

/** Errors keep the vendor's status and sentence. */
async function errors({ site, server }: World, exchanges: readonly Exchange[]): Promise<Row> {
  const measure = createMeasure('errors keep status and sentence');
  for (const exchange of exchanges.filter(({ status }) => status >= 400)) {
    server.play(exchange);
    const model = `${exchange.vendor}/${modelOf(exchange)}`;
    const embeds = /embed/i.test(exchange.path);
    const response = embeds
      ? await site.call('svc-openai/v1/embeddings', { model, input: 'Hello' })
      : await site.call(chatFormat.path, chatFormat.request(model, []));
    const text = await response.text();
    const sentence = (exchange.json as { error?: { message?: string } } | undefined)?.error?.message ?? '';
    const kept = collapse(text.replaceAll('\\"', '"')).includes(collapse(sentence).slice(0, 80));
    const status = differ('status', exchange.status, response.status);
    measure.add(exchange.id, status ?? (kept ? null : `"${sentence}" became ${text.slice(0, 160)}`));
  }
  return measure.row();
}

/** Vectors as the vendor gave them. */
async function embeddings({ site, server }: World, exchanges: readonly Exchange[]): Promise<Row> {
  const measure = createMeasure('embeddings');
  for (const exchange of exchanges.filter(({ status }) => status === 200)) {
    server.play(exchange);
    const vectors = vectorsOf(exchange);
    const response = await site.call('svc/v1/embeddings', {
      provider: exchange.vendor,
      model: modelOf(exchange),
      input: vectors.map((_, index) => `text ${index}`),
    });
    const body = (await response.json()) as { readonly embeddings: readonly (readonly number[])[] };
    measure.add(exchange.id, response.ok ? differ('vectors', vectors, body.embeddings) : failure(response, body));
  }
  return measure.row();
}

type Vectors = readonly (readonly number[])[];

function vectorsOf({ json }: Exchange): Vectors {
  const { data, embeddings: list } = json as {
    readonly data?: readonly { readonly embedding: readonly number[] | string }[];
    readonly embeddings?: readonly { readonly values: readonly number[] }[];
  };
  if (list) return list.map(({ values }) => values);
  return (data ?? []).map(({ embedding }) => (typeof embedding === 'string' ? floats(embedding) : embedding));
}

function floats(base64: string): number[] {
  const bytes = Buffer.from(base64, 'base64');
  return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
}

async function images({ site, server }: World, exchanges: readonly Exchange[]): Promise<Row> {
  const measure = createMeasure('images');
  for (const exchange of exchanges) {
    server.play(exchange);
    const { data } = exchange.json as { readonly data: readonly { readonly b64_json: string }[] };
    const body = { prompt: 'An otter', model: 'gpt-image-1', n: data.length, response_format: 'b64_json' };
    const response = await site.call('svc/v1/images/generate', body);
    const answered = (await response.json()) as { readonly images: readonly { readonly b64_json: string }[] };
    const wanted = data.map(({ b64_json: bytes }) => bytes);
    const got = (answered.images ?? []).map(({ b64_json: bytes }) => bytes);
    measure.add(exchange.id, response.ok ? differ('images', wanted, got) : failure(response, answered));
  }
  return measure.row();
}

/** The Responses API as an upstream, and the door of its format. */
async function overResponses(world: World, exchanges: readonly Exchange[]): Promise<Row[]> {
  await setInterface(world, 'responses');
  return [
    await generate(world, 'generate from Responses', exchanges),
    await answers(world, { name: 'chat/completions from Responses', format: chatFormat }, exchanges),
    await answers(world, { name: 'responses from Responses', format: responsesFormat }, exchanges),
    ...(await requests(world, { format: responsesFormat, vendors: ['openai', 'deepseek', 'azure'] }, exchanges)),
  ];
}

/** A product without the setting fails at each exchange that needs it, which is what the figures then say. */
async function setInterface({ site }: World, api: 'chat' | 'responses'): Promise<void> {
  for (const id of ['openai', 'azure', 'xai', 'deepseek', 'openrouter'])
    await site.cli('svc', 'provider', 'set', id, `--api=${api}`).catch(() => '');
}

/** The model that was asked. An answer alone names it; some name none. */
function modelOf({ request, json, path }: Exchange): string {
  const inPath = /models\/([^:/]+)/.exec(path)?.[1];
  const { model } = (request ?? json ?? {}) as { readonly model?: unknown };
  return inPath ?? (typeof model === 'string' ? model : 'any-model');
}

function failure({ status }: Response, body: unknown): string {
  return `status ${status}: ${typeof body === 'string' ? body : JSON.stringify(body)}`;
}
