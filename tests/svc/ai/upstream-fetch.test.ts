import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { OpenAI } from 'openai';
import { openUpstreamFetch } from '../../helpers/upstream-http.ts';
import type { UpstreamFetch } from '../../../plugins/svc/ai/upstream-fetch.ts';
import { createSystemClock } from '../../../host/clock.ts';
import { createFakeClock } from '../../../host/testing/fake-clock.ts';
import { runWithinLimit } from '../../../plugins/svc/kit/time-limit.ts';
import { findErrorCode } from '../../../plugins/svc/kit/upstream-error.ts';
import type { Provider, ProviderError } from '../../../plugins/svc/providers/provider.ts';
import { provider as claude } from '../../../plugins/svc/providers/claude.provider.ts';
import { provider as google } from '../../../plugins/svc/providers/google.provider.ts';
import { provider as openai } from '../../../plugins/svc/providers/openai.provider.ts';
import { fixturesOf } from '../../conformance/upstream.ts';
import { failureOf } from '../../helpers/failure-of.ts';
import { silentLog } from '../../helpers/silent-log.ts';
import { until } from '../../helpers/until.ts';

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

describe('The fetch for upstreams', () => {
  let server: Server;
  let url: string;
  let handle: RequestListener;
  let seen: Seen;
  let connections: number;
  let pool: UpstreamFetch;

  beforeEach(async () => {
    connections = 0;
    handle = (_request, response) => response.end('ok');
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        seen = {
          method: request.method,
          url: request.url,
          headers: request.headers,
          body: Buffer.concat(chunks).toString(),
        };
        handle(request, response);
      });
    });
    server.on('connection', () => (connections += 1));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    pool = openUpstreamFetch();
  });

  afterEach(async () => {
    server.closeAllConnections();
    await pool.close();
    await new Promise((resolve) => server.close(resolve));
  });

  it('sends method, headers and a body of text, and answers status, headers and text', async () => {
    handle = (_request, response) =>
      response.writeHead(201, { 'x-one': '1', 'set-cookie': ['a=1', 'b=2'] }).end('made');
    const response = await pool.fetch(`${url}/path?q=1`, {
      method: 'post',
      headers: new Headers({ 'X-Test': 'yes', 'content-type': 'application/json' }),
      body: '{}',
    });
    expect([seen.method, seen.url, seen.headers['x-test'], seen.headers['content-type'], seen.body]).to.deep.equal([
      'POST',
      '/path?q=1',
      'yes',
      'application/json',
      '{}',
    ]);
    expect([
      response.status,
      response.ok,
      response.headers.get('x-one'),
      response.headers.getSetCookie(),
    ]).to.deep.equal([201, true, '1', ['a=1', 'b=2']]);
    expect(await response.text()).to.equal('made');
    // undici's own fetch, with a Response of its own, takes twice as long.
    expect(response).to.be.instanceOf(Response);
  });

  it('takes a URL, and bodies of bytes, forms and streams', async () => {
    await (await pool.fetch(new URL(url), { method: 'POST', body: new TextEncoder().encode('bytes') })).text();
    expect(seen.body).to.equal('bytes');
    await (await pool.fetch(url, { method: 'POST', body: new URLSearchParams({ a: '1' }) })).text();
    expect(seen.body).to.equal('a=1');
    await (await pool.fetch(url, { method: 'POST', body: new Blob(['stream']).stream(), duplex: 'half' })).text();
    expect(seen.body).to.equal('stream');
  });

  it('answers JSON, bytes, and a stream of what comes as it comes', async () => {
    handle = (_request, response) => response.end('{"a":1}');
    expect(await (await pool.fetch(url)).json()).to.deep.equal({ a: 1 });
    expect((await (await pool.fetch(url)).arrayBuffer()).byteLength).to.equal(7);
    let finish = (): void => undefined;
    handle = (_request, response) => {
      response.write('first');
      finish = () => response.end('second');
    };
    const reader = (await pool.fetch(url)).body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).to.equal('first');
    finish();
    expect(new TextDecoder().decode((await reader.read()).value)).to.equal('second');
  });

  it('reads an upstream no faster than its caller reads', async () => {
    const [all, piece] = [64 * 1_048_576, Buffer.alloc(65_536, 97)];
    let [sent, looks] = [0, 0];
    handle = (_request, response) => {
      const write = (): void => {
        while (sent < all && response.write(piece)) sent += piece.length;
        if (sent < all) response.once('drain', write);
      };
      write();
    };
    const reader = (await pool.fetch(url)).body!.getReader();
    await reader.read();
    let before = -1;
    await until('the upstream waits, or has sent everything', () => {
      looks = sent === before ? looks + 1 : 0;
      before = sent;
      return looks > 20;
    });
    expect(sent).to.be.below(all / 2);
    await reader.cancel();
  });

  it('ends its connection when its reader cancels', async () => {
    const closed = new Promise<void>((resolve) => {
      handle = (_request, response) => {
        response.once('close', resolve);
        response.write('first');
      };
    });
    const reader = (await pool.fetch(url)).body!.getReader();
    await reader.read();
    await reader.cancel();
    await closed;
  });

  it('reports the head and each piece to the exchange, and no 1xx', async () => {
    let reported = 0;
    let next = (): void => undefined;
    handle = (request, response) => {
      request.socket.write('HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n');
      response.flushHeaders();
      next = () => response.write('piece');
    };
    const ended = {
      ended: (init: { message: string }) => new Error(init.message),
      failed: (thrown: unknown) => thrown,
    };
    const clock = createFakeClock();
    const limits = { clock, timeout: 60_000, firstByte: 10_000, idle: 5_000 };
    const exchange = async (signal: AbortSignal): Promise<void> => {
      const reader = (await pool.fetch(url, { signal })).body!.getReader();
      for (; reported < 4; reported += 1) {
        await clock.advance(4_000);
        next();
        await reader.read();
      }
      await clock.advance(5_000);
      await reader.read();
    };
    const failure = (await failureOf(runWithinLimit(limits, exchange, ended))) as Error;
    expect([reported, failure.message]).to.deep.equal([4, 'its response stopped for 5 seconds.']);
  });

  for (const [encoding, compress] of [
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const) {
    it(`undoes ${encoding}`, async () => {
      handle = (_request, response) => response.setHeader('content-encoding', encoding).end(compress('plain'));
      const response = await pool.fetch(url);
      expect(await response.text()).to.equal('plain');
    });
  }

  it('undoes a compressed stream as it comes, and several encodings', async () => {
    const gzip = createGzip();
    handle = (_request, response) => {
      response.setHeader('content-encoding', 'gzip');
      gzip.pipe(response);
      gzip.write('first');
      gzip.flush();
    };
    const reader = (await pool.fetch(url)).body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).to.equal('first');
    gzip.end('second');
    expect(new TextDecoder().decode((await reader.read()).value)).to.equal('second');
    handle = (_request, response) =>
      response.setHeader('content-encoding', 'gzip, br').end(brotliCompressSync(gzipSync('plain')));
    expect(await (await pool.fetch(url)).text()).to.equal('plain');
  });

  it('fails for a body that is not compressed as it says', async () => {
    handle = (_request, response) => response.setHeader('content-encoding', 'gzip').end('plain');
    expect(findErrorCode(await failureOf((await pool.fetch(url)).text()))).to.equal('Z_DATA_ERROR');
  });

  it('answers statuses without a body', async () => {
    handle = (_request, response) => response.writeHead(204).end();
    const response = await pool.fetch(url);
    expect([response.status, await response.text(), response.body]).to.deep.equal([204, '', null]);
  });

  it('follows no redirect, so that a key stays with its host', async () => {
    handle = (_request, response) => response.writeHead(307, { location: 'http://127.0.0.1:9/' }).end();
    const response = await pool.fetch(url, { headers: { authorization: 'Bearer key' } });
    expect([response.status, response.ok]).to.deep.equal([307, false]);
  });

  it('keeps connections', async () => {
    for (let call = 0; call < 10; call += 1) await (await pool.fetch(url)).text();
    // A second one may be opened while the first is just being handed back.
    expect(connections).to.be.at.most(3);
  });

  it('fails with the signal’s reason when it is aborted before, on the way, and while the answer comes', async () => {
    const reason = new Error('Given up.');
    expect(await failureOf(pool.fetch(url, { signal: AbortSignal.abort(reason) }))).to.equal(reason);

    const first = new AbortController();
    handle = () => {
      first.abort(reason);
    };
    expect(await failureOf(pool.fetch(url, { signal: first.signal }))).to.equal(reason);

    const second = new AbortController();
    handle = (_request, response) => response.write('half');
    const response = await pool.fetch(url, { signal: second.signal });
    const text = failureOf(response.text());
    second.abort(reason);
    expect(((await text) as Error).message).to.match(/Given up|abort/i);
  });

  it('fails as fetch does when nobody listens, or the connection is cut, with the code as cause', async () => {
    handle = (request) => request.socket.destroy();
    const cut = (await failureOf(pool.fetch(url))) as TypeError & { cause: { code: string } };
    expect([cut.message, cut.cause.code]).to.deep.equal(['fetch failed', 'UND_ERR_SOCKET']);

    const refused = (await failureOf(pool.fetch('http://127.0.0.1:2/'))) as Error & {
      cause: { code: string; cause: { code: string } };
    };
    expect([refused.message, refused.cause.code, refused.cause.cause.code]).to.deep.equal([
      'fetch failed',
      'outbound_connect',
      'ECONNREFUSED',
    ]);
  });

  it('calls ports that a browser does not call, such as that of a local model', async () => {
    const refused = await failureOf(pool.fetch('http://127.0.0.1:10080/'));
    expect((refused as { cause: { code: string } }).cause.code).to.equal('outbound_connect');
  });

  it('fails for a status that no Response can have, and keeps no connection busy', async () => {
    handle = (_request, response) => response.writeHead(999).end('no');
    for (let call = 0; call < 3; call += 1)
      expect(((await failureOf(pool.fetch(url))) as Error).message).to.equal('fetch failed');
    expect(connections).to.be.at.most(2);
  });

  it('fails while reading when the answer is cut', async () => {
    handle = (_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half', () => response.destroy());
    };
    const reading = async (): Promise<string> => (await pool.fetch(url)).text();
    expect(findErrorCode(await failureOf(reading()))).to.equal('UND_ERR_SOCKET');
    handle = (_request, response) => response.write('half', () => response.destroy());
    expect(findErrorCode(await failureOf(reading()))).to.equal('UND_ERR_SOCKET');
  });

  it('serves the openai package, errors included', async () => {
    const client = new OpenAI({ apiKey: 'key', baseURL: `${url}/v1`, fetch: pool.fetch, maxRetries: 0 });
    handle = (_request, response) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(fixturesOf('openai').answer));
    const completion = await client.chat.completions.create({
      model: 'gpt-4.1',
      messages: [{ role: 'user', content: 'Hello.' }],
    });
    expect(completion.choices[0]?.message.content).to.equal('Bonjour.');
    handle = (_request, response) =>
      response
        .writeHead(429, { 'content-type': 'application/json', 'retry-after': '3' })
        .end('{"error":{"message":"Slow down."}}');
    const error = (await failureOf(client.models.list().asResponse())) as InstanceType<typeof OpenAI.APIError>;
    expect([error.status, error.headers?.get('retry-after')]).to.deep.equal([429, '3']);
  });

  it('streams to the openai package', async () => {
    const client = new OpenAI({ apiKey: 'key', baseURL: `${url}/v1`, fetch: pool.fetch, maxRetries: 0 });
    handle = (_request, response) => {
      response.setHeader('content-type', 'text/event-stream');
      for (const content of ['Bon', 'jour.'])
        response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`);
      response.end('data: [DONE]\n\n');
    };
    let text = '';
    for await (const chunk of await client.chat.completions.create({ model: 'm', messages: [], stream: true }))
      text += chunk.choices[0]?.delta.content ?? '';
    expect(text).to.equal('Bonjour.');
  });

  for (const provider of [openai, claude, google] as const satisfies readonly Provider[]) {
    describe(`under ${provider.label}`, () => {
      const generate = (timeout = 5000, signal?: AbortSignal) =>
        provider.text!.generate(
          { model: 'gemini-2.5-flash', system: null, messages: [{ role: 'user', content: 'Hello.' }], params: {} },
          {
            settings: { api_key: 'key', base_url: url },
            fetch: pool.fetch,
            clock: createSystemClock(),
            log: silentLog,
            timeout,
            ...(signal && { signal }),
          },
        );
      const failure = async (...input: Parameters<typeof generate>) =>
        (await failureOf(generate(...input))) as ProviderError;

      it('answers text', async () => {
        handle = (_request, response) =>
          response.setHeader('content-type', 'application/json').end(JSON.stringify(fixturesOf(provider.id).answer));
        expect((await generate()).content).to.equal('Bonjour.');
      });

      it('takes a cut connection and a cut answer as connection errors', async () => {
        handle = (request) => request.socket.destroy();
        expect((await failure()).kind).to.equal('connection');
        handle = (_request, response) => {
          response
            .writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
            .write('{"half', () => response.destroy());
        };
        expect((await failure()).kind).to.equal('connection');
      });

      it('ends an upstream that never answers, and one that never ends its answer', async () => {
        handle = () => undefined;
        expect((await failure(20)).kind).to.equal('timeout');
        handle = (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).write('{');
        expect((await failure(20)).kind).to.equal('timeout');
      });

      it('ends when the caller gives up while the answer comes', async () => {
        const controller = new AbortController();
        handle = (_request, response) => {
          response.writeHead(200, { 'content-type': 'application/json' }).write('{', () => {
            controller.abort();
          });
        };
        expect((await failure(5000, controller.signal)).kind).to.equal('aborted');
      });
    });
  }
});
