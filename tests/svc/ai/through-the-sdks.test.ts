import { expect } from 'chai';
import nock from 'nock';
import type { RestError } from '#plugin-api';
import { createGenerateText } from '../../../plugins/svc/ai/generate-text.ts';
import { createTestProvider } from '../../../plugins/svc/ai/test-provider.ts';
import { answering } from '../../conformance/exchange.ts';
import { errorBody, fixturesOf } from '../../conformance/far-end.ts';
import { farEnds } from '../../conformance/far-ends.ts';
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
const triedAgain = [408, 429, 500, 503, 529];

describe('Text through the real SDKs', () => {
  useRecordedResponses();

  for (const farEnd of farEnds) {
    const name =
      farEnd.settings.api_version === undefined ? farEnd.label : `${farEnd.label} (${farEnd.settings.api_version})`;
    const parts = () => services({ settings: { provider: () => Promise.resolve(farEnd.settings) } });
    const call = {
      provider: farEnd.id,
      model: farEnd.model,
      messages: [{ role: 'user', content: 'Say hello in French.' }],
    } as const;
    const fixtures = fixturesOf(farEnd.id);

    describe(name, () => {
      it('comes back with contract 4.2’s members', async () => {
        answering(farEnd, { body: fixtures.answer });
        const { content, usage, provider, model } = await createGenerateText(await parts())(call);
        expect({ content, usage, provider, model }).to.deep.equal({
          content: 'Bonjour.',
          usage: { input_tokens: 19, output_tokens: 10, total_tokens: 29 },
          provider: farEnd.label,
          model: farEnd.answeredBy,
        });
      });

      for (const [status, [ours, code]] of Object.entries(codes).map(
        ([text, value]) => [Number(text), value] as const,
      )) {
        it(`makes ${String(ours)} ${code} of ${String(status)}${triedAgain.includes(status) ? ' after three tries' : ' at once'}`, async () => {
          const sent = answering(farEnd, { status, body: errorBody(fixtures, status).body, times: 3 });
          const error = (await failureOf(createGenerateText(await parts())(call))) as RestError;
          expect([error.status, error.code]).to.deep.equal([ours, `rest_svc_${code}`]);
          expect(error.data).to.deep.equal({ provider: farEnd.id, provider_status: status });
          expect(sent.count).to.equal(triedAgain.includes(status) ? 3 : 1);
        });
      }

      it('succeeds after a cut connection and a 503', async () => {
        nock(farEnd.origin)
          .post(farEnd.generatePath)
          .replyWithError(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
        nock(farEnd.origin).post(farEnd.generatePath).reply(503, errorBody(fixtures, 503).body);
        answering(farEnd, { body: fixtures.answer });
        expect((await createGenerateText(await parts())(call)).content).to.equal('Bonjour.');
      });

      it('is tested with a real call that counts the models', async () => {
        nock(farEnd.origin)
          .get(/\/key$/)
          .optionally()
          .reply(200, { data: {} });
        nock(farEnd.origin).get(farEnd.modelsPath).reply(200, fixtures.models);
        const test = await createTestProvider(await parts())(farEnd.id);
        expect([test.ok, test.models.map(({ id }) => id)]).to.deep.equal([true, farEnd.listed]);
        expect(test.message).to.match(/^Works, \d models?, 0 ms\.$/);
      });

      it('is tested by a word of text where the far end lists no models', async () => {
        nock(farEnd.origin)
          .get(/\/key$/)
          .optionally()
          .reply(200, { data: {} });
        nock(farEnd.origin).get(farEnd.modelsPath).reply(404, 'page not found', { 'content-type': 'text/plain' });
        const sent = answering(farEnd, { body: fixtures.answer });
        const settings = { ...farEnd.settings, model: farEnd.model };
        const test = await createTestProvider(
          await services({ settings: { provider: () => Promise.resolve(settings) } }),
        )(farEnd.id);
        expect([test.ok, test.message, sent.count]).to.deep.equal([true, 'Works, 0 ms.', 1]);
      });

      it('is tested once, and tells the far end’s own sentence', async () => {
        const { body, sentence } = errorBody(fixtures, 503);
        nock(farEnd.origin)
          .get(/\/key$/)
          .optionally()
          .reply(200, { data: {} });
        nock(farEnd.origin).get(farEnd.modelsPath).reply(503, body);
        const test = await createTestProvider(await parts())(farEnd.id);
        expect([test.ok, test.message]).to.deep.equal([false, `${farEnd.label} failed: ${sentence}`]);
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
