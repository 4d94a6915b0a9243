import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect } from 'chai';
import type { buildConnector } from 'undici';
import { outboundReason } from '#plugin-api';
import { createSystemClock } from '../../host/clock.ts';
import { refusalReason } from '../../host/http/outbound-addresses.ts';
import { createGuardedConnector } from '../../host/http/outbound-connector.ts';
import { createOutbound } from '../../host/http/outbound.ts';
import type { Outbound } from '../../host/http/outbound.ts';

/** Fails with the error of a promise that should have rejected. */
async function rejection(promise: Promise<unknown>): Promise<Error & { code?: string }> {
  const outcome = await promise.then(
    () => null,
    (error: unknown) => error as Error & { code?: string },
  );
  if (outcome === null) throw new Error('It resolved.');
  return outcome;
}

describe('outbound requests', () => {
  let trap: Server;
  let port: number;
  let seen: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[];
  let answer: RequestListener;
  let outbound: Outbound;
  let names: Record<string, string[]>;
  let timers: (() => void)[];

  beforeEach(async () => {
    seen = [];
    timers = [];
    names = {
      'inside.example': ['127.0.0.1'],
      'mixed.example': ['93.184.215.14', '10.0.0.7'],
      'metadata.example': ['169.254.169.254'],
      'empty.example': [],
    };
    answer = (_request, response) => void response.end('hello');
    trap = createServer((request, response) => {
      let body = '';
      request
        .on('data', (part: Buffer) => (body += part.toString()))
        .on('end', () => {
          seen.push({ method: request.method!, url: request.url!, headers: request.headers, body });
          answer(request, response);
        });
    });
    await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
    port = (trap.address() as AddressInfo).port;
    outbound = createOutbound({
      clock: { after: (_milliseconds, callback) => (timers.push(callback), () => undefined) },
      resolve: async (name) => names[name] ?? Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' })),
    });
  });
  afterEach(async () => {
    await outbound.close();
    trap.closeAllConnections();
    await new Promise((resolve) => trap.close(resolve));
  });

  const inside = (path = '/') => `http://inside.example:${port}${path}`;

  it('returns status, headers, body and URL', async () => {
    answer = (_request, response) =>
      void response.writeHead(201, { 'content-type': 'application/json', 'X-One': '1' }).end('{"a":"é"}');
    const response = await outbound.fetch(inside('/a%2Fb?q=%20c'), {
      method: 'POST',
      body: 'sent',
      headers: { 'X-Sent': 'yes' },
      allowInternal: true,
    });
    expect(response.status).to.equal(201);
    expect(response.headers['x-one']).to.equal('1');
    expect(response.json()).to.deep.equal({ a: 'é' });
    expect(response.url).to.equal(inside('/a%2Fb?q=%20c'));
    expect(seen[0]).to.deep.include({ method: 'POST', url: '/a%2Fb?q=%20c', body: 'sent' });
    expect(seen[0]!.headers).to.include({ 'x-sent': 'yes', host: `inside.example:${port}` });
  });

  describe('refuses, without a single connection,', () => {
    const literals = [
      '127.0.0.1',
      '127.1',
      '0x7f.1',
      '2130706433',
      '0177.0.0.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[::127.0.0.1]',
      '0.0.0.0',
      '[::]',
      '10.1.2.3',
      '192.168.1.1',
      '172.16.0.1',
      '100.64.0.1',
      '169.254.169.254',
      '[fe80::1]',
      '[fc00::1]',
      '[fec0::1]',
      '[64:ff9b::7f00:1]',
      '[64:ff9b::a9fe:a9fe]',
      '[64:ff9b:1::a00:1]',
      '[2002:7f00:1::]',
      '224.0.0.1',
      '255.255.255.255',
      '198.18.0.1',
      '192.0.2.1',
    ];
    for (const host of literals) {
      it(`the address ${host}`, async () => {
        expect((await rejection(outbound.fetch(`http://${host}:${port}/`))).code).to.equal('outbound_refused');
        expect(seen).to.deep.equal([]);
      });
    }

    it('a name that leads inside, also when only one of its addresses does', async () => {
      const error = await rejection(outbound.fetch(inside()));
      expect(error).to.include({
        code: 'outbound_refused',
        message: 'The address could not be fetched.',
        reason: 'inside.example resolves to 127.0.0.1, which is not a public address (loopback).',
      });
      expect((await rejection(outbound.fetch('http://mixed.example/'))).code).to.equal('outbound_refused');
      expect(seen).to.deep.equal([]);
    });

    it('metadata services and link-local addresses, even where private networks are open', async () => {
      for (const host of [
        '169.254.169.254',
        '[fd00:ec2::254]',
        '168.63.129.16',
        '100.100.100.200',
        '169.254.1.1',
        '[fe80::1]',
        'metadata.example',
        '0.0.0.0',
      ]) {
        expect((await rejection(outbound.fetch(`http://${host}/`, { allowInternal: true }))).code, host).to.equal(
          'outbound_refused',
        );
        expect((await rejection(outbound.fetch(`http://${host}/`, { allowHost: `${host}:80` }))).code, host).to.equal(
          'outbound_refused',
        );
      }
    });

    it('other schemes, addresses with a password and nonsense', async () => {
      for (const url of [
        'file:///etc/passwd',
        'ftp://x.example/',
        'gopher://x/',
        'nonsense',
        '',
        'http://',
        'http://user:word@example.com/',
      ]) {
        const error = await rejection(outbound.fetch(url));
        expect(error.code, url).to.equal('outbound_refused');
        expect(error.message).not.to.include('word@');
      }
    });
  });

  it('takes public addresses of all forms for public', () => {
    for (const address of [
      '93.184.215.14',
      '8.8.8.8',
      '2606:2800:220:1:248:1893:25c8:1946',
      '::ffff:8.8.8.8',
      '64:ff9b::808:808',
    ]) {
      expect(refusalReason(address, false), address).to.equal(null);
    }
  });

  it('opens one typed host and port, and nothing beside it', async () => {
    const allowHost = `127.0.0.1:${port}`;
    expect((await outbound.fetch(`http://127.0.0.1:${port}/`, { allowHost })).text()).to.equal('hello');
    expect((await rejection(outbound.fetch(`http://127.0.0.1:${port + 1}/`, { allowHost }))).code).to.equal(
      'outbound_refused',
    );
    answer = (_request, response) => void response.writeHead(302, { location: inside('/other-name') }).end();
    expect((await rejection(outbound.fetch(`http://127.0.0.1:${port}/`, { allowHost }))).code).to.equal(
      'outbound_refused',
    );
  });

  it('does not hand a connection opened for one policy to another', async () => {
    await outbound.fetch(inside(), { allowInternal: true });
    expect((await rejection(outbound.fetch(inside()))).code).to.equal('outbound_refused');
    expect(seen).to.have.length(1);
  });

  it('refuses a peer that is another than the one looked up', async () => {
    const socket = {
      remoteAddress: '10.0.0.7',
      destroyed: false,
      destroy() {
        this.destroyed = true;
      },
    };
    const buildFake = (() => (_options: buildConnector.Options, callback: buildConnector.Callback) =>
      callback(null, socket as unknown as Socket)) as unknown as typeof buildConnector;
    const connect = createGuardedConnector({
      policy: { allowInternal: false, allowHost: null },
      resolve: async () => ['93.184.215.14'],
      buildConnector: buildFake,
      timeout: 1,
    });
    const error = await new Promise((resolve) =>
      connect({ hostname: 'example.com', protocol: 'http:', port: '80' }, (...outcome) => resolve(outcome[0])),
    );
    expect(error).to.include({ code: 'outbound_refused' });
    expect(socket.destroyed).to.equal(true);
  });

  describe('redirects', () => {
    it('are followed with method and body, and checked like the first address', async () => {
      answer = (request, response) =>
        void (request.url === '/' ? response.writeHead(307, { location: '/next' }).end() : response.end('there'));
      const response = await outbound.fetch(inside(), { method: 'POST', body: 'x', allowInternal: true });
      expect(response.text()).to.equal('there');
      expect(response.url).to.equal(inside('/next'));
      expect(seen.map(({ method, url, body }) => [method, url, body])).to.deep.equal([
        ['POST', '/', 'x'],
        ['POST', '/next', 'x'],
      ]);

      answer = (_request, response) =>
        void response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end();
      expect((await rejection(outbound.fetch(inside(), { allowInternal: true }))).code).to.equal('outbound_refused');
      answer = (_request, response) => void response.writeHead(302, { location: 'file:///etc/passwd' }).end();
      expect((await rejection(outbound.fetch(inside(), { allowInternal: true }))).code).to.equal('outbound_refused');
    });

    it('end after the given number', async () => {
      answer = (_request, response) => void response.writeHead(301, { location: '/again' }).end();
      expect((await rejection(outbound.fetch(inside(), { allowInternal: true, redirects: 2 }))).code).to.equal(
        'outbound_redirects',
      );
      expect(seen).to.have.length(3);
    });

    it('303 is followed for GET and refused for POST', async () => {
      answer = (request, response) =>
        void (request.url === '/' ? response.writeHead(303, { location: '/next' }).end() : response.end('there'));
      expect((await outbound.fetch(inside(), { allowInternal: true })).text()).to.equal('there');
      expect(
        (await rejection(outbound.fetch(inside(), { allowInternal: true, method: 'POST', body: 'x' }))).code,
      ).to.equal('outbound_redirects');
    });

    it('are an error when they lead to another origin, where the caller wants none of them', async () => {
      names['other.example'] = ['127.0.0.1'];
      const init = { allowInternal: true, sameOriginOnly: true, method: 'POST', body: 'x' };
      for (const origin of [`http://other.example:${port}`, `http://inside.example:${port + 1}`]) {
        answer = (_request, response) => void response.writeHead(307, { location: `${origin}/next` }).end();
        expect(await rejection(outbound.fetch(inside(), init))).to.deep.include({
          code: 'outbound_redirects',
          status: 307,
          message: 'The address redirects to one that is not followed.',
          reason: `inside.example:${port} redirects to another origin, ${origin}.`,
        });
      }
      answer = (request, response) =>
        void (request.url === '/' ? response.writeHead(307, { location: inside('/next') }).end() : response.end());
      expect((await outbound.fetch(inside(), init)).status).to.equal(200);
      expect(seen.map(({ url }) => url)).to.deep.equal(['/', '/', '/', '/next']);
    });

    it('leave custom headers behind when they lead to another origin', async () => {
      names['other.example'] = ['127.0.0.1'];
      answer = (request, response) =>
        void (request.url === '/'
          ? response.writeHead(302, { location: `http://other.example:${port}/next` }).end()
          : response.end());
      await outbound.fetch(inside(), {
        allowInternal: true,
        headers: {
          Authorization: 'Bearer x',
          Cookie: 'a=b',
          'X-Api-Key': 'secret',
          Accept: 'text/plain',
        },
      });
      expect(seen[0]!.headers).to.include({ authorization: 'Bearer x', 'x-api-key': 'secret' });
      expect(seen[1]!.headers).to.include({ accept: 'text/plain', 'user-agent': 'svc-host' });
      expect(seen[1]!.headers).not.to.have.any.keys('authorization', 'cookie', 'x-api-key');
    });
  });

  it('ends when the response is larger than allowed, whether announced or not', async () => {
    answer = (_request, response) => void response.end('x'.repeat(1001));
    expect((await rejection(outbound.fetch(inside(), { allowInternal: true, maxBytes: 1000 }))).code).to.equal(
      'outbound_too_large',
    );
    answer = (_request, response) => {
      const more = (): void => void (response.destroyed || (response.write('x'.repeat(100)), setImmediate(more)));
      more();
    };
    expect((await rejection(outbound.fetch(inside(), { allowInternal: true, maxBytes: 1000 }))).code).to.equal(
      'outbound_too_large',
    );
  });

  it('ends when time is up: before the headers, in the middle of the body, and while a name is looked up', async () => {
    const arrived = new Promise<void>((resolve) => (answer = () => resolve()));
    const early = rejection(outbound.fetch(inside(), { allowInternal: true, timeout: 50 }));
    await arrived;
    timers.pop()!();
    expect(await early).to.include({
      code: 'outbound_timeout',
      reason: `inside.example:${port} did not respond within 50 ms.`,
    });

    const started = new Promise<void>(
      (resolve) => (answer = (_request, response) => void response.write('part', () => resolve())),
    );
    const late = rejection(outbound.fetch(inside(), { allowInternal: true }));
    await started;
    timers.pop()!();
    expect((await late).code).to.equal('outbound_timeout');

    let asked: () => void = () => undefined;
    const looking = new Promise<void>((resolve) => (asked = resolve));
    const stuck = createOutbound({
      clock: { after: (_ms, callback) => (timers.push(callback), () => undefined) },
      resolve: () => (asked(), new Promise(() => undefined)),
    });
    const never = rejection(stuck.fetch('http://slow.example/'));
    await looking;
    timers.pop()!();
    expect((await never).code).to.equal('outbound_timeout');
    await stuck.close();
  });

  it("ends with the caller's own reason when the caller gives up", async () => {
    const controller = new AbortController();
    answer = () => controller.abort(new Error('enough'));
    expect(
      (await rejection(outbound.fetch(inside(), { allowInternal: true, signal: controller.signal }))).message,
    ).to.equal('enough');
    expect(
      (
        await rejection(
          outbound.fetch(inside(), { allowInternal: true, signal: AbortSignal.abort(new Error('never')) }),
        )
      ).message,
    ).to.equal('never');
  });

  it('distinguishes unknown names, closed ports, broken connections and failed TLS', async () => {
    const unknown = await rejection(outbound.fetch('http://nowhere.example/'));
    expect(unknown.code).to.equal('outbound_dns');
    expect((await rejection(outbound.fetch('http://empty.example/'))).code).to.equal('outbound_dns');
    const insecure = await rejection(outbound.fetch(`https://inside.example:${port}/`, { allowInternal: true }));
    expect(insecure.code).to.equal('outbound_tls');
    answer = (request) => void request.socket.destroy();
    const broken = await rejection(outbound.fetch(inside(), { allowInternal: true }));
    expect(broken.code).to.equal('outbound_connect');
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const freed = (closed.address() as AddressInfo).port;
    await new Promise((resolve) => closed.close(resolve));
    const error = await rejection(
      outbound.fetch(`http://inside.example:${freed}/secret-path`, { allowInternal: true }),
    );
    expect(error.code).to.equal('outbound_connect');
    expect(outboundReason(error)).to.include('ECONNREFUSED').and.not.to.include('secret-path');
    // To everyone else they are one: names and open ports are not found by them.
    for (const { message } of [unknown, insecure, broken, error])
      expect(message).to.equal('The address could not be fetched.');
  });

  it('sends at once, however many requests to the same origin are without a response', async () => {
    const hanging = 200;
    const arrived = new Promise<void>((resolve) => {
      answer = () => void (seen.length === hanging && resolve());
    });
    const pending = Array.from({ length: hanging }, () =>
      rejection(outbound.fetch(inside('/hangs'), { method: 'POST', body: 'x', allowInternal: true })),
    );
    await arrived;
    answer = (_request, response) => void response.end('responds');
    expect((await outbound.fetch(inside(), { method: 'POST', body: 'x', allowInternal: true })).text()).to.equal(
      'responds',
    );
    await outbound.close();
    for (const error of await Promise.all(pending)) expect(error.code).to.equal('outbound_connect');
  });

  it('says whether an address would be called without calling it', async () => {
    await outbound.check(inside(), { allowInternal: true });
    await outbound.check(`http://127.0.0.1:${port}`, { allowHost: `127.0.0.1:${port}` });
    expect(outboundReason(await rejection(outbound.check(inside())))).to.include('is not a public address (loopback)');
    expect(seen).to.deep.equal([]);
  });

  it("reaches localhost by the system's own resolver when it is opened", async () => {
    const real = createOutbound({ clock: createSystemClock() });
    expect((await real.fetch(`http://localhost:${port}/`, { allowHost: `localhost:${port}` })).status).to.equal(200);
    expect((await rejection(real.fetch(`http://localhost:${port}/`))).code).to.equal('outbound_refused');
    await real.close();
  });
});
