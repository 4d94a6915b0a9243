import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import type { RequestHandler } from 'express';
import { createSystemClock } from '../../host/clock.ts';
import { createAssets } from '../../host/http/assets.ts';
import { createMetrics } from '../../host/http/metrics.ts';
import type { Metrics } from '../../host/http/metrics.ts';
import { createHttpServer, defaultTimeouts } from '../../host/http/server.ts';
import type { HttpServer, HttpServerDependencies } from '../../host/http/server.ts';
import { createLogger } from '../../host/log/log.ts';
import { failureOf } from '../helpers/failure-of.ts';

describe('HTTP server', () => {
  let server: HttpServer;
  let url: string;
  let lines: string[];
  let metrics: Metrics;

  const rest: RequestHandler = (request, response, next) => {
    if (!request.url.startsWith('/wp-json')) return next();
    if (request.url === '/wp-json/thrown') throw new Error('rest threw at /some/path');
    if (request.url === '/wp-json/broken') return next(new Error('rest broke at /some/path'));
    response
      .writeHead(200, { 'Content-Type': 'application/json' })
      .end(JSON.stringify({ ip: request.ip, id: request.headers['x-request-id'] }));
  };

  async function start(changes: Partial<HttpServerDependencies> = {}): Promise<void> {
    lines = [];
    const clock = createSystemClock();
    const log = createLogger({ level: 'debug', clock, write: (line) => lines.push(line) });
    metrics = createMetrics({ clock, log });
    server = createHttpServer({
      log,
      clock,
      metrics,
      siteUrl: () => url,
      restRoot: () => `${url}/wp-json/`,
      trustProxy: false,
      rest,
      assets: createAssets(),
      checks: {},
      metricsToken: null,
      renderError: async (status, requestId) => `<h1>${status}</h1><p>${requestId}</p>`,
      ...changes,
    });
    ({ url } = await server.listen({ port: 0, host: '127.0.0.1' }));
  }

  afterEach(() => server.close(0));

  describe('request ids', () => {
    it('are generated when the caller sends none, and are a header of every response', async () => {
      await start();
      for (const path of ['/wp-json/x', '/healthz', '/nowhere', '/assets/none/x.js']) {
        expect((await fetch(url + path)).headers.get('x-request-id'), path).to.match(/^[0-9a-f-]{36}$/);
      }
    });

    it('keep a plain token of the caller and drop anything else', async () => {
      await start();
      const idFor = async (given: string): Promise<unknown> => {
        const response = await fetch(`${url}/wp-json/x`, { headers: { 'X-Request-Id': given } });
        const { id } = (await response.json()) as { id: string };
        expect(response.headers.get('x-request-id')).to.equal(id);
        return id;
      };
      expect(await idFor('trace-1:a.b_c')).to.equal('trace-1:a.b_c');
      for (const bad of ['<script>', 'a b', 'x'.repeat(129), '"']) expect(await idFor(bad)).to.match(/^[0-9a-f-]{36}$/);
    });
  });

  describe('pages', () => {
    it('carry a policy without inline code, REST discovery and no sign of the software', async () => {
      await start({ site: ((_request, response) => void response.send('<p>home</p>')) satisfies RequestHandler });
      const { headers } = await fetch(`${url}/`);
      expect(headers.get('content-security-policy')?.replace(/'nonce-[\w+/=]{24}'/, "'nonce'")).to.equal(
        "default-src 'self';script-src 'nonce';script-src-attr 'none';style-src 'self';img-src 'self' data:;object-src 'none';frame-ancestors 'self';base-uri 'none';form-action 'self'",
      );
      expect(headers.get('link')).to.equal(`<${url}/wp-json/>; rel="https://api.w.org/"`);
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
      expect(headers.get('referrer-policy')).to.equal('strict-origin-when-cross-origin');
      expect(headers.get('x-powered-by')).to.equal(null);
      expect(headers.get('strict-transport-security')).to.equal(null);
    });

    it('require https once the site uses https', async () => {
      await start({ siteUrl: () => 'https://example.com' });
      expect((await fetch(`${url}/`)).headers.get('strict-transport-security')).to.equal('max-age=63072000');
    });

    it('without a handler get the 404 page', async () => {
      await start();
      const response = await fetch(`${url}/nowhere`);
      expect(response.status).to.equal(404);
      expect(response.headers.get('content-type')).to.equal('text/html; charset=utf-8');
      expect(await response.text()).to.equal(`<h1>404</h1><p>${response.headers.get('x-request-id')}</p>`);
    });

    it('that throw are the error page, with the reason in the log alone', async () => {
      await start({
        admin: () => {
          throw new Error('secret detail');
        },
      });
      for (const path of ['/admin/x', '/wp-json/broken', '/wp-json/thrown']) {
        const response = await fetch(url + path);
        expect(response.status).to.equal(500);
        expect(response.headers.get('content-security-policy')).to.include("default-src 'self'");
        expect(await response.text()).to.equal(`<h1>500</h1><p>${response.headers.get('x-request-id')}</p>`);
        expect(lines.join('')).to.include(response.headers.get('x-request-id')!);
      }
      expect(lines.join('')).to.include('secret detail').and.to.include('rest broke');
    });

    it('keep the status of errors that carry one', async () => {
      await start({
        admin: () => {
          throw Object.assign(new Error('no'), { status: 403 });
        },
      });
      expect((await fetch(`${url}/admin/x`)).status).to.equal(403);
      expect((await fetch(`${url}/%E0%A4%A`)).status).to.equal(404);
    });

    it('have a plain error page when the error page itself fails', async () => {
      await start({ renderError: () => Promise.reject(new Error('template broken')) });
      const response = await fetch(`${url}/nowhere`);
      expect(response.status).to.equal(404);
      expect(await response.text())
        .to.include('Error 404')
        .and.not.to.include('template broken');
    });

    it('cut the connection when a page fails after its first bytes', async () => {
      await start({
        site: (_request, response, next) => {
          response.write('part');
          next(new Error('late'));
        },
      });
      const outcome = await fetch(`${url}/`)
        .then((response) => response.text())
        .then(
          () => 'whole',
          () => 'cut',
        );
      expect(outcome).to.equal('cut');
    });
  });

  describe("the caller's address", () => {
    const ipOf = async (forwarded?: string) =>
      (
        (await (
          await fetch(`${url}/wp-json/x`, { headers: forwarded ? { 'X-Forwarded-For': forwarded } : {} })
        ).json()) as { ip: string }
      ).ip;

    it('is the peer while no proxy is trusted', async () => {
      await start();
      expect(await ipOf()).to.equal('127.0.0.1');
      expect(await ipOf('203.0.113.9')).to.equal('127.0.0.1');
    });

    it('is the nearest hop that is no trusted proxy', async () => {
      await start({ trustProxy: 1 });
      expect(await ipOf()).to.equal('127.0.0.1');
      expect(await ipOf('198.51.100.1, 203.0.113.9')).to.equal('203.0.113.9');
    });

    it('is the first one when all hops are trusted addresses', async () => {
      await start({ trustProxy: 'loopback, 203.0.113.9' });
      expect(await ipOf('198.51.100.1, 203.0.113.9')).to.equal('198.51.100.1');
    });
  });

  describe('health', () => {
    it('is alive while it responds, ready while every check passes', async () => {
      let broken = false;
      await start({
        checks: {
          database: async () => {
            if (broken) throw new Error('password=hunter2');
          },
          plugins: async () => undefined,
        },
      });
      expect((await fetch(`${url}/healthz`)).status).to.equal(200);
      const ready = await fetch(`${url}/readyz`);
      expect([ready.status, await ready.json()]).to.deep.equal([
        200,
        { status: 'ready', checks: { database: 'ok', plugins: 'ok' } },
      ]);
      broken = true;
      const failing = await fetch(`${url}/readyz`);
      expect([failing.status, await failing.json()]).to.deep.equal([
        503,
        { status: 'not ready', checks: { database: 'failed', plugins: 'ok' } },
      ]);
      expect((await fetch(`${url}/healthz`)).status).to.equal(200);
    });

    it('does not blame migrations for a database that is locked', async () => {
      const locked = async () => {
        throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
      };
      await start({ checks: { database: locked, migrations: locked, plugins: async () => undefined } });
      expect(await (await fetch(`${url}/readyz`)).json()).to.deep.equal({
        status: 'not ready',
        checks: { database: 'failed', migrations: 'unknown', plugins: 'ok' },
      });
    });

    it('is not ready while it drains, though it still serves', async () => {
      await start();
      server.drain();
      expect((await fetch(`${url}/readyz`)).status).to.equal(503);
      expect((await fetch(`${url}/wp-json/x`)).status).to.equal(200);
    });

    it('counts a check that hangs as failed', async () => {
      await start({
        checks: { stuck: () => new Promise(() => undefined) },
        clock: { now: () => 0, after: (_ms, callback) => (setImmediate(callback), () => undefined) },
      });
      expect((await fetch(`${url}/readyz`)).status).to.equal(503);
    });
  });

  describe('connections', () => {
    it('are closed beyond the limit, which the log says once a minute', async () => {
      await start({ maxConnections: 2 });
      const port = Number(new URL(url).port);
      const open = (): Promise<Socket> =>
        new Promise((resolve, reject) => {
          const socket = connect(port, '127.0.0.1');
          socket.once('error', reject).once('data', () => resolve(socket));
          socket.once('close', () => reject(new Error('closed')));
          socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
        });
      const first = await open();
      const second = await open();
      for (let time = 0; time < 3; time += 1) expect(await failureOf(open())).to.be.instanceOf(Error);
      expect(lines.filter((line) => line.includes('"connections_refused"'))).to.have.length(1);
      const gone = new Promise((resolve) => first.once('close', resolve));
      first.destroy();
      await gone;
      let third: Socket | null = null;
      while (third === null) third = await open().catch(() => null);
      for (const socket of [second, third]) socket.destroy();
    });
  });

  describe('heads', () => {
    /** Sends a byte of a head every 10 ms until the server closes the connection. */
    async function drip(head: string): Promise<{ readonly answer: string; readonly sent: number }> {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      let answer = '';
      let sent = 0;
      socket.on('error', () => undefined).on('data', (chunk) => (answer += chunk.toString('latin1')));
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      const timer = setInterval(() => {
        if (sent < head.length && !socket.destroyed) socket.write(head[sent++] ?? '');
      }, 10);
      await closed;
      clearInterval(timer);
      return { answer, sent };
    }
    const head = `GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(8_000)}`;

    it('that are not complete in time are answered with 408, however steadily their bytes arrive', async () => {
      await start({ timeouts: { ...defaultTimeouts, headers: 150, interval: 20 } });
      const { answer, sent } = await drip(head);
      expect(answer)
        .to.match(/^HTTP\/1\.1 408 /)
        .and.match(/\r\nX-Content-Type-Options: nosniff\r\n/i);
      expect(sent).to.be.within(1, head.length - 1);
      expect((await fetch(`${url}/healthz`)).status, 'a quick head').to.equal(200);
    });

    it('have 20 seconds, and 5 until the server notices', () => {
      expect(defaultTimeouts).to.include({ headers: 20_000, interval: 5_000 });
    });
  });

  describe('metrics', () => {
    it('count requests by class and status, with durations and the process', async () => {
      await start();
      for (const path of ['/wp-json/a', '/wp-json/b', '/nowhere', '/healthz', '/admin', '/assets/x/y'])
        await (await fetch(url + path)).text();
      const text = await (await fetch(`${url}/metrics`)).text();
      expect(text).to.include('http_requests_total{class="rest",status="200"} 2\n');
      for (const labels of [
        'class="site",status="404"',
        'class="health",status="200"',
        'class="admin",status="404"',
        'class="assets",status="404"',
      ])
        expect(text).to.include(`http_requests_total{${labels}} 1\n`);
      expect(text)
        .to.include('http_request_duration_seconds_bucket{le="+Inf",class="rest"} 2\n')
        .and.to.include('http_request_duration_seconds_count{class="rest"} 2\n');
      expect(text).to.include('process_resident_memory_bytes ');
    });

    it('show what plugins add, until they take it back, and leave out those that fail', async () => {
      await start();
      const undo = metrics.api.add(() => '# TYPE hello_greetings_total counter\nhello_greetings_total 3\n');
      metrics.api.add(() => {
        throw new Error('no figures today');
      });
      metrics.api.add(async () => 'other_gauge 1');
      const read = async (): Promise<string> => (await fetch(`${url}/metrics`)).text();
      const text = await read();
      expect(text)
        .to.match(/\nhello_greetings_total 3\nother_gauge 1\n$/)
        .and.to.include('process_resident_memory_bytes ');
      expect(lines.join('')).to.include('no figures today');
      undo();
      const later = await read();
      expect(later).to.include('other_gauge 1\n');
      expect(later).not.to.include('hello_greetings_total');
    });

    it('are for this machine, or for holders of the token', async () => {
      await start({ metricsToken: 'scrape-me' });
      const status = async (headers: Record<string, string>) => (await fetch(`${url}/metrics`, { headers })).status;
      expect(await status({})).to.equal(200);
      const outside = { 'X-Forwarded-For': '203.0.113.9' };
      // What proxies of this machine add, each alone.
      for (const headers of [
        outside,
        { Forwarded: 'for=203.0.113.9' },
        { 'X-Real-IP': '203.0.113.9' },
        { Via: '1.1 proxy' },
      ])
        expect(await status(headers), Object.keys(headers).join()).to.equal(403);
      expect(await status({ ...outside, Authorization: 'Bearer wrong' })).to.equal(403);
      expect(await status({ ...outside, Authorization: 'Bearer scrape-me' })).to.equal(200);
    });
  });

  describe('stopping', () => {
    it('lets a request under way finish, takes no new one and drops idle connections', async () => {
      let release: () => void = () => undefined;
      let arrived: () => void = () => undefined;
      const inHandler = new Promise<void>((resolve) => (arrived = resolve));
      await start({
        site: (_request, response) => {
          release = () => void response.send('whole');
          arrived();
        },
      });
      const { port } = new URL(url);
      const idle = connect(Number(port), '127.0.0.1');
      const idleGone = new Promise((resolve) => idle.on('close', resolve));
      await new Promise<void>((resolve) => idle.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n', () => resolve()));
      await new Promise((resolve) => idle.once('data', resolve));
      const slow = fetch(`${url}/slow`);
      await inHandler;
      const closed = server.close(60_000);
      await idleGone;
      expect(
        await fetch(`${url}/healthz`).then(
          () => 'served',
          () => 'refused',
        ),
      ).to.equal('refused');
      release();
      expect(await (await slow).text()).to.equal('whole');
      await closed;
    });

    it('cuts what is left after the grace', async () => {
      let arrived: () => void = () => undefined;
      const inHandler = new Promise<void>((resolve) => (arrived = resolve));
      await start({ site: () => arrived() });
      const stuck = fetch(`${url}/stuck`).then(
        () => 'answered',
        () => 'cut',
      );
      await inHandler;
      await server.close(0);
      expect(await stuck).to.equal('cut');
    });

    it('says what to do when the port is in use', async () => {
      await start();
      const second = createHttpServer({
        log: createLogger({ level: 'silent', clock: createSystemClock() }),
        clock: createSystemClock(),
        metrics,
        siteUrl: () => '',
        restRoot: () => '',
        trustProxy: false,
        rest,
        assets: createAssets(),
        checks: {},
        metricsToken: null,
        renderError: async () => '',
      });
      const error = await second.listen({ port: Number(new URL(url).port), host: '127.0.0.1' }).then(
        () => null,
        (reason: unknown) => reason as Error,
      );
      expect(error?.message).to.match(/^Port \d+ is in use\. .* set PORT to another one\.$/);
    });
  });
});
