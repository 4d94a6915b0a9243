import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createSystemClock } from '../../host/clock.ts';
import type { OutboundResponse } from '#plugin-api';
import { toBulk, type BulkRequest } from '../../host/http/outbound-thread-messages.ts';
import { createOutboundThread, type OutboundThread } from '../../host/http/outbound-thread.ts';
import { createOutbound } from '../../host/http/outbound.ts';
import { until } from '../faults/until.ts';

const module = new URL('../../host/outbound-thread.mjs', import.meta.url);
const code = (text: string): URL => new URL(`data:text/javascript,${encodeURIComponent(text)}`);

interface Seen {
  readonly headers: readonly string[];
  readonly body: string;
}

describe('requests sent from a thread', () => {
  let server: Server;
  let address: string;
  let seen: Seen[];
  let thread: OutboundThread | null;

  beforeEach(async () => {
    seen = [];
    thread = null;
    server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        seen.push({ headers: request.rawHeaders, body: Buffer.concat(parts).toString() });
        response.writeHead(request.url === '/away' ? 303 : 202, { 'x-answer': 'yes', ...(request.url === '/away' && { location: '/' }) }).end(`got ${String(seen.length)}`);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    address = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  });

  afterEach(async () => {
    await thread?.close();
    server.close();
    server.closeAllConnections();
  });

  const bulk = (url: string, allowHost?: string): BulkRequest => {
    const request = toBulk(url, { method: 'POST', headers: { 'X-One': 'a', 'X-Two': 'ü' }, body: Buffer.from('bytes \0 ü'), timeout: 5_000, redirects: 2, ...(allowHost !== undefined && { allowHost }) });
    if (request === null) throw new Error('It cannot be handed over.');
    return request;
  };

  const crowd = (crowded: OutboundThread): void => {
    for (let index = 0; index < 1_000; index += 1) crowded.begun();
  };

  async function begin(given = module): Promise<OutboundThread> {
    const begun = createOutboundThread({ clock: createSystemClock(), module: given });
    thread = begun;
    crowd(begun);
    await until('the thread is there', () => begun.takes());
    return begun;
  }

  it('are the very same, and so are their answers', async () => {
    const begun = await begin();
    const answers = await Promise.all(Array.from({ length: 20 }, () => begun.fetch(bulk(`http://${address}/hook?a=%20b`, address))));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array.from({ length: 20 }, () => 202));
    expect(answers.map(({ body }) => Buffer.from(body).toString()).sort()).to.deep.equal(Array.from({ length: 20 }, (_, index) => `got ${String(index + 1)}`).sort());
    expect(answers[0]).to.have.nested.property('headers.x-answer', 'yes');
    expect(answers[0]).to.have.property('url', `http://${address}/hook?a=%20b`);
    expect(new Set(seen.map(({ body }) => body))).to.deep.equal(new Set(['bytes \0 ü']));
    expect(seen[0]?.headers.join(' ')).to.match(/X-One a X-Two \S+/);
  });

  const errorOf = async (answer: Promise<OutboundResponse>): Promise<unknown> => answer.then(() => null, (error: unknown) => error);

  it('are guarded as all others are, and fail for the same reasons', async () => {
    const begun = await begin();
    expect(await errorOf(begun.fetch(bulk(`http://${address}/`)))).to.include({ name: 'OutboundError', code: 'outbound_refused' });
    expect(await errorOf(begun.fetch(bulk('http://127.0.0.1:1/', '127.0.0.1:1')))).to.have.nested.include({ code: 'outbound_connect', 'cause.code': 'ECONNREFUSED', 'cause.syscall': 'connect' });
    expect(await errorOf(begun.fetch(bulk(`http://${address}/away`, address)))).to.include({ code: 'outbound_redirects', status: 303 });
    expect(seen).to.have.length(1);
  });

  it('fail as a connection that broke, when their thread breaks, and the next go another way', async () => {
    const begun = await begin(code('import { parentPort } from "node:worker_threads"; parentPort.on("message", () => process.exit(1)); parentPort.postMessage(null);'));
    expect(await errorOf(begun.fetch(bulk(`http://${address}/`, address)))).to.include({ code: 'outbound_connect' });
    expect(begun.takes()).to.equal(false);
    // Not begun again at once, however many there are.
    crowd(begun);
    expect(begun.takes()).to.equal(false);
  });

  it('are sent from where they are while a thread cannot be begun', async () => {
    const outbound = createOutbound({ clock: createSystemClock(), thread: code('throw new Error("no")') });
    const init = { method: 'POST', body: Buffer.from('x'), bulk: true, allowHost: address };
    for (let wave = 0; wave < 25; wave += 1) await Promise.all(Array.from({ length: 32 }, () => outbound.fetch(`http://${address}/`, init)));
    expect(seen).to.have.length(800);
    await outbound.close();
  });

  it('keep what a text cannot hold out of the thread', () => {
    const init = { method: 'POST', body: Buffer.from('x') };
    expect(toBulk('http://a/', { ...init, headers: { 'X-One': 'a\nX-Two: b' } })).to.equal(null);
    expect(toBulk('http://a/', { ...init, headers: { 'X\nY': 'a' } })).to.equal(null);
    expect(toBulk('http://a/', { ...init, headers: { 'X-One': ['a', 'b'] as never } })).to.equal(null);
    expect(toBulk('http://a/', { ...init, signal: new AbortController().signal })).to.equal(null);
    expect(toBulk('http://a/', { method: 'POST', body: 'text' })).to.equal(null);
  });

  it('end with the process that sends them', async () => {
    const begun = await begin();
    const under = begun.fetch(bulk(`http://${address}/`, address)).catch((error: unknown) => error);
    await begun.close();
    expect(begun.takes()).to.equal(false);
    expect(await under).to.satisfy((answer: unknown) => (answer as { code?: string }).code === 'outbound_connect' || (answer as OutboundResponse).status === 202);
  });
});
