import { expect } from 'chai';
import { createDeliver } from '../../../../plugins/svc/webhooks/delivery/deliver.ts';
import type {
  AttemptRequest,
  AttemptOutcome,
  Deliver,
} from '../../../../plugins/svc/webhooks/delivery/deliver.contract.ts';
import { createOutbound, type Outbound } from '../../../../host/http/outbound.ts';
import { createSystemClock } from '../../../../host/clock.ts';
import { watchResponses } from '../../../helpers/watch-responses.ts';
import { openTlsServer } from './tls-server.ts';
import { attempt, openOutbound, openReceiver, openSocketServer, type Receiver } from './open-receiver.ts';

const names = { 'internal.example': ['127.0.0.1'] };

describe('one webhook attempt', () => {
  let receiver: Receiver;
  let outbound: Outbound;
  let deliver: Deliver;

  beforeEach(async () => {
    receiver = await openReceiver();
    outbound = openOutbound(names);
    deliver = createDeliver({ http: outbound, clock: createSystemClock() });
  });
  afterEach(async () => {
    await outbound.close();
    await receiver.close();
  });

  const here = (path = '/hook') => `http://127.0.0.1:${receiver.port}${path}`;
  const send = (changes: Partial<AttemptRequest> = {}, url = here()): Promise<AttemptOutcome> =>
    deliver(attempt(url, changes));

  it('posts the exact bytes, headers and address', async () => {
    const body = Buffer.from([0x7b, 0x22, 0xc3, 0xa9, 0x22, 0x7d]);
    const outcome = await send(
      { body, headers: { 'X-SVC-Event': 'form.submitted', Accept: 'application/json' } },
      here('/a%2Fb%20c?q=%7Bx%7D'),
    );
    expect(outcome).to.deep.include({
      ok: true,
      status: 204,
      failure: null,
      error: null,
      retryable: false,
      finalUrl: here('/a%2Fb%20c?q=%7Bx%7D'),
    });
    expect(receiver.received[0]).to.deep.include({ method: 'POST', path: '/a%2Fb%20c?q=%7Bx%7D', body });
    expect(receiver.received[0]!.headers).to.include({
      'x-svc-event': 'form.submitted',
      accept: 'application/json',
      'content-length': '6',
    });
  });

  for (const status of [200, 201, 202, 204, 206, 226, 299]) {
    it(`takes ${status} for a success`, async () => {
      receiver.answer = (_request, response) => void response.writeHead(status).end();
      expect(await send()).to.deep.include({ ok: true, status, retryable: false });
    });
  }

  const retried = [408, 409, 425, 429, 500, 501, 502, 503, 504, 507, 511, 599];
  const final = [
    300, 304, 400, 401, 402, 403, 404, 405, 406, 410, 411, 412, 413, 415, 418, 421, 422, 423, 424, 426, 428, 431, 451,
    499, 600, 999,
  ];
  for (const status of [...retried, ...final]) {
    it(`says of ${status} that it is ${retried.includes(status) ? '' : 'not '}to be tried again`, async () => {
      receiver.answer = (_request, response) => void response.writeHead(status).end('because');
      const outcome = await send();
      expect(outcome).to.deep.include({
        ok: false,
        status,
        failure: 'status',
        retryable: retried.includes(status),
        error: `The endpoint responded with ${status}${status === 410 ? ' Gone: it wants no more deliveries' : ''}.`,
        responseBody: status === 304 ? '' : 'because',
      });
    });
  }

  describe('Retry-After', () => {
    const cases: readonly (readonly [number, string, number | null])[] = [
      [429, '7', 7],
      [503, '7', 7],
      [429, '3600', 3600],
      [503, '0', null],
      [429, '-3', null],
      [429, 'soon', null],
      [500, '7', null],
      [408, '7', null],
    ];
    for (const [status, value, seconds] of cases) {
      it(`${value} on ${status} asks for ${seconds ?? 'no'} seconds`, async () => {
        receiver.answer = (_request, response) => void response.writeHead(status, { 'retry-after': value }).end();
        expect((await send()).retryAfter).to.equal(seconds);
      });
    }

    it('may be a date', async () => {
      const clock = { now: () => Date.parse('2026-11-20T10:00:00Z') };
      receiver.answer = (_request, response) =>
        void response.writeHead(503, { 'retry-after': 'Fri, 20 Nov 2026 10:00:09 GMT' }).end();
      expect((await createDeliver({ http: outbound, clock })(attempt(here()))).retryAfter).to.equal(9);
    });
  });

  describe('redirects', () => {
    for (const status of [301, 302, 307, 308]) {
      it(`${status} keeps method, body and headers`, async () => {
        receiver.answer = (request, response) =>
          void (request.url === '/hook'
            ? response.writeHead(status, { location: '/there' }).end('moved')
            : response.writeHead(200).end());
        const outcome = await send({ headers: { 'X-SVC-Signature': 'sha256=00', 'Content-Type': 'application/json' } });
        expect(outcome).to.deep.include({ ok: true, status: 200, finalUrl: here('/there') });
        const [first, second] = receiver.received;
        expect(second).to.deep.include({ method: 'POST', path: '/there', body: first!.body });
        expect(second!.headers).to.include({ 'x-svc-signature': 'sha256=00', 'content-type': 'application/json' });
      });
    }

    it('two are followed, a third is a failure that is not tried again', async () => {
      receiver.answer = (request, response) =>
        void response.writeHead(307, { location: `${request.url ?? ''}x` }).end();
      expect(await send()).to.deep.include({ ok: false, status: 307, failure: 'redirect', retryable: false });
      expect(receiver.received.map(({ path }) => path)).to.deep.equal(['/hook', '/hookx', '/hookxx']);
    });

    it('303 is a failure, because it would drop the event', async () => {
      receiver.answer = (_request, response) => void response.writeHead(303, { location: '/there' }).end();
      expect(await send()).to.deep.include({ ok: false, status: 303, failure: 'redirect', retryable: false });
      expect(receiver.received).to.have.length(1);
    });

    it('one without an address is a failure with its status', async () => {
      receiver.answer = (_request, response) => void response.writeHead(302).end();
      expect(await send()).to.deep.include({ ok: false, status: 302, failure: 'status', retryable: false });
    });
  });

  describe('the body of a response', () => {
    it('is stored up to 16 KB', async () => {
      receiver.answer = (_request, response) => void response.writeHead(200).end(Buffer.alloc(100_000, 'x'));
      expect((await send()).responseBody).to.have.length(16 * 1024);
    });

    /** Time is up when the answer so far has been read. */
    async function sendUntilRead(): Promise<AttemptOutcome> {
      const read = watchResponses(new URL(here()).origin, 'body');
      const impatient = openOutbound(names, {
        after: (_milliseconds, callback) => (read.wait(callback), () => undefined),
      });
      try {
        return await createDeliver({ http: impatient, clock: createSystemClock() })(attempt(here()));
      } finally {
        await impatient.close();
        read.stop();
      }
    }

    it('that never ends is a success once time is up', async () => {
      receiver.answer = (_request, response) => void response.writeHead(200).write('so far');
      expect(await sendUntilRead()).to.deep.include({ ok: true, status: 200, responseBody: 'so far' });
    });

    it('that never ends after a 500 is that failure, not a timeout', async () => {
      receiver.answer = (_request, response) => void response.writeHead(500).write('so far');
      expect(await sendUntilRead()).to.deep.include({ ok: false, status: 500, failure: 'status', retryable: true });
    });

    it('that breaks off is a success', async () => {
      receiver.answer = (_request, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('so far', () => response.destroy());
      };
      expect(await send()).to.deep.include({ ok: true, status: 200, responseBody: 'so far' });
    });
  });

  describe('failures are distinguished', () => {
    it('a name that does not exist', async () => {
      expect(await send({}, 'http://nowhere.example/hook')).to.deep.include({
        ok: false,
        status: null,
        failure: 'dns',
        retryable: true,
        error: 'The name nowhere.example cannot be resolved.',
      });
    });

    it('a port without a listener', async () => {
      const closed = await openReceiver();
      await closed.close();
      expect(await send({}, `http://127.0.0.1:${closed.port}/`)).to.deep.include({
        failure: 'connect',
        retryable: true,
      });
    });

    it('a connection that is reset', async () => {
      receiver.answer = (request) => void request.socket.resetAndDestroy();
      expect(await send()).to.deep.include({ failure: 'reset', retryable: true });
    });

    it('a connection that closes without a response', async () => {
      receiver.answer = (request) => void request.socket.end();
      expect(await send()).to.deep.include({ failure: 'reset', retryable: true });
    });

    it('no response in time', async () => {
      receiver.answer = () => undefined;
      const outcome = await send({ timeout: 100 });
      expect(outcome).to.deep.include({ status: null, failure: 'timeout', retryable: true });
      expect(outcome.error).to.match(/did not respond within 100 ms/);
    });

    it('a certificate that is not to be trusted', async () => {
      const tls = await openTlsServer();
      try {
        const outcome = await send({}, `https://localhost:${tls.port}/`);
        expect(outcome).to.deep.include({ failure: 'dns' });
        const real = createOutbound({ clock: createSystemClock() });
        const refused = await createDeliver({ http: real, clock: createSystemClock() })(
          attempt(`https://localhost:${tls.port}/`),
        );
        await real.close();
        expect(refused).to.deep.include({ ok: false, status: null, failure: 'tls', retryable: true });
        expect(refused.error).to.match(/self-signed/);
        expect(tls.requests()).to.equal(0);
      } finally {
        await tls.close();
      }
    });

    it('a response that is not HTTP', async () => {
      const odd = await openSocketServer((socket) => socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.2\r\n')));
      expect(await send({}, `http://127.0.0.1:${odd.port}/`)).to.deep.include({ failure: 'answer', retryable: true });
      await odd.close();
    });

    it('headers of a megabyte', async () => {
      const odd = await openSocketServer((socket) =>
        socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(1 << 20)}\r\n\r\n`)),
      );
      expect(await send({}, `http://127.0.0.1:${odd.port}/`)).to.deep.include({ failure: 'answer', status: null });
      await odd.close();
    });

    it('an address inside, with the reason', async () => {
      const outcome = await send({}, `http://internal.example:${receiver.port}/`);
      expect(outcome).to.deep.include({
        failure: 'guard',
        retryable: false,
        error: 'internal.example resolves to 127.0.0.1, which is not a public address (loopback).',
      });
      expect(receiver.connections()).to.equal(0);
    });

    it('an attempt this side gives up', async () => {
      const stop = new AbortController();
      receiver.answer = () => stop.abort();
      expect(await send({ signal: stop.signal })).to.deep.include({ ok: false, failure: 'aborted', retryable: true });
    });

    it('a header that cannot be sent', async () => {
      expect(await send({ headers: { 'X-Odd': 'a\nb' } })).to.deep.include({ ok: false, status: null });
      expect(receiver.received).to.have.length(0);
    });
  });

  it('uses a connection again', async () => {
    for (let round = 0; round < 5; round += 1) expect((await send()).ok).to.equal(true);
    // An answer is given before its connection is free, so that the next may open a second; never a third.
    expect(receiver.connections()).to.be.at.most(2);
  });

  it('reaches a name inside when the box of the endpoint says so', async () => {
    expect((await send({ allowInternal: true }, `http://internal.example:${receiver.port}/`)).ok).to.equal(true);
  });
});
