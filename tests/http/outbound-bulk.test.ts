import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { Agent, buildConnector } from 'undici';
import type { OutboundInit, OutboundResponse } from '#plugin-api';
import { createSystemClock } from '../../host/clock.ts';
import { BulkDispatcher } from '../../host/http/outbound-bulk.ts';
import { createOutbound, type Outbound } from '../../host/http/outbound.ts';
import { until } from '../faults/until.ts';

const answerOf = (body: string, headers = ''): string =>
  `HTTP/1.1 200 OK\r\n${headers}content-length: ${String(body.length)}\r\n\r\n${body}`;

describe('bulk requests', () => {
  let server: Server;
  let address: string;
  let outbound: Outbound;
  /** In order of arrival, with the number of the connection. */
  let seen: { readonly connection: number; readonly text: string; readonly socket: Socket }[];
  let sockets: Socket[];
  let answer: (request: (typeof seen)[number]) => void;

  beforeEach(async () => {
    seen = [];
    sockets = [];
    answer = ({ socket }) => void socket.write(answerOf('ok'));
    server = createServer((socket) => {
      const connection = sockets.push(socket);
      let text = '';
      socket
        .on('error', () => undefined)
        .on('data', (bytes) => {
          text += bytes.toString('latin1');
          for (;;) {
            const head = text.indexOf('\r\n\r\n');
            const end = head + 4 + Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
            if (head < 0 || text.length < end) return;
            const request = { connection, text: text.slice(0, end), socket };
            text = text.slice(end);
            seen.push(request);
            answer(request);
          }
        });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    address = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    outbound = createOutbound({ clock: createSystemClock(), userAgent: 'tests' });
  });
  afterEach(async () => {
    await outbound.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  const send = (init: OutboundInit = {}, path = '/'): Promise<OutboundResponse> =>
    outbound.fetch(`http://${address}${path}`, {
      method: 'POST',
      body: Buffer.from('sent'),
      allowHost: address,
      bulk: true,
      ...init,
    });
  const failure = async (promise: Promise<unknown>): Promise<Error> =>
    promise.then(
      () => {
        throw new Error('It resolved.');
      },
      (error: unknown) => error as Error,
    );

  it('send head and body, byte for byte', async () => {
    const { status, headers, url } = await send({ headers: { 'X-One': 'a  b', 'x-Two': 'ü' } }, '/hook?a=%20b');
    expect({ status, headers: { ...headers }, url }).to.deep.equal({
      status: 200,
      headers: { 'content-length': '2' },
      url: `http://${address}/hook?a=%20b`,
    });
    expect(seen.map(({ text }) => text)).to.deep.equal([
      `POST /hook?a=%20b HTTP/1.1\r\nhost: ${address}\r\nconnection: keep-alive\r\nuser-agent: tests\r\nX-One: a  b\r\nx-Two: ü\r\ncontent-length: 4\r\n\r\nsent`,
    ]);
  });

  it('send a body of nothing, and one of megabytes', async () => {
    await send({ body: Buffer.alloc(0) });
    await send({ body: Buffer.alloc(5_000_000, 'x') });
    expect(seen.map(({ text }) => text.length - text.indexOf('\r\n\r\n') - 4)).to.deep.equal([0, 5_000_000]);
  });

  it('use a connection again, and as many at once as there are requests, up to 64', async () => {
    for (let round = 0; round < 5; round += 1) await send();
    expect(sockets).to.have.length(1);
    const waiting: (typeof seen)[number][] = [];
    answer = (request) => void waiting.push(request);
    const all = Promise.all(Array.from({ length: 100 }, () => send()));
    await until('64 have come', () => waiting.length === 64);
    expect(sockets).to.have.length(64);
    answer = ({ socket }) => void socket.write(answerOf('ok'));
    for (const request of waiting) answer(request);
    expect((await all).map(({ status }) => status)).to.deep.equal(Array.from({ length: 100 }, () => 200));
    expect(seen).to.have.length(105);
    expect(sockets).to.have.length(64);
  });

  it('give each request its own answer, in whatever order answers come', async () => {
    answer = ({ socket, text }) => {
      const path = /POST (\S+)/.exec(text)?.[1] ?? '';
      setTimeout(() => socket.write(answerOf(path)), path.length % 3);
    };
    const paths = Array.from({ length: 300 }, (_, index) => `/${'a'.repeat(index % 7)}${String(index)}`);
    const answers = await Promise.all(paths.map((path) => send({}, path)));
    expect(answers.map((one) => one.text())).to.deep.equal(paths);
  });

  for (const [title, headers] of [
    ['the end of a line in a value', { 'X-One': 'a\r\nX-Two: b' }],
    ['the end of a line in a name', { 'X-One: a\r\nX-Two': 'b' }],
    ['a zero', { 'X-One': 'a\0b' }],
    ['a second length', { 'Content-Length': '2' }],
    ['a coding', { 'Transfer-Encoding': 'chunked' }],
    ['no text', { 'X-One': { a: 1 } as never }],
  ] as const) {
    it(`send nothing where a header holds ${title}`, async () => {
      expect(await failure(send({ headers }))).to.have.property('code', 'outbound_connect');
      await send();
      expect(seen).to.have.length(1);
      expect(seen[0]?.text).to.include('content-length: 4\r\n\r\nsent');
    });
  }

  it('leave what is not plain to undici', async () => {
    await send({ headers: { Host: 'other.example' } });
    await send({ headers: { Connection: 'close' } });
    await send({ method: 'PUT' });
    await send({ body: 'text' });
    expect(
      seen.map(({ text }) => [
        /host: \S+/i.exec(text)?.[0].toLowerCase(),
        /connection: \S+/i.exec(text)?.[0].toLowerCase(),
        text.slice(0, 4),
      ]),
    ).to.deep.equal([
      ['host: other.example', 'connection: keep-alive', 'POST'],
      [`host: ${address}`, 'connection: close', 'POST'],
      [`host: ${address}`, 'connection: keep-alive', 'PUT '],
      [`host: ${address}`, 'connection: keep-alive', 'POST'],
    ]);
  });

  it('never take for their answer what came without being asked for', async () => {
    answer = ({ socket }) => void socket.write(`${answerOf('mine')}${answerOf('evil')}`);
    expect((await send()).text()).to.equal('mine');
    expect((await send()).text()).to.equal('mine');
    expect(sockets).to.have.length(2);
    // On an idle connection.
    answer = ({ socket }) => void socket.write(answerOf('mine'));
    await send();
    const closed = once(sockets[2]!, 'close');
    sockets[2]!.write(answerOf('evil'));
    await closed;
    expect((await send()).text()).to.equal('mine');
    expect(sockets).to.have.length(4);
  });

  it('end a connection that answered before it had all of the request', async () => {
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      sockets.push(socket);
      socket
        .on('error', () => undefined)
        .once('data', () => {
          socket.pause();
          socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n');
        });
    });
    expect((await send({ body: Buffer.alloc(20_000_000) })).status).to.equal(413);
    expect((await send()).status).to.equal(413);
    expect(sockets).to.have.length(2);
  });

  for (const [title, headers] of [
    ['says so', 'Connection: close\r\n'],
    ['keeps them for too short a time', 'Keep-Alive: timeout=2\r\n'],
  ] as const) {
    it(`use no connection again where the server ${title}`, async () => {
      answer = ({ socket }) => void socket.write(answerOf('ok', headers));
      await send();
      await send();
      expect(sockets).to.have.length(2);
    });
  }

  it('open a new connection where the server closed an idle one', async () => {
    await send();
    const closed = once(sockets[0]!, 'close');
    sockets[0]!.end();
    await closed;
    await send();
    expect(seen.map(({ connection }) => connection)).to.deep.equal([1, 2]);
  });

  it('fail as a broken connection where it breaks before the answer, and go on with another', async () => {
    answer = ({ socket }) => void socket.destroy();
    const answers = await Promise.all([failure(send()), failure(send())]);
    for (const error of answers)
      expect(error).to.include({ code: 'outbound_connect' }).and.have.nested.property('cause.code', 'ECONNRESET');
    answer = ({ socket }) => void socket.write(answerOf('ok'));
    expect((await send()).status).to.equal(200);
  });

  it('each fail while nobody listens, and succeed when somebody does', async () => {
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const failures = await Promise.all(Array.from({ length: 100 }, () => failure(send())));
    for (const error of failures)
      expect(error).to.include({ code: 'outbound_connect' }).and.have.nested.property('cause.code', 'ECONNREFUSED');
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    expect((await send()).status).to.equal(200);
  });

  it('give up after their time, and are not sent later when they waited for a connection', async () => {
    const waiting: (typeof seen)[number][] = [];
    answer = (request) => void waiting.push(request);
    const first = Promise.all(Array.from({ length: 64 }, () => send({ timeout: 60_000 })));
    await until('64 have come', () => waiting.length === 64);
    for (const error of await Promise.all(Array.from({ length: 6 }, () => failure(send({ timeout: 50 })))))
      expect(error).to.have.property('code', 'outbound_timeout');
    answer = ({ socket }) => void socket.write(answerOf('ok'));
    for (const request of waiting) answer(request);
    await first;
    await send();
    expect(seen).to.have.length(65);
  });

  it('give up after their time when they are not answered, and others go on', async () => {
    answer = () => undefined;
    for (const error of await Promise.all([failure(send({ timeout: 50 })), failure(send({ timeout: 50 }))]))
      expect(error).to.have.property('code', 'outbound_timeout');
    answer = ({ socket }) => void socket.write(answerOf('ok'));
    expect((await send()).status).to.equal(200);
  });

  it('fail when the host stops, whether they are on their way or wait', async () => {
    answer = () => undefined;
    const all = Array.from({ length: 70 }, () => failure(send()));
    await until('64 have come', () => seen.length === 64);
    await outbound.close();
    for (const error of await Promise.all(all)) expect(error).to.have.property('code', 'outbound_connect');
  });

  describe('of a client that is used on its own', () => {
    let now: number;
    let timers: (() => void)[];
    let client: BulkDispatcher;

    beforeEach(() => {
      [now, timers] = [0, []];
      client = new BulkDispatcher({
        connect: buildConnector({}),
        agent: new Agent(),
        clock: { after: (_milliseconds, callback) => (timers.push(callback), () => undefined) },
        elapsed: () => now,
      });
    });
    afterEach(() => client.destroy());

    const post = (): Promise<number> =>
      new Promise((resolve, reject) => {
        let found = 0;
        client.dispatch(
          { origin: `http://${address}`, path: '/', method: 'POST', headers: {}, body: Buffer.from('x') },
          {
            onResponseStart: (_controller, status) => void (found = status),
            onResponseEnd: () => {
              resolve(found);
            },
            onResponseError: (_controller, error) => {
              reject(error);
            },
          },
        );
      });
    const pass = (milliseconds: number): void => {
      now += milliseconds;
      for (const timer of timers.splice(0)) timer();
    };

    it('end connections that were idle for ten seconds', async () => {
      await Promise.all([post(), post()]);
      pass(6_000);
      await post();
      expect(sockets.map(({ destroyed }) => destroyed)).to.deep.equal([false, false]);
      const closed = Promise.race(sockets.map((socket) => once(socket, 'close')));
      pass(5_000);
      await closed;
      expect(sockets.filter(({ destroyed }) => destroyed)).to.have.length(1);
      await post();
      expect(sockets).to.have.length(2);
    });

    it('end them two seconds before the server does', async () => {
      answer = ({ socket }) => void socket.write(answerOf('ok', 'Keep-Alive: timeout=5, max=100\r\n'));
      await post();
      const closed = once(sockets[0]!, 'close');
      pass(2_900);
      await post();
      expect(sockets).to.have.length(1);
      pass(3_100);
      await closed;
    });

    /** In the phase of timers, after which the loop reads what has come before it writes. */
    const fromTimer = <Result>(work: () => Promise<Result>): Promise<Result> =>
      new Promise((resolve, reject) => {
        setTimeout(() => {
          work().then(resolve, reject);
        }, 0);
      });

    for (const [title, meanwhile] of [
      ['is spoken on unasked', (socket: Socket) => void socket.write('HTTP/1.1 599 Evil\r\ncontent-length: 0\r\n\r\n')],
      ['is closed', (socket: Socket) => void socket.end()],
    ] as const) {
      it(`go another way where their connection ${title} before they are written`, async () => {
        await post();
        expect(
          await fromTimer(() => {
            meanwhile(sockets[0]!);
            return post();
          }),
        ).to.equal(200);
        expect(seen.map(({ connection }) => connection)).to.deep.equal([1, 2]);
      });
    }

    it('go another way once: a server that closes every connection is not called on and on', async () => {
      server.removeAllListeners('connection');
      server.on('connection', (socket: Socket) => {
        sockets.push(socket);
        socket.on('error', () => undefined).resetAndDestroy();
      });
      expect(await failure(post())).to.be.instanceOf(Error);
      expect(sockets.length).to.be.at.most(2);
    });

    it('are still answered when it is closed, and nothing is kept then', async () => {
      const waiting: (typeof seen)[number][] = [];
      answer = (request) => void waiting.push(request);
      const under = post();
      await until('it has come', () => waiting.length === 1);
      await client.close();
      const closed = once(sockets[0]!, 'close');
      waiting[0]!.socket.write(answerOf('ok'));
      expect(await under).to.equal(200);
      await closed;
    });
  });
});
