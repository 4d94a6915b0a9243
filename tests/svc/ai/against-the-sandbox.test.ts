import { expect } from 'chai';
import { aiParamSchemas } from '../../../plugins/svc/kit/ai-params.ts';
import type { RestError } from '#plugin-api';
import { createSystemClock } from '../../../host/clock.ts';
import { fakeProviders } from '../../../plugins/sandbox/fakes.ts';
import { createGenerateText } from '../../../plugins/svc/ai/generate-text.ts';
import { createTestProvider } from '../../../plugins/svc/ai/test-provider.ts';
import { openUpstreamFetch, upstreamThrough } from '../../helpers/upstream-http.ts';
import type { AiServices } from '../../../plugins/svc/ai/ports.ts';
import { sampleParams } from '../../conformance/upstream.ts';
import { failureOf } from '../../helpers/failure-of.ts';
import { openSandbox, type OpenSandbox } from '../../sandbox/helpers/open-sandbox.ts';
import { services } from './helpers.ts';

describe('Text from the sandbox’s stand-ins', () => {
  let sandbox: OpenSandbox;
  const pool = openUpstreamFetch();
  before(async () => {
    sandbox = await openSandbox();
  });
  after(async () => {
    await pool.close();
    await sandbox.close();
  });
  afterEach(() => {
    sandbox.turn({});
  });

  for (const wire of fakeProviders) {
    describe(wire.label, () => {
      const parts = async (changes: Partial<AiServices['settings']> = {}): Promise<AiServices> => {
        const saved = wire.settings(`${sandbox.url}/${wire.id}`, {});
        return {
          ...(await services({ settings: { provider: () => Promise.resolve(saved), ...changes } })),
          upstream: upstreamThrough(pool.fetch),
        };
      };
      const call = { provider: wire.id, messages: [{ role: 'user', content: 'Say hello.' }] } as const;

      for (const model of wire.models) {
        it(`comes from ${model} with every parameter given`, async () => {
          const generateText = createGenerateText(await parts());
          for (const reasoning_effort of aiParamSchemas.reasoning_effort.enum) {
            const result = await generateText({
              ...call,
              model,
              systemInstruction: 'Be brief.',
              params: { ...sampleParams, stop: ['§§'], max_completion_tokens: 4000, reasoning_effort },
            });
            expect(result.content).to.be.a('string').and.not.equal('');
            expect(result.usage.total_tokens).to.equal(result.usage.input_tokens + result.usage.output_tokens);
            expect(result.usageEstimated).to.equal(false);
          }
        });
      }

      it('is data where a schema is given', async () => {
        const { data } = await createGenerateText(await parts())({
          ...call,
          output: {
            name: 'greeting',
            schema: {
              type: 'object',
              properties: { text: { type: 'string' }, languages: { type: 'array', items: { type: 'string' } } },
              required: ['text', 'languages'],
            },
          },
        });
        expect(data).to.have.keys('text', 'languages');
      });

      it('passes its test with the models it lists', async () => {
        const test = await createTestProvider(await parts())(wire.id);
        expect([test.ok, test.models.length > 0], test.message).to.deep.equal([true, true]);
      });

      for (const [fault, status, code] of [
        ['429', 429, 'provider_rate_limited'],
        ['500', 502, 'provider_error'],
        ['cut', 502, 'provider_error'],
        ['garbage', 502, 'provider_error'],
      ] as const) {
        it(`fails with ${String(status)} ${code} while the dial is at ${fault}`, async () => {
          sandbox.turn({ fault });
          const error = (await failureOf(
            createGenerateText(await parts())({ ...call, model: wire.models[0] }),
          )) as RestError;
          expect([error.status, error.code]).to.deep.equal([status, `rest_svc_${code}`]);
        });
      }

      it('fails with 504 provider_timeout while the dial is at slow', async () => {
        sandbox.turn({ fault: 'slow' });
        const slow = await parts({ timeouts: () => Promise.resolve({ text: 30, embeddings: 30, images: 180_000 }) });
        const generateText = createGenerateText({ ...slow, host: { ...slow.host, clock: createSystemClock() } });
        expect(((await failureOf(generateText({ ...call, model: wire.models[0] }))) as RestError).code).to.equal(
          'rest_svc_provider_timeout',
        );
      });

      it('is refused with 502 provider_auth_failed for a wrong key', async () => {
        const saved = { ...wire.settings(`${sandbox.url}/${wire.id}`, {}), api_key: 'wrong-key-123456' };
        const wrong = await parts({ provider: () => Promise.resolve(saved) });
        const outcome = await createGenerateText(wrong)({ ...call, model: wire.models[0] }).then(
          () => 'answered',
          (error: unknown) => (error as RestError).code,
        );
        // Ollama looks at no key; xAI answers 400, which D5 takes as a refusal; Google names the key as the reason.
        expect(outcome).to.equal(
          { ollama: 'answered', xai: 'rest_svc_provider_rejected' }[wire.id] ?? 'rest_svc_provider_auth_failed',
        );
      });
    });
  }
});
