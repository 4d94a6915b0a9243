import { expect } from 'chai';
import { openUpstreamFetch } from '../helpers/upstream-http.ts';
import type { AiParams } from '../../plugins/svc/kit/ai-params.ts';
import type {
  Provider,
  ProviderConnection,
  ProviderError,
  ProviderSettings,
  TextResult,
} from '../../plugins/svc/providers/provider.ts';
import { createProviderRegistry } from '../../plugins/svc/providers/registry.ts';
import { createHooks } from '../../host/hooks/hooks.ts';
import { createSystemClock } from '../../host/clock.ts';
import { fakeProviders } from '../../plugins/sandbox/fakes.ts';
import { failureOf } from '../helpers/failure-of.ts';
import { silentLog } from '../helpers/silent-log.ts';
import { openSandbox } from './helpers/open-sandbox.ts';
import type { OpenSandbox } from './helpers/open-sandbox.ts';

const everyParam: AiParams = {
  temperature: 0.5,
  max_completion_tokens: 500,
  top_p: 0.9,
  frequency_penalty: 0.5,
  presence_penalty: 0.5,
  stop: ['@@'],
  seed: 7,
  top_k: 40,
  reasoning_effort: 'low',
};

describe("the service's own providers, pointed at the sandbox", () => {
  const { fetch, close } = openUpstreamFetch();
  let sandbox: OpenSandbox;
  let registry: ReturnType<typeof createProviderRegistry>;
  before(async () => {
    sandbox = await openSandbox();
    registry = createProviderRegistry({ hooks: createHooks() });
  });
  after(async () => {
    await close();
    await sandbox.close();
  });
  afterEach(() => {
    sandbox.turn({});
  });

  it('are the providers that have a stand-in', () => {
    expect(fakeProviders.map(({ id }) => id)).to.have.members(registry.all().map(({ id }) => id));
    expect(fakeProviders.map(({ label }) => label)).to.have.members(registry.all().map(({ label }) => label));
  });

  for (const wire of fakeProviders) {
    for (const version of wire.id === 'azure' ? ['v1', '2024-10-21'] : [undefined]) {
      describe([wire.id, version].join(' ').trim(), () => {
        const provider = (): Provider => registry.get(wire.id)!;
        const connection = (settings: ProviderSettings = {}): ProviderConnection => ({
          settings: {
            ...wire.settings(`${sandbox.url}/${wire.id}`, { ...(version !== undefined && { api_version: version }) }),
            ...settings,
          },
          fetch,
          clock: createSystemClock(),
          log: silentLog,
          timeout: 10_000,
        });
        const generate = (
          init: { params?: AiParams; model?: string; settings?: ProviderSettings } = {},
        ): Promise<TextResult> =>
          provider().text!.generate(
            {
              model: init.model ?? wire.models[0]!,
              system: 'Be brief.',
              messages: [
                { role: 'user', content: 'Hello' },
                { role: 'assistant', content: 'Yes?' },
                { role: 'user', content: 'Why is the sea salt?' },
              ],
              params: init.params ?? {},
            },
            connection(init.settings),
          );

        it('generate text, with every parameter they take', async () => {
          for (const params of [{}, everyParam]) {
            const { content, usage } = await generate({ params });
            expect(content)
              .to.match(new RegExp(`^Sandbox answer from ${wire.label} `))
              .and.to.contain('The instruction "Be brief."');
            expect(usage).to.have.all.keys('input_tokens', 'output_tokens', 'total_tokens');
            expect(usage!.output_tokens).to.be.at.least(Math.ceil(content.length / 4));
          }
        });

        it('list the models', async () => {
          const ids = (await provider().listModels(connection())).map(({ id }) => id.replace(':latest', ''));
          expect(ids).to.include.members([...wire.models]);
        });

        it('tell the faults apart', async () => {
          const kinds: Record<string, string> = {};
          for (const fault of ['429', '500', 'cut', 'garbage'] as const) {
            const error = (await failureOf(generate({ model: `fault-${fault}` }))) as ProviderError;
            expect(error).to.have.property('name', 'ProviderError');
            kinds[fault] = error.kind;
            if (fault === '429') expect(error).to.include({ status: 429, retryAfter: 1, retryable: true });
          }
          expect(kinds).to.deep.equal({
            429: 'rate_limited',
            500: 'unavailable',
            cut: 'connection',
            garbage: 'unreadable',
          });
        });

        it('pass on what the upstream says of an unknown model', async () => {
          const error = await failureOf(generate({ model: 'missing-model' }));
          expect(error).to.include({
            name: 'ProviderError',
            kind: 'rejected',
            status: wire.id === 'deepseek' ? 400 : 404,
          });
        });

        if (wire.id !== 'ollama') {
          it('know a wrong key when they list the models', async () => {
            const error = (await failureOf(
              provider().listModels(connection({ api_key: 'a-wrong-key-of-mine' })),
            )) as ProviderError;
            expect(error).to.have.property('name', 'ProviderError');
            expect(error.message).not.to.contain('a-wrong-key-of-mine');
            // At Google and xAI a wrong key is a 400.
            if (wire.id !== 'google' && wire.id !== 'xai') expect(error).to.include({ kind: 'auth', status: 401 });
          });
        }
      });
    }
  }
});
