import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { createHooks } from '../../host/hooks/hooks.ts';
import { fakeProviders } from '../../plugins/sandbox/fakes.ts';
import { textFeatures } from '../../plugins/svc/kit/tools.ts';
import type { Provider } from '../../plugins/svc/providers/provider.ts';
import { createProviderRegistry } from '../../plugins/svc/providers/registry.ts';
import { upstreams } from '../conformance/upstreams.ts';
import { openSandbox, type OpenSandbox } from '../sandbox/helpers/open-sandbox.ts';
import { startDoor, type Door } from './openai-door.ts';
import {
  coveredFeatures,
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
  });
});
