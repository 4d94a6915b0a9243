import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import type { OutboundInit, OutboundResponse } from '#plugin-api';
import { createSystemClock } from '../../host/clock.ts';
import { createOutbound, type Outbound } from '../../host/http/outbound.ts';
import { failureOf } from '../helpers/failure-of.ts';

interface Seen {
  /** Number of the connection, from 1. */
  readonly connection: number;
  readonly text: string;
  readonly socket: Socket;
}

const responseOf = (body: string, headers = ''): string =>
  `HTTP/1.1 200 OK\r\n${headers}content-length: ${String(body.length)}\r\n\r\n${body}`;

describe('connections of outbound requests', () => {
  let server: Server;
  let address: string;
  let outbound: Outbound;
  /** In order of arrival. */
  let seen: Seen[];
  let sockets: Socket[];
  let respond: (request: Seen) => void;

  beforeEach(async () => {
    seen = [];
    sockets = [];
    respond = ({ socket }) => void socket.write(responseOf('ok'));
    server = createServer((socket) => {
      const connection = sockets.push(socket);
      let text = '';
      socket
        .on('error', () => undefined)
        .on('data', (bytes) => {
          text += bytes.toString('latin1');
          const end = text.indexOf('\r\n\r\n') + 4 + Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
          if (!text.includes('\r\n\r\n') || text.length < end) return;
          const request = { connection, text: text.slice(0, end), socket };
          text = text.slice(end);
          seen.push(request);
          respond(request);
        });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    address = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    outbound = createOutbound({ clock: createSystemClock() });
  });
  afterEach(async () => {
    await outbound.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  const send = (init: OutboundInit = {}): Promise<OutboundResponse> =>
    outbound.fetch(`http://${address}/`, { method: 'POST', body: 'sent', allowHost: address, ...init });
  const closed = (socket: Socket | undefined): Promise<unknown> =>
    socket === undefined || socket.destroyed ? Promise.resolve() : once(socket, 'close');

  it('pass over what an upstream says before its response, and are reused after it', async () => {
    respond = ({ socket }) => {
      socket.write('HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n');
      socket.write(responseOf('ok'));
    };
    for (let round = 0; round < 2; round += 1) {
      const { status, headers, body } = await send();
      expect([status, headers['link'], body.toString()]).to.deep.equal([200, undefined, 'ok']);
      await new Promise(setImmediate);
    }
    expect(sockets).to.have.length(1);
  });

  it('are reused', async () => {
    for (let round = 0; round < 5; round += 1) {
      await send();
      await new Promise(setImmediate);
    }
    expect(sockets).to.have.length(1);
  });

  for (const [status, title] of [
    ['204 No Content', '204'],
    ['304 Not Modified', '304'],
  ] as const) {
    it(`never give the body that a ${title} announced as the response to the next request`, async () => {
      respond = ({ socket, connection }) =>
        void socket.write(
          connection === 1 && seen.length === 1
            ? `HTTP/1.1 ${status}\r\nContent-Length: 43\r\n\r\n`
            : responseOf('real', 'X-Real: yes\r\n'),
        );
      await send().catch(() => undefined);
      // Before or during the next request, whichever the client makes of it.
      sockets[0]?.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nEVIL!');
      const next = await send().catch(() => send());
      expect(next.text()).to.equal('real');
      expect(next.headers).to.include({ 'x-real': 'yes' });
    });
  }

  it('never give an unrequested response as the response to the next request', async () => {
    respond = ({ socket }) => void socket.write(`${responseOf('mine')}${responseOf('EVIL')}`);
    expect((await send()).text()).to.equal('mine');
    await closed(sockets[0]);
    expect((await send()).text()).to.equal('mine');
    await closed(sockets[1]);
    respond = ({ socket }) => void socket.write(responseOf('mine'));
    await send();
    sockets[2]!.write(responseOf('EVIL'));
    await closed(sockets[2]);
    expect((await send()).text()).to.equal('mine');
    expect(sockets).to.have.length(4);
  });

  for (const [title, response] of [
    ['a length that is not a number', 'HTTP/1.1 200 OK\r\nContent-Length: 2x\r\n\r\nok'],
    ['two lengths that differ', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 9\r\n\r\nok'],
    ['two equal lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok'],
    ['a length beside chunks', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['the line end of a header alone', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok'],
  ] as const) {
    it(`are closed after a response with ${title}, which is an error`, async () => {
      respond = ({ socket }) => void socket.write(response);
      expect(await failureOf(send())).to.have.property('code', 'outbound_unreadable');
      await closed(sockets[0]);
      respond = ({ socket }) => void socket.write(responseOf('ok'));
      expect((await send()).text()).to.equal('ok');
      expect(sockets).to.have.length(2);
    });
  }

  for (const [title, headers] of [
    ['the end of a line in a value', { 'X-One': 'a\r\nX-Two: b' }],
    ['the end of a line in a name', { 'X-One: a\r\nX-Two': 'b' }],
    ['a zero', { 'X-One': 'a\0b' }],
    ['another length', { 'Content-Length': '2' }],
    ['a transfer coding', { 'Transfer-Encoding': 'chunked' }],
  ] as const) {
    it(`carry no request whose headers hold ${title}`, async () => {
      expect(await failureOf(send({ headers }))).to.have.property('code', 'outbound_connect');
      await send();
      expect(seen.map(({ text }) => text.slice(text.indexOf('\r\n\r\n')))).to.deep.equal(['\r\n\r\nsent']);
    });
  }

  it('are opened again after the server closed an idle one or said that it closes it', async () => {
    await send();
    sockets[0]!.end();
    await closed(sockets[0]);
    respond = ({ socket }) => void socket.write(responseOf('ok', 'Connection: close\r\n'));
    await send();
    await closed(sockets[1]);
    await send();
    expect(seen.map(({ connection }) => connection)).to.deep.equal([1, 2, 3]);
  });

  it('fail one by one while no server listens, and are opened once one does', async () => {
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    for (const error of await Promise.all(Array.from({ length: 100 }, () => failureOf(send()))))
      expect(error).to.include({ code: 'outbound_connect' }).and.have.nested.property('cause.code', 'ECONNREFUSED');
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    expect((await send()).status).to.equal(200);
  });

  it('end with the host, and the requests on them fail', async () => {
    const arrived = new Promise<void>((resolve) => {
      respond = () => void (seen.length === 70 && resolve());
    });
    const pending = Array.from({ length: 70 }, () => failureOf(send()));
    await arrived;
    await outbound.close();
    for (const error of await Promise.all(pending)) expect(error).to.have.property('code', 'outbound_connect');
    await Promise.all(sockets.map(closed));
  });
});
