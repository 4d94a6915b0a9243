import { expect } from 'chai';
import nock from 'nock';
import type { RestError } from '#plugin-api';
import { createGenerateText } from '../../../plugins/svc/ai/generate-text.ts';
import { createTestProvider } from '../../../plugins/svc/ai/test-provider.ts';
import { answering } from '../../conformance/exchange.ts';
import { errorBody, fixturesOf, titleOf } from '../../conformance/upstream.ts';
import { upstreams } from '../../conformance/upstreams.ts';
import { failureOf } from '../../helpers/failure-of.ts';
import { useRecordedResponses } from '../../helpers/recorded-responses.ts';
import { services } from './helpers.ts';

const codes: Readonly<Record<number, readonly [number, string]>> = {
  400: [400, 'provider_rejected'],
  401: [502, 'provider_auth_failed'],
  403: [502, 'provider_auth_failed'],
  404: [400, 'provider_rejected'],
  408: [504, 'provider_timeout'],
  413: [400, 'provider_rejected'],
  422: [400, 'provider_rejected'],
  429: [429, 'provider_rate_limited'],
  500: [502, 'provider_error'],
  503: [502, 'provider_error'],
  529: [502, 'provider_error'],
};
/** What the vendor's body says in OpenAI's words. */
const rejected = [400, 'provider_rejected'] as const;
const reasons: Readonly<Record<string, string>> = {
  // Its answer with 403 is that the team has no credits.
  'xai 403': 'insufficient_quota',
  'openai 400': 'invalid_request',
  'azure 422': 'invalid_request',
  'deepseek 422': 'invalid_request',
  'openai 404': 'model_not_found',
  'azure 400': 'content_filter',
  'azure 404': 'model_not_found',
  'google 404': 'model_not_found',
  'claude 404': 'model_not_found',
  'xai 404': 'model_not_found',
  'ollama 404': 'model_not_found',
  'deepseek 400': 'model_not_found',
  'openrouter 403': 'content_filter',
};
const triedAgain = [408, 429, 500, 503, 529];

describe('Text through the real SDKs', () => {
  useRecordedResponses();

  for (const upstream of upstreams) {
    const parts = () => services({ settings: { provider: () => Promise.resolve(upstream.settings) } });
    const call = {
      provider: upstream.id,
      model: upstream.model,
      messages: [{ role: 'user', content: 'Say hello in French.' }],
    } as const;
    const fixtures = fixturesOf(upstream.id, upstream.format);

    describe(titleOf(upstream), () => {
      it('comes back with contract 4.2’s members', async () => {
        answering(upstream, { body: fixtures.answer });
        const { content, usage, provider, model } = await createGenerateText(await parts())(call);
        expect({ content, usage, provider, model }).to.deep.equal({
          content: 'Bonjour.',
          usage: { input_tokens: 19, output_tokens: 10, total_tokens: 29 },
          provider: upstream.label,
          model: upstream.answeredBy,
        });
      });

      for (const [status, usual] of Object.entries(codes).map(([text, value]) => [Number(text), value] as const)) {
        const reason = reasons[`${upstream.id} ${String(status)}`];
        const ofReason = reason === 'insufficient_quota' ? ([502, 'provider_error'] as const) : rejected;
        const [ours, code] = reason === undefined ? usual : ofReason;
        it(`makes ${String(ours)} ${code} of ${String(status)}${triedAgain.includes(status) ? ' after three tries' : ' at once'}`, async () => {
          const sent = answering(upstream, { status, body: errorBody(fixtures, status).body, times: 3 });
          const error = (await failureOf(createGenerateText(await parts())(call))) as RestError;
          expect([error.status, error.code]).to.deep.equal([ours, `rest_svc_${code}`]);
          const { provider, provider_status, reason: told } = error.data as Readonly<Record<string, unknown>>;
          expect({ provider, provider_status, reason: told }).to.deep.equal({
            ...{ provider: upstream.id, provider_status: status, reason },
          });
          expect(sent.count).to.equal(triedAgain.includes(status) ? 3 : 1);
        });
      }

      it('succeeds after a cut connection and a 503', async () => {
        nock(upstream.origin)
          .post(upstream.generatePath)
          .replyWithError(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
        nock(upstream.origin).post(upstream.generatePath).reply(503, errorBody(fixtures, 503).body);
        answering(upstream, { body: fixtures.answer });
        expect((await createGenerateText(await parts())(call)).content).to.equal('Bonjour.');
      });

      // One of each SDK: the body takes half a second.
      if (['openai', 'claude', 'google'].includes(upstream.id))
        it('is not read beyond 16 MB, and fails after one try', async () => {
          const sent = answering(upstream, { body: { ...fixtures.answer, more: 'x'.repeat(16 * 1_048_576) } });
          const error = (await failureOf(createGenerateText(await parts())(call))) as RestError;
          expect([error.code, error.message]).to.deep.equal([
            'rest_svc_provider_error',
            `${upstream.label} failed: its response could not be read (it is longer than 16 MB).`,
          ]);
          expect(sent.count).to.equal(1);
        });

      it('is tested with a real call that counts the models', async () => {
        nock(upstream.origin)
          .get(/\/key$/)
          .optionally()
          .reply(200, { data: {} });
        nock(upstream.origin).get(upstream.modelsPath).reply(200, fixtures.models);
        const test = await createTestProvider(await parts())(upstream.id);
        expect([test.ok, test.models.map(({ id }) => id)]).to.deep.equal([true, upstream.listed]);
        expect(test.message).to.match(/^Works, \d models?, 0 ms\.$/);
      });

      it('is tested by a word of text where the upstream lists no models', async () => {
        nock(upstream.origin)
          .get(/\/key$/)
          .optionally()
          .reply(200, { data: {} });
        nock(upstream.origin).get(upstream.modelsPath).reply(404, 'page not found', { 'content-type': 'text/plain' });
        const sent = answering(upstream, { body: fixtures.answer });
        const settings = { ...upstream.settings, model: upstream.model };
        const test = await createTestProvider(
          await services({ settings: { provider: () => Promise.resolve(settings) } }),
        )(upstream.id);
        expect([test.ok, test.message, sent.count]).to.deep.equal([true, 'Works, 0 ms.', 1]);
      });

      it('is tested once, and tells the upstream’s own sentence', async () => {
        const { body, sentence } = errorBody(fixtures, 503);
        nock(upstream.origin)
          .get(/\/key$/)
          .optionally()
          .reply(200, { data: {} });
        nock(upstream.origin).get(upstream.modelsPath).reply(503, body);
        const test = await createTestProvider(await parts())(upstream.id);
        expect([test.ok, test.message]).to.deep.equal([false, `${upstream.label} failed: ${sentence}`]);
      });
    });
  }

  it('is not tested without a key, and says so', async () => {
    const test = await createTestProvider(await services({ settings: { provider: () => Promise.resolve({}) } }))(
      'openai',
    );
    expect(test.message).to.equal('OpenAI is not configured. Save its API key in the admin under AI service.');
  });
});
