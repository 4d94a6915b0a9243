import { Readable } from 'node:stream';
import { expect } from 'chai';
import nock from 'nock';
import type { Provider, ProviderError, TextResult } from '../../plugins/svc/providers/provider.ts';
import { failureOf } from '../helpers/failure-of.ts';
import { useRecordedResponses } from '../helpers/recorded-responses.ts';
import { answering, connectionTo, requestTo } from './exchange.ts';
import { errorBody, fixturesOf, streamed, streamOf, withheldBy, type Upstream, type JsonBody } from './upstream.ts';

const chatMembers = { stream: true, stream_options: { include_usage: true } };
const chatError = [
  'data: {"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}}\n\n',
  502,
] as const;

/** What every provider of text must do with streams, whatever it speaks. */
export function describeTextStream(title: string, upstream: Upstream, find: () => Provider): void {
  const recorded = streamOf(upstream.format ?? upstream.id);
  const events = recorded.split(/(?<=\r?\n\r?\n)/);
  const fixtures = fixturesOf(upstream.id, upstream.format);
  const path = upstream.streamPath ?? upstream.generatePath;

  /** Lets the upstream send these bytes, cut as they are. */
  const sending = (
    chunks: readonly (string | Buffer)[],
    { error, type = 'text/event-stream' }: { error?: Error; type?: string } = {},
  ): { body: JsonBody } => {
    const sent = { body: {} as JsonBody };
    nock(upstream.origin)
      .post(path)
      .reply(
        200,
        (_uri, received) => {
          sent.body = received as JsonBody;
          return Readable.from(
            (async function* () {
              for (const chunk of chunks) yield Buffer.from(chunk);
              await new Promise((resolve) => setImmediate(resolve));
              if (error) throw error;
            })(),
          );
        },
        { 'content-type': type },
      );
    return sent;
  };
  const stream = async (changes: { params?: Record<string, unknown> } & Parameters<typeof connectionTo>[1] = {}) => {
    const { params = {}, ...connection } = changes;
    const pieces: string[] = [];
    const outcome = await find().text!.stream!(
      requestTo(upstream, { params }),
      connectionTo(upstream, connection),
      (piece) => void pieces.push(piece),
    ).then(
      // `token-costs.test.ts` checks the details.
      ({ tokenDetails: _details, ...result }) => ({ result, error: null }),
      (error: unknown) => {
        if ((error as Error).name !== 'ProviderError') throw error;
        return { result: null, error: error as ProviderError };
      },
    );
    return { ...outcome, pieces };
  };
  const expected: TextResult = {
    content: streamed,
    usage: { input_tokens: 19, output_tokens: 10, total_tokens: 29 },
    model: upstream.answeredBy,
    ignored: [],
    ...(upstream.reasoning && { reasoning: upstream.reasoning.streamed }),
  };

  describe(`${title}, streamed`, () => {
    useRecordedResponses();

    it('hands on the pieces of the text, and answers as it does at once', async () => {
      const sent = sending([recorded]);
      const { result, pieces } = await stream();
      expect(result).to.deep.equal(expected);
      expect(pieces).to.deep.equal(['Bon', 'jour, ça va', ' ? ', '🌍 日本', '語.']);
      expect(upstream.valid(sent.body), JSON.stringify(upstream.valid.errors)).to.equal(true);
      const { stream: wanted, stream_options } = sent.body;
      const isOld = upstream.settings.api_version === '2024-02-01';
      expect({
        ...(wanted !== undefined && { stream: wanted }),
        ...(stream_options !== undefined && { stream_options }),
      }).to.deep.equal(isOld ? { stream: true } : (upstream.streamMembers ?? chatMembers));
    });

    it('writes parameters and names those left out as it does at once', async () => {
      const sent = sending([recorded]);
      const params = { temperature: 0.4, max_completion_tokens: 200, top_k: 40, stop: ['END', 'STOP'] };
      const { result } = await stream({ params });
      const ignored = Object.keys(params).filter((name) => upstream.wire[name as 'stop'] === null);
      expect(result?.ignored).to.deep.equal(ignored);
      expect(upstream.paramsOf(sent.body)).to.deep.include(upstream.wire.max_completion_tokens!);
    });

    for (const size of [1, 2, 3, 7, 64]) {
      it(`reads bytes that come by ${String(size)}, cut in lines and in characters`, async () => {
        const bytes = Buffer.from(recorded);
        sending(
          Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
            bytes.subarray(index * size, (index + 1) * size),
          ),
        );
        const { result, pieces } = await stream();
        expect(result).to.deep.equal(expected);
        expect(pieces.join('')).to.equal(streamed);
      });
    }

    it('reads lines that end with CR LF or CR, comments, and events of other kinds', async () => {
      for (const end of ['\r\n', '\r']) {
        sending([`: hello\n\nretry: 10\n\n${recorded.replaceAll('\r\n', '\n')}`.replaceAll('\n', end)]);
        expect((await stream()).result).to.deep.equal(expected);
      }
    });

    it('says that no usage was reported when there was none', async () => {
      sending([events.map((event) => event.replace(/"(usage|usageMetadata)":/g, '"other":')).join('')]);
      const { result } = await stream();
      expect([result?.content, result?.usage]).to.deep.equal([streamed, null]);
    });

    it('takes a stream that ends without its end as a connection error, with the pieces there were', async () => {
      const half = events.findIndex((event) => event.includes('日本'));
      sending(events.slice(0, half));
      const { error, pieces } = await stream();
      expect([error?.kind, error?.retryable]).to.deep.equal(['connection', true]);
      expect(pieces.join('')).to.equal('Bonjour, ça va ? ');
    });

    it('takes a stream that is cut within an event as a failure', async () => {
      const whole = Buffer.from(recorded);
      sending([whole.subarray(0, whole.indexOf('日本') + 1)], {
        error: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
      });
      const { error, pieces } = await stream();
      expect(error?.kind).to.equal('connection');
      expect(pieces.join('')).to.equal('Bonjour, ça va ? ');
    });

    it('takes an error that comes in the stream by what it stands for', async () => {
      const [event, status] = upstream.streamError ?? chatError;
      const half = events.findIndex((each) => each.includes('日本'));
      sending([...events.slice(0, half), event]);
      const { error, pieces } = await stream();
      expect([error?.kind, error?.status, error?.retryable]).to.deep.equal(['unavailable', status, true]);
      expect(error?.message).to.match(/The server had an error|Overloaded|overloaded/);
      expect(pieces.join('')).to.equal('Bonjour, ça va ? ');
    });

    for (const [what, chunks, type] of [
      ['HTML', ['<html><body>Welcome</body></html>'], 'text/html'],
      ['nothing', [], 'text/event-stream'],
      ['events that are no JSON', ['data: {"half\n\n'], 'text/event-stream'],
      ['other JSON', ['{"hello":"world"}'], 'application/json'],
    ] as const) {
      it(`takes ${what} in place of a stream as a failure`, async () => {
        sending(chunks, { type });
        const { error, pieces } = await stream();
        expect(error?.kind).to.equal(what === 'nothing' ? 'connection' : 'unreadable');
        expect(pieces).to.deep.equal([]);
      });
    }

    it('takes a whole answer for one piece, from an upstream that does not stream', async () => {
      sending([JSON.stringify(fixtures.answer)], { type: 'application/json; charset=utf-8' });
      const { result, pieces } = await stream();
      expect([result?.content, result?.usage?.total_tokens, pieces]).to.deep.equal(['Bonjour.', 29, ['Bonjour.']]);
    });

    it('says of a text that was filtered or refused why', async () => {
      sending([JSON.stringify(fixtures.filtered)], { type: 'application/json' });
      const { result, error } = await stream();
      const { kind, said } = withheldBy(result, error);
      expect([kind, said.includes(fixtures.filteredReason)]).to.deep.equal(['rejected', true]);
    });

    for (const status of [400, 401, 429, 503]) {
      it(`takes ${String(status)} as it does at once`, async () => {
        const { body, sentence } = errorBody(fixtures, status);
        answering(
          { ...upstream, generatePath: path },
          {
            status,
            body,
            headers: { 'retry-after': '7', ...(typeof body === 'string' && { 'content-type': 'text/plain' }) },
          },
        );
        const { error } = await stream();
        expect([error?.status, error?.message.slice(0, 20), error?.retryAfter]).to.deep.equal([
          status,
          sentence.slice(0, 20),
          7,
        ]);
      });
    }

    it('fails with what its caller’s own function throws', async () => {
      sending([recorded]);
      const thrown = await failureOf(
        find().text!.stream!(requestTo(upstream), connectionTo(upstream), () => {
          throw new RangeError('The caller’s own.');
        }),
      );
      expect((thrown as Error).message).to.contain('caller’s own');
    });
  });
}
