import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { request as open, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { expect } from 'chai';
import { RestResponse, type RestRequest } from '#plugin-api';
import { createFakeClock } from '../../host/testing/fake-clock.ts';
import { createAssets } from '../../host/http/assets.ts';
import { createMetrics } from '../../host/http/metrics.ts';
import { createHttpServer } from '../../host/http/server.ts';
import { createRestHandler } from '../../host/rest/express-adapter.ts';
import { until } from '../helpers/until.ts';
import { silentLog } from '../helpers/silent-log.ts';
import { openBodies, startRestSite, visitor, type RestSite } from './site.ts';

/** A promise and its key. */
function gate<Value = void>(): { readonly opened: Promise<Value>; readonly open: (value: Value) => void } {
  let open: (value: Value) => void = () => undefined;
  const opened = new Promise<Value>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe('REST responses that are streamed', () => {
  let site: RestSite;
  let make: (request: RestRequest) => AsyncIterable<string | Uint8Array>;
  beforeEach(async () => {
    site = await startRestSite({ currentUser: () => visitor });
    site.rest.registerRoute('test/v1', '/open', {
      methods: ['GET', 'POST'],
      handler: (request) =>
        new RestResponse({ content: make(request), headers: { 'Content-Type': 'text/event-stream' } }),
    });
  });
  afterEach(() => site.stop());

  async function get(url = site.url): Promise<IncomingMessage> {
    const [response] = (await once(open(`${url}/wp-json/test/v1/open`, { agent: false }).end(), 'response')) as [
      IncomingMessage,
    ];
    response.on('error', () => undefined);
    return response;
  }

  it('are sent in chunks, headers first, each before the next is produced', async () => {
    const first = gate();
    const second = gate();
    make = async function* () {
      await first.opened;
      yield 'one';
      await second.opened;
      yield Buffer.from('two');
    };
    const response = await get();
    const pieces = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    expect(response.statusCode).to.equal(200);
    first.open();
    expect(String((await pieces.next()).value)).to.equal('one');
    second.open();
    expect(String((await pieces.next()).value)).to.equal('two');
    expect((await pieces.next()).done).to.equal(true);
    expect(response.complete).to.equal(true);
  });

  it('are sent with the headers in one packet as far as they are ready', async () => {
    make = async function* () {
      yield 'one';
      await Promise.resolve();
      yield 'two';
      await new Promise<void>((resolve) => setImmediate(resolve));
      yield 'three';
    };
    const sent: string[] = [];
    const record = (message: unknown): void => {
      const { socket } = message as { socket: Required<Pick<Duplex, '_writev'>> };
      const send = socket._writev.bind(socket);
      socket._writev = (chunks, done) => {
        sent.push(chunks.map(({ chunk }) => String(chunk)).join(''));
        send(chunks, done);
      };
    };
    subscribe('http.server.request.start', record);
    const response = await get();
    unsubscribe('http.server.request.start', record);
    response.resume();
    await once(response, 'end');
    expect(sent[0]).to.match(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\n(?:3\r\none\r\n3\r\ntwo|6\r\nonetwo)\r\n$/s);
  });

  it('wait for a caller that takes them slowly', async () => {
    const size = 256 * 1024;
    let made = 0;
    make = async function* () {
      for (; made < 256; made += 1) yield Buffer.alloc(size);
    };
    const response = await get();
    let taken = 0;
    let ahead = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      taken += chunk.length;
      ahead = Math.max(ahead, made * size - taken);
    }
    expect(taken).to.equal(256 * size);
    expect(ahead / 1_048_576).to.be.below(24);
  });

  it('store little for forty callers that read nothing', async () => {
    const [callers, size, pieces] = [40, 64 * 1024, 512];
    let ended = 0;
    make = async function* () {
      for (let piece = 0; piece < pieces; piece += 1) yield Buffer.alloc(size);
      ended += 1;
    };
    const unread: ServerResponse[] = [];
    const remember = (message: unknown): void =>
      void unread.push((message as { readonly response: ServerResponse }).response);
    subscribe('http.server.request.start', remember);
    try {
      await Promise.all(Array.from({ length: callers }, () => get()));
    } finally {
      unsubscribe('http.server.request.start', remember);
    }
    await until('all wait for their callers', () => unread.every((response) => response.writableNeedDrain));
    let taken = 0;
    for await (const chunk of (await get()) as AsyncIterable<Buffer>) taken += chunk.length;
    expect([taken, ended, unread.length]).to.deep.equal([pieces * size, 1, callers]);
    const stored = unread.reduce((sum, { writableLength }) => sum + writableLength, 0);
    expect(stored / 1_048_576).to.be.below(32);
  });

  it('end, and their request’s signal is aborted, when the caller hangs up', async () => {
    const aborted = gate();
    const ended = gate<string>();
    make = async function* (request) {
      request.signal.addEventListener('abort', () => aborted.open());
      try {
        yield 'one';
        await aborted.opened;
        yield 'two';
      } finally {
        ended.open('ended');
      }
    };
    const response = await get();
    await once(response, 'data');
    response.destroy();
    await aborted.opened;
    expect(await ended.opened).to.equal('ended');
    expect(site.log.filter(({ level }) => level === 'error' || level === 'warn')).to.deep.equal([]);
  });

  it('end when the caller hangs up between chunks', async () => {
    const returned = gate<string>();
    make = () => ({
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => undefined),
        return: () => {
          returned.open('returned');
          return Promise.reject(new Error('The caller has hung up.'));
        },
      }),
    });
    (await get()).destroy();
    expect(await returned.opened).to.equal('returned');
  });

  for (const [when, pieces] of [
    ['in the middle', ['one']],
    ['before the first piece', []],
  ] as const) {
    it(`are cut where one fails ${when}, and the log says why by request id`, async () => {
      make = async function* () {
        yield* pieces;
        throw new Error('The upstream broke.');
      };
      const { headers, body } = await fetch(`${site.url}/wp-json/test/v1/open`).then((response) => ({
        headers: response.headers,
        body: response.text().then(
          () => 'whole',
          () => 'cut',
        ),
      }));
      expect(await body).to.equal('cut');
      const line = site.log.find(({ level }) => level === 'error');
      expect(line?.fields['request_id']).to.equal(headers.get('x-request-id'));
      expect(line?.fields['route']).to.equal('/test/v1/open');
      expect(String(line?.fields['error'])).to.contain('The upstream broke.');
    });
  }

  it('become an error when a header cannot be sent, and are ended', async () => {
    const ended = gate<string>();
    site.rest.registerRoute('test/v1', '/bad-header', {
      handler: () =>
        new RestResponse({
          headers: { 'X-Bad': 'a\nb' },
          content: {
            [Symbol.asyncIterator]: () => ({
              next: () => Promise.reject(new Error('Not asked for.')),
              return: () => {
                ended.open('ended');
                return Promise.resolve({ done: true, value: undefined });
              },
            }),
          },
        }),
    });
    const response = await site.fetch('/wp-json/test/v1/bad-header');
    expect(response.status).to.equal(500);
    expect(await ended.opened).to.equal('ended');
  });

  it('may still end while the server stops, and are cut when its grace is over', async () => {
    const clock = createFakeClock();
    const metrics = createMetrics({ clock, log: silentLog });
    const handler = createRestHandler({
      rest: site.rest,
      prefix: 'wp-json',
      currentUser: () => visitor,
      bodies: openBodies(silentLog),
      log: silentLog,
    });
    const server = createHttpServer({
      log: silentLog,
      clock,
      metrics,
      siteUrl: () => site.url,
      restRoot: () => `${site.url}/wp-json/`,
      trustProxy: false,
      rest: handler,
      assets: createAssets(),
      checks: {},
      metricsToken: null,
      renderError: (status) => Promise.resolve(String(status)),
    });
    const { url } = await server.listen({ port: 0, host: '127.0.0.1' });
    const last = gate();
    const ended = gate<string>();
    make = async function* () {
      yield 'one';
      await last.opened;
      yield 'two';
    };
    const ending = (await get(url))[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    await ending.next();
    make = async function* ({ signal }) {
      try {
        yield 'one';
        await once(signal, 'abort');
      } finally {
        ended.open('ended');
      }
    };
    const endless = await get(url);
    await once(endless, 'data');
    const closed = server.close(10_000);
    last.open();
    expect(String((await ending.next()).value)).to.equal('two');
    expect((await ending.next()).done).to.equal(true);
    const cut = new Promise<void>((resolve) => void endless.once('close', resolve));
    await clock.advance(10_000);
    await closed;
    await cut;
    expect(endless.complete).to.equal(false);
    expect(await ended.opened).to.equal('ended');
  });
});
