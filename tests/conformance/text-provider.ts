import { expect } from 'chai';
import nock from 'nock';
import type { AiParamName } from '../../plugins/svc/kit/ai-params.ts';
import type { Provider, ProviderError, ProviderErrorKind } from '../../plugins/svc/providers/provider.ts';
import { failureOf } from '../helpers/failure-of.ts';
import { useRecordedResponses } from '../helpers/recorded-responses.ts';
import { answering, connectionTo, requestTo } from './exchange.ts';
import { errorBody, fixturesOf, sampleParams, withheldBy, type Upstream } from './upstream.ts';

const kinds: Readonly<Record<number, ProviderErrorKind>> = {
  400: 'rejected',
  401: 'auth',
  402: 'rejected',
  403: 'auth',
  404: 'rejected',
  408: 'timeout',
  409: 'rejected',
  413: 'rejected',
  422: 'rejected',
  429: 'rate_limited',
  500: 'unavailable',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
  529: 'unavailable',
};
const retried = [408, 429, 500, 502, 503, 504, 529];

/** What every provider of text must do, whatever it speaks. */
export function describeTextProvider(title: string, upstream: Upstream, find: () => Provider): void {
  const fixtures = fixturesOf(upstream.id, upstream.format);
  const failure = async (changes: Parameters<typeof connectionTo>[1] = {}): Promise<ProviderError> => {
    const error = await failureOf(find().text!.generate(requestTo(upstream), connectionTo(upstream, changes)));
    // By name: the provider was loaded by its file's address, which may be another instance of the class.
    if ((error as Error).name !== 'ProviderError') throw error;
    return error as ProviderError;
  };

  describe(title, () => {
    useRecordedResponses();

    it('answers the text, the usage in whole numbers and the model that answered', async () => {
      answering(upstream, { body: fixtures.answer });
      const result = await find().text!.generate(requestTo(upstream), connectionTo(upstream));
      // `token-costs.test.ts` checks the details.
      const { tokenDetails: _details, reportedCost: _cost, ...read } = result;
      expect(read).to.deep.equal({
        content: 'Bonjour.',
        usage: { input_tokens: 19, output_tokens: 10, total_tokens: 29 },
        model: upstream.answeredBy,
        ignored: [],
        ...(upstream.reasoning && { reasoning: upstream.reasoning.whole }),
      });
    });

    it('sends its key in the header the upstream reads, and a body its specification allows', async () => {
      const sent = answering(upstream, { body: fixtures.answer });
      await find().text!.generate(requestTo(upstream, { system: 'Be brief.' }), connectionTo(upstream));
      expect(String(sent.headers[upstream.key[0]])).to.equal(upstream.key[1]);
      expect(upstream.valid(sent.body), JSON.stringify(upstream.valid.errors)).to.equal(true);
      expect(JSON.stringify(sent.body)).not.to.contain('test-key');
    });

    it('puts the system text in its place and keeps the turns in order', async () => {
      const sent = answering(upstream, { body: fixtures.answer });
      const messages = [
        { role: 'user', content: 'Hello.' },
        { role: 'assistant', content: 'Hi.' },
        { role: 'user', content: 'In French?' },
      ] as const;
      await find().text!.generate(requestTo(upstream, { system: 'Be brief.', messages }), connectionTo(upstream));
      expect(upstream.systemOf(sent.body)).to.equal('Be brief.');
      expect(upstream.turnsOf(sent.body)).to.deep.equal([
        ['user', 'Hello.'],
        [upstream.assistant, 'Hi.'],
        ['user', 'In French?'],
      ]);
    });

    it('sends no system text and no parameter that nobody gave', async () => {
      const sent = answering(upstream, { body: fixtures.answer });
      await find().text!.generate(requestTo(upstream), connectionTo(upstream));
      expect(upstream.systemOf(sent.body)).to.equal(undefined);
      expect(upstream.paramsOf(sent.body)).to.deep.equal({});
    });

    for (const name of Object.keys(sampleParams) as AiParamName[]) {
      const wire = upstream.wire[name];
      it(
        wire === null
          ? `leaves ${name} out and names it as ignored`
          : `writes ${name} as ${Object.keys(wire).join(', ')}`,
        async () => {
          const sent = answering(upstream, { body: fixtures.answer });
          const result = await find().text!.generate(
            requestTo(upstream, { params: { [name]: sampleParams[name] } }),
            connectionTo(upstream),
          );
          expect(upstream.paramsOf(sent.body)).to.deep.equal(wire ?? {});
          expect(result.ignored).to.deep.equal(wire === null ? [name] : []);
          expect(upstream.valid(sent.body), JSON.stringify(upstream.valid.errors)).to.equal(true);
        },
      );
    }

    it('lists in its table just the parameters it sends', () => {
      const table = find().text!.params;
      // The table speaks for the provider, the sample for one model: what the model refuses may still be in the table.
      for (const [name, wire] of Object.entries(upstream.wire) as [AiParamName, object | null][]) {
        if (wire !== null && upstream.format === undefined)
          expect(Object.keys(wire)).to.include(table[name]?.split('.')[0]);
      }
    });

    it('says that no usage was reported when there was none', async () => {
      const { usage: _usage, usageMetadata: _metadata, ...body } = fixtures.answer;
      answering(upstream, { body });
      expect((await find().text!.generate(requestTo(upstream), connectionTo(upstream))).usage).to.equal(null);
    });

    it('says of a text that was filtered or refused why', async () => {
      answering(upstream, { body: fixtures.filtered });
      const found = await find()
        .text!.generate(requestTo(upstream), connectionTo(upstream))
        .then(
          (result) => withheldBy(result, null),
          (error: unknown) => withheldBy(null, error as ProviderError),
        );
      expect(found.kind).to.equal('rejected');
      expect(found.said).to.contain(fixtures.filteredReason);
    });

    // OpenRouter's 403 is the recorded one of a moderation.
    const expected = upstream.id === 'openrouter' ? { ...kinds, 403: 'rejected' as const } : kinds;
    for (const [status, kind] of Object.entries(expected).map(([text, value]) => [Number(text), value] as const)) {
      it(`takes ${String(status)} as ${kind}${retried.includes(status) ? ', worth another try' : ''}`, async () => {
        const { body, sentence } = errorBody(fixtures, status);
        const sent = answering(upstream, {
          status,
          body,
          headers: typeof body === 'string' ? { 'content-type': 'text/plain' } : {},
        });
        const error = await failure();
        expect([error.kind, error.status, error.retryable, sent.count]).to.deep.equal([
          kind,
          status,
          retried.includes(status),
          1,
        ]);
        // Secrets are cut out, so only the beginning need be the same.
        expect(error.message.slice(0, 20)).to.equal(sentence.slice(0, 20));
      });
    }

    it('cuts its key out of what the upstream says', async () => {
      const secret = upstream.settings.api_key ?? 'sk-abcdefgh12345678';
      const body = JSON.parse(
        JSON.stringify(fixtures.error).replace('{message}', `Bad key ${secret}, or sk-proj-Ab12Cd34Ef56.`),
      ) as Record<string, unknown>;
      answering(upstream, { status: 400, body });
      expect((await failure()).message).to.equal('Bad key [redacted], or [redacted].');
    });

    it('reads the seconds of Retry-After', async () => {
      answering(upstream, { status: 429, body: errorBody(fixtures, 429).body, headers: { 'retry-after': '7' } });
      expect((await failure()).retryAfter).to.equal(7);
    });

    for (const [what, body] of [
      ['HTML', '<html><body>Welcome</body></html>'],
      ['nothing', ''],
      ['a list', '[]'],
      ['null', 'null'],
      ['another object', '{"hello":"world"}'],
    ] as const) {
      it(`takes ${what} with status 200 as unreadable`, async () => {
        answering(upstream, { body });
        expect((await failure()).kind).to.equal('unreadable');
      });
    }

    it('shows no HTML of an error page', async () => {
      answering(upstream, { status: 502, body: '<html><h1>502 Bad Gateway</h1></html>' });
      const error = await failure();
      expect([error.kind, error.message]).to.deep.equal(['unavailable', 'status 502 without a readable message.']);
    });

    it('takes a connection that is cut as a connection error, worth another try', async () => {
      nock(upstream.origin)
        .post(upstream.generatePath)
        .replyWithError(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
      const error = await failure();
      expect([error.kind, error.status, error.retryable]).to.deep.equal(['connection', null, true]);
      expect(error.message).to.contain('ECONNRESET');
    });

    it('ends with a timeout when the time limit is over', async () => {
      nock(upstream.origin).post(upstream.generatePath).delay(60_000).reply(200, {});
      const error = await failure({ timeout: 15 });
      expect([error.kind, error.status]).to.deep.equal(['timeout', null]);
    });

    it('ends at once when its caller gives up', async () => {
      nock(upstream.origin).post(upstream.generatePath).delay(60_000).reply(200, {});
      const controller = new AbortController();
      setImmediate(() => {
        controller.abort();
      });
      expect((await failure({ signal: controller.signal })).kind).to.equal('aborted');
    });

    it('does not ask the upstream for a caller who has already given up', async () => {
      const sent = answering(upstream, { body: fixtures.answer });
      expect((await failure({ signal: AbortSignal.abort() })).kind).to.equal('aborted');
      expect(sent.count).to.equal(0);
    });

    it('lists the models of the account', async () => {
      nock(upstream.origin)
        .get(/\/key$/)
        .optionally()
        .reply(200, { data: {} });
      nock(upstream.origin).get(upstream.modelsPath).reply(200, fixtures.models);
      const models = await find().listModels(connectionTo(upstream));
      expect(models.map(({ id }) => id)).to.deep.equal(upstream.listed);
    });

    it('passes the upstream’s own sentence on when the models may not be listed', async () => {
      const { body, sentence } = errorBody(fixtures, 401);
      nock(upstream.origin)
        .get(/\/key$/)
        .optionally()
        .reply(401, body);
      nock(upstream.origin).get(upstream.modelsPath).optionally().reply(401, body);
      const error = (await failureOf(find().listModels(connectionTo(upstream)))) as ProviderError;
      expect([error.kind, error.status]).to.deep.equal(['auth', 401]);
      expect(error.message.slice(0, 20)).to.equal(sentence.slice(0, 20));
    });
  });
}
