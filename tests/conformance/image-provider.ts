import { expect } from 'chai';
import nock from 'nock';
import { createSystemClock } from '../../host/clock.ts';
import type {
  ImageRequest,
  Provider,
  ProviderConnection,
  ProviderError,
  ProviderErrorKind,
} from '../../plugins/svc/providers/provider.ts';
import { failureOf } from '../helpers/failure-of.ts';
import { currentFetch, useRecordedResponses } from '../helpers/recorded-responses.ts';
import { silentLog } from '../helpers/silent-log.ts';
import type { JsonBody } from './upstream.ts';
import { fields, type GivenImage, type ImageUpstream } from './image-upstream.ts';
import { imageKey } from './image-upstreams.ts';

const kinds: Readonly<Record<number, ProviderErrorKind>> = {
  400: 'rejected',
  401: 'auth',
  403: 'auth',
  404: 'rejected',
  408: 'timeout',
  413: 'rejected',
  422: 'rejected',
  429: 'rate_limited',
  500: 'unavailable',
  503: 'unavailable',
};
const retried = [408, 429, 500, 503];
const prompt = 'A lighthouse at dusk';
const address = 'https://images.example.com/1.png?signature=abc';

/** What every provider of images must do, whatever it speaks. */
export function describeImageProvider(upstream: ImageUpstream, find: () => Provider): void {
  const given: GivenImage = {
    ...(upstream.gives.b64 ? { b64: 'aW1hZ2U=' } : { url: address }),
    ...(upstream.gives.revised && { revised: 'A white lighthouse' }),
  };
  const good = upstream.answer([given]);

  describe(upstream.title, () => {
    useRecordedResponses();

    const sent: { body: JsonBody; headers: Readonly<Record<string, string>>; count: number } = {
      body: {},
      headers: {},
      count: 0,
    };
    function answering(
      body: JsonBody | string,
      { status = 200, headers = {} }: { status?: number; headers?: Readonly<Record<string, string>> } = {},
    ): void {
      sent.count = 0;
      nock(upstream.origin)
        .post(upstream.path)
        .reply(function (_uri, received) {
          sent.count += 1;
          sent.body = received as JsonBody;
          sent.headers = this.req.headers as unknown as Readonly<Record<string, string>>;
          return [
            status,
            body,
            { 'content-type': typeof body === 'string' ? 'text/html' : 'application/json', ...headers },
          ];
        });
    }
    const connection = (changes: Partial<ProviderConnection> = {}): ProviderConnection => ({
      settings: upstream.settings,
      fetch: currentFetch,
      clock: createSystemClock(),
      log: silentLog,
      timeout: 5000,
      ...changes,
    });
    const generate = (changes: Partial<ImageRequest> = {}, how: Partial<ProviderConnection> = {}) =>
      find().images!.generate(
        { model: upstream.model, prompt, n: 1, responseFormat: 'b64_json', ...changes },
        connection(how),
      );
    const failure = async (how: Partial<ProviderConnection> = {}): Promise<ProviderError> => {
      const error = (await failureOf(generate({}, how))) as ProviderError;
      // By name: the provider was loaded by its file's address, which may be another instance of the class.
      if (error.name !== 'ProviderError') throw error;
      return error;
    };
    const withoutForm = (body: JsonBody): JsonBody => {
      const { response_format: _form, ...rest } = body;
      return rest;
    };
    function expectDescribed(body: JsonBody): void {
      const described = Object.fromEntries(
        Object.entries(body).filter(([name]) => upstream.additions?.includes(name) !== true),
      );
      expect(upstream.valid(described), JSON.stringify(upstream.valid.errors)).to.equal(true);
    }
    const withMessage = (message: string): JsonBody =>
      JSON.parse(JSON.stringify(upstream.error).replace('{message}', message)) as JsonBody;

    it('answers the image, the usage and the model that answered', async () => {
      answering(good);
      const { images, usage, model, ignored } = await generate();
      expect(images.map(({ url, b64_json, revised_prompt }) => ({ url, b64_json, revised_prompt }))).to.deep.equal([
        { url: null, b64_json: given.b64, revised_prompt: given.revised ?? null },
      ]);
      expect([usage, model, ignored]).to.deep.equal([upstream.usage, upstream.answeredBy ?? upstream.model, []]);
    });

    it('sends its key in the header the upstream reads, and just the prompt where nothing else is said, as its specification allows', async () => {
      answering(good);
      await generate();
      expect(String(sent.headers[upstream.key[0]])).to.equal(upstream.key[1]);
      expect(withoutForm(sent.body)).to.deep.equal(upstream.bare(prompt, 1));
      expectDescribed(sent.body);
      expect(JSON.stringify(sent.body)).not.to.contain(imageKey);
    });

    for (const [name, wire] of Object.entries(upstream.wire) as [keyof typeof fields, JsonBody | null][]) {
      it(
        wire === null ? `leaves ${name} out and names it as ignored` : `writes ${name} as ${JSON.stringify(wire)}`,
        async () => {
          answering(good);
          const { ignored } = await generate({ [name]: fields[name] });
          expect(withoutForm(sent.body)).to.deep.equal({ ...upstream.bare(prompt, 1), ...wire });
          expect(ignored).to.deep.equal(wire === null ? [name] : []);
          expectDescribed(sent.body);
        },
      );
    }

    it(`gives up to ${String(upstream.perCall)} image${upstream.perCall === 1 ? '' : 's'} by a call`, async () => {
      const n = find().images!.perCall(upstream.model, upstream.settings);
      expect(n).to.equal(upstream.perCall);
      answering(upstream.answer(Array.from({ length: n }, () => given)));
      expect((await generate({ n })).images).to.have.length(n);
      expect(withoutForm(sent.body)).to.deep.equal(upstream.bare(prompt, n));
      expectDescribed(sent.body);
    });

    if (upstream.gives.url) {
      it('asks for an address where one is wanted, and answers it', async () => {
        answering(upstream.answer([{ url: address }]));
        const { images } = await generate({ responseFormat: 'url' });
        expect(upstream.formOf(sent.body)).to.equal('url');
        expect([images[0]?.url, images[0]?.b64_json]).to.deep.equal([address, null]);
      });
    } else {
      it('asks for no form, as it knows one alone', async () => {
        answering(good);
        await generate({ responseFormat: 'url' });
        expect(sent.body).not.to.have.property('response_format');
      });
    }

    for (const [body, reason] of upstream.withheld) {
      it(`takes an answer without an image as rejected, with the reason: ${reason}`, async () => {
        answering(body);
        const error = await failure();
        expect([error.kind, error.retryable]).to.deep.equal(['rejected', false]);
        expect(error.message).to.contain(reason);
      });
    }

    for (const [status, kind] of Object.entries(kinds).map(([text, value]) => [Number(text), value] as const)) {
      it(`takes ${String(status)} as ${kind}${retried.includes(status) ? ', worth another try' : ''}`, async () => {
        answering(withMessage(`Sentence of ${String(status)}.`), { status });
        const error = await failure();
        expect([error.kind, error.status, error.retryable, sent.count]).to.deep.equal([
          kind,
          status,
          retried.includes(status),
          1,
        ]);
        expect(error.message).to.equal(`Sentence of ${String(status)}.`);
      });
    }

    it('cuts its key out of what the upstream says', async () => {
      answering(withMessage(`Bad key ${imageKey}, or sk-proj-Ab12Cd34Ef56.`), { status: 400 });
      expect((await failure()).message).to.equal('Bad key [redacted], or [redacted].');
    });

    it('reads the seconds of Retry-After', async () => {
      answering(withMessage('Slow down.'), { status: 429, headers: { 'retry-after': '7' } });
      expect((await failure()).retryAfter).to.equal(7);
    });

    for (const [what, body] of [
      ['HTML', '<html><body>Welcome</body></html>'],
      ['nothing', ''],
      ['a list', '[]'],
      ['another object', '{"hello":"world"}'],
      ['an image that is empty', JSON.stringify(upstream.answer([{ b64: '' }]))],
    ] as const) {
      it(`takes ${what} with status 200 as no image`, async () => {
        answering(body);
        expect((await failure()).kind).to.be.oneOf(
          what.startsWith('an image') ? ['unreadable', 'rejected'] : ['unreadable'],
        );
      });
    }

    it('takes a connection that is cut as a connection error, worth another try', async () => {
      nock(upstream.origin)
        .post(upstream.path)
        .replyWithError(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
      const error = await failure();
      expect([error.kind, error.status, error.retryable]).to.deep.equal(['connection', null, true]);
    });

    it('ends with a timeout when the time limit is over, and at once when its caller gives up', async () => {
      nock(upstream.origin).post(upstream.path).times(2).delay(60_000).reply(200, {});
      expect((await failure({ timeout: 15 })).kind).to.equal('timeout');
      const controller = new AbortController();
      setImmediate(() => {
        controller.abort();
      });
      expect((await failure({ signal: controller.signal })).kind).to.equal('aborted');
    });
  });
}
