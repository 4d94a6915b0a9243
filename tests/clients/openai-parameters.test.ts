import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { createHooks } from '../../host/hooks/hooks.ts';
import { fakeProviders } from '../../plugins/sandbox/fakes.ts';
import { textFeatures } from '../../plugins/svc/kit/tools.ts';
import { openAiParameters } from '../../plugins/svc/modules/openai/openai.routes.ts';
import type { Provider } from '../../plugins/svc/providers/provider.ts';
import { createProviderRegistry } from '../../plugins/svc/providers/registry.ts';
import { upstreams } from '../conformance/upstreams.ts';
import { openSandbox, type OpenSandbox } from '../sandbox/helpers/open-sandbox.ts';
import { startDoor, type Door } from './openai-door.ts';
import {
  coveredFeatures,
  ownParameters,
  parameterCases,
  sampleModels,
  type ParameterCase,
  type Treatment,
} from './openai-parameters.ts';

type Members = Readonly<Record<string, unknown>>;

const paths = { chat: '/chat/completions', embeddings: '/embeddings', images: '/images/generations' } as const;
const basics = {
  chat: { messages: [{ role: 'user', content: 'Say hello.' }] },
  embeddings: { input: 'One.' },
  images: { prompt: 'A lighthouse' },
} as const;

/** Between the service and the sandbox: remembers the bodies of requests. */
interface Recorder {
  readonly url: string;
  readonly bodies: Members[];
  stop(): void;
}

async function startRecorder(target: string): Promise<Recorder> {
  const bodies: Members[] = [];
  const server: Server = createServer((request: IncomingMessage, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString();
      if (body !== '') bodies.push(JSON.parse(body) as Members);
      const { host: _host, 'content-length': _length, connection: _connection, ...headers } = request.headers;
      const method = request.method ?? 'GET';
      const init = { method, headers: headers as Record<string, string>, ...(body !== '' && { body }) };
      void fetch(`${target}${request.url ?? ''}`, init).then(async (answer) => {
        response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
        response.end(await answer.text());
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    bodies,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function withoutNewer({ tools, output_config: _config, ...body }: Members): Members {
  if (!Array.isArray(tools)) return body;
  return { ...body, tools: (tools as Members[]).map(({ strict: _strict, ...tool }) => tool) };
}

/** Where OpenAI's description has the parameters of a route. */
const officialRequests = {
  chat: ['openai-requests.json', 'CreateChatCompletionRequest'],
  embeddings: ['openai-embeddings.json', 'CreateEmbeddingRequest'],
  images: ['openai-images.json', 'CreateImageRequest'],
} as const;

/** Names of the members of an object in a description, those that it takes from others included. */
function officialMembers(file: string, name: string): string[] {
  const path = join(import.meta.dirname, '../specs', file);
  const { $defs: definitions } = JSON.parse(readFileSync(path, 'utf8')) as { $defs: Record<string, Members> };
  const read = (schema: Members): string[] => {
    const target = typeof schema['$ref'] === 'string' ? definitions[schema['$ref'].split('/').at(-1) ?? ''] : undefined;
    const parts = (schema['allOf'] ?? []) as Members[];
    return [...Object.keys(schema['properties'] ?? {}), ...[...parts, ...(target ? [target] : [])].flatMap(read)];
  };
  return read(definitions[name] ?? {});
}

describe('parameters of the OpenAI-compatible routes', () => {
  let door: Door;
  let sandbox: OpenSandbox;
  let recorder: Recorder;
  let providers: readonly Provider[];
  before(async () => {
    [door, sandbox] = await Promise.all([startDoor(), openSandbox()]);
    recorder = await startRecorder(sandbox.url);
    providers = createProviderRegistry({ hooks: createHooks() }).all();
    door.host.hooks.addFilter(
      'svc_provider_settings',
      (settings: Readonly<Record<string, unknown>>, id: string) => ({
        ...settings,
        ...fakeProviders.find((fake) => fake.id === id)?.settings(`${recorder.url}/${id}`, {}),
      }),
      99,
    );
  });
  after(async () => {
    await door.host.stop();
    recorder.stop();
    await sandbox.close();
  });

  /** What really happens to a parameter. */
  async function observe(id: string, { name, route, body }: ParameterCase): Promise<Treatment> {
    const model = sampleModels[id]?.[route];
    if (model === undefined) return '–';
    const before = recorder.bodies.length;
    const response = await door.send(paths[route], { model: `${id}/${model}`, ...basics[route], ...body });
    if (response.status === 400) {
      const { error } = response.body as { error: { param: string; message: string } };
      expect(recorder.bodies.length, `${id} ${name}: refused before a call`).to.equal(before);
      expect(error.param).to.equal(name);
      expect(error.message).to.contain(name);
      return 'refused';
    }
    expect(response.status, JSON.stringify(response.body)).to.equal(200);
    const sent = recorder.bodies.at(-1) ?? {};
    checkBody(id, route, sent);
    const plain = await plainBody(id, route);
    const given = Object.entries(body);
    const places = [sent, (sent['generationConfig'] ?? {}) as Members];
    if (places.some((place) => given.every(([key, value]) => isDeepStrictEqual(place[key], value)))) return 'honored';
    if (response.headers.get('x-svc-ignored-params')?.split(', ').includes(name) === true) return 'left out';
    expect(sent, `${id} ${name}: nothing is dropped in silence`).not.to.deep.equal(plain);
    return 'translated';
  }

  const plain = new Map<string, Members>();
  async function plainBody(id: string, route: ParameterCase['route']): Promise<Members> {
    const key = `${id} ${route}`;
    if (!plain.has(key)) {
      await door.send(paths[route], { model: `${id}/${sampleModels[id]?.[route] ?? ''}`, ...basics[route] });
      plain.set(key, recorder.bodies.at(-1) ?? {});
    }
    return plain.get(key) ?? {};
  }

  /** Against the official description of the upstream. */
  function checkBody(id: string, route: ParameterCase['route'], body: Members): void {
    const { valid } = upstreams.find((upstream) => upstream.id === id)!;
    // Newer than the copy of Anthropic's description.
    const known = id === 'claude' ? withoutNewer(body) : body;
    if (route === 'chat') expect(valid(known), `${id} ${JSON.stringify(valid.errors)}`).to.equal(true);
  }

  for (const { id, label } of fakeProviders)
    it(`are treated by ${label} as the table says`, async () => {
      const provider = providers.find((one) => one.id === id)!;
      for (const one of parameterCases)
        expect(await observe(id, one), `${id} ${one.route} ${one.name}`).to.equal(one.treatment(provider));
    });

  it('are all in the table', () => {
    expect(textFeatures.filter((feature) => !coveredFeatures.includes(feature))).to.deep.equal([]);
    for (const route of ['chat', 'embeddings', 'images'] as const) {
      const listed = parameterCases.filter((one) => one.route === route).map((one) => one.name.split('.')[0]);
      const known = new Set([...ownParameters[route], ...listed]);
      const [file, name] = officialRequests[route];
      const official = officialMembers(file, name);
      expect(official, route).to.include.members(['model', 'user']);
      expect([...official, ...openAiParameters[route]].filter((one) => !known.has(one))).to.deep.equal([], route);
    }
  });

  it('are refused where a message, a tool or a format has a member that no model gets', async () => {
    const hello = { type: 'text', text: 'Hello' };
    const tool = { type: 'function', function: { name: 'find' } };
    const choice = { type: 'function', function: { name: 'find' } };
    const called = { id: 'a', type: 'function', function: { name: 'find', arguments: '{}' } };
    const answered = { role: 'tool', tool_call_id: 'a', content: 'Found' };
    const user = (content: unknown) => [{ role: 'user', content }];
    const assistant = (call: object) => [...user('Hello'), { role: 'assistant', tool_calls: [call] }, answered];
    const before = recorder.bodies.length;
    for (const [param, body] of [
      ['messages[0].weight', { messages: [{ role: 'assistant', content: 'Hello', weight: 1 }] }],
      ['messages[0].audio', { messages: [{ role: 'assistant', content: 'Hello', audio: { id: 'a' } }] }],
      ['messages[0].function_call', { messages: [{ role: 'assistant', function_call: { name: 'find' } }] }],
      [
        'messages[0].content[0].prompt_cache_breakpoint',
        { messages: user([{ ...hello, prompt_cache_breakpoint: {} }]) },
      ],
      ['messages[0].content[0].type', { messages: user([{ type: 'file', file: { file_id: 'a' } }]) }],
      [
        'messages[0].content[0].prompt_cache_breakpoint',
        { messages: user([{ type: 'image_url', image_url: { url: 'data:,' }, prompt_cache_breakpoint: {} }]) },
      ],
      [
        'messages[0].content[0].image_url.format',
        { messages: user([{ type: 'image_url', image_url: { url: 'data:,', format: 'a' } }]) },
      ],
      ['messages[1].tool_calls[0].custom', { messages: assistant({ ...called, custom: {} }) }],
      [
        'messages[1].tool_calls[0].function.x',
        { messages: assistant({ ...called, function: { ...called.function, x: 1 } }) },
      ],
      ['stream_options.x', { stream: true, stream_options: { x: true } }],
      ['tools[0].type', { tools: [{ type: 'custom', custom: { name: 'find' } }] }],
      ['tools[0].cache_control', { tools: [{ ...tool, cache_control: {} }] }],
      ['tools[0].function.examples', { tools: [{ ...tool, function: { ...tool.function, examples: [] } }] }],
      ['tool_choice', { tools: [tool], tool_choice: { type: 'allowed_tools', allowed_tools: {} } }],
      ['tool_choice.mode', { tools: [tool], tool_choice: { ...choice, mode: 'auto' } }],
      [
        'tool_choice.function.x',
        { tools: [tool], tool_choice: { type: 'function', function: { name: 'find', x: 1 } } },
      ],
      ['response_format.schema', { response_format: { type: 'json_object', schema: {} } }],
      [
        'response_format.json_schema.x',
        { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: {}, x: 1 } } },
      ],
    ] as const) {
      const response = await door.send('/chat/completions', { model: 'google/g', ...basics.chat, ...body });
      expect(response.status, param).to.equal(400);
      expect((response.body as { error: { param: string } }).error.param).to.equal(param);
    }
    expect(recorder.bodies.length).to.equal(before);
    const kept = { ...called, index: 0, function: { ...called.function, parsed_arguments: {} } };
    const body = { model: 'google/gemini-2.5-flash', messages: assistant(kept), tools: [tool] };
    expect((await door.send('/chat/completions', body)).status).to.equal(200);
  });
});
