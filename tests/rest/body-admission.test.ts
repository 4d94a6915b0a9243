import { expect } from 'chai';
import { RestError } from '#plugin-api';
import { createFakeClock } from '#testing';
import { createBodyBudget } from '../../host/rest/body-budget.ts';
import { createBodyReader } from '../../host/rest/body-reader.ts';
import { silentLog } from '../helpers/silent-log.ts';
import { until } from '../helpers/until.ts';
import { postHead, sendRaw } from './raw-request.ts';
import { administrator, startRestSite, visitor } from './site.ts';
import type { RestSite } from './site.ts';

const signedIn = { authorization: 'admin' };

describe('before a body is read', () => {
  let site: RestSite;
  let asked: string[];
  beforeEach(async () => {
    asked = [];
    site = await startRestSite({
      currentUser: ({ headers }) => (headers.authorization === 'admin' ? administrator : visitor),
    });
    const { rest } = site;
    const length = ({ body }: { body: Uint8Array }): number => body.length;
    rest.registerRoute('test/v1', '/plain', { methods: ['POST'], handler: length });
    rest.registerRoute('test/v1', '/visitors', { methods: ['POST'], anonymousBodyLimit: 200_000, handler: length });
    rest.registerRoute('test/v1', '/narrow', {
      methods: ['POST'],
      bodyLimit: 20_000,
      anonymousBodyLimit: 900_000,
      handler: length,
    });
    rest.registerRoute('test/v1', '/managed/(?P<id>\\d+)', {
      methods: ['POST'],
      args: { title: { type: 'string', required: true } },
      permissionBeforeBody: ({ user, url, json }) => {
        asked.push(`${String(url['id'])} ${String(json)}`);
        return user.can('manage_options');
      },
      permission: ({ user }) => user.can('manage_options'),
      handler: length,
    });
    rest.registerRoute('test/v1', '/keyed', {
      methods: ['POST'],
      permissionBeforeBody: ({ headers }) => (headers['x-key'] === 'k' ? true : undefined),
      authenticate: ({ headers, json }) => {
        const key = headers['x-key'] ?? (json as { key?: string } | null)?.key;
        if (key !== 'k') throw new RestError({ code: 'no_key', message: 'No key', status: 401 });
      },
      handler: length,
    });
    rest.registerRoute('test/v1', '/broken', {
      methods: ['POST'],
      permissionBeforeBody: () => {
        throw new Error('Not for callers.');
      },
      handler: length,
    });
  });
  afterEach(() => site.stop());

  const send = (route: string, size: number, headers: Record<string, string> = {}): Promise<Response> =>
    site.fetch(`/wp-json/test/v1${route}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/octet-stream', ...headers },
      body: Buffer.alloc(size, 97),
    });
  const result = async (response: Response): Promise<unknown> => {
    const body = (await response.json()) as { code?: string };
    return [response.status, body.code ?? body];
  };

  it('callers who have not signed in may announce 64 KB, unless the route takes more from visitors', async () => {
    expect(await result(await send('/plain', 65_536))).to.deep.equal([200, 65_536]);
    const refused = await send('/plain', 65_537);
    expect([refused.status, await refused.json()]).to.deep.equal([
      413,
      {
        code: 'rest_body_too_large',
        message: 'The request body is too large. Send at most 65536 bytes, or sign in to send up to 1048576 bytes.',
        data: { status: 413, limit: 65_536 },
      },
    ]);
    expect(await result(await send('/plain', 65_537, signedIn))).to.deep.equal([200, 65_537]);
    expect(await result(await send('/visitors', 200_000))).to.deep.equal([200, 200_000]);
    expect(await result(await send('/visitors', 200_001))).to.deep.equal([413, 'rest_body_too_large']);
    expect(await result(await send('/narrow', 20_001))).to.deep.equal([413, 'rest_body_too_large']);
  });

  it('a route refuses who may never use it, and reads nothing', async () => {
    const { socket, until } = sendRaw(site.url, postHead('/wp-json/test/v1/managed/7', 900_000));
    expect(await until(/rest_forbidden/)).to.match(/^HTTP\/1\.1 401 /);
    socket.destroy();
    const chunked = sendRaw(
      site.url,
      'POST /wp-json/test/v1/managed/8 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n',
    );
    expect(await chunked.until(/rest_forbidden/)).to.match(/^HTTP\/1\.1 401 /);
    chunked.socket.destroy();
    expect(asked).to.deep.equal(['7 null', '8 null']);
  });

  it('small bodies keep the order of errors: parameters, then permission', async () => {
    expect((await site.post('/wp-json/test/v1/managed/7', {})).body).to.include({
      code: 'rest_missing_callback_param',
    });
    expect((await site.post('/wp-json/test/v1/managed/7', { title: 'a' })).body).to.include({ code: 'rest_forbidden' });
    expect((await site.post('/wp-json/test/v1/managed/7', '{"')).body).to.include({ code: 'rest_invalid_json' });
    expect(asked).to.deep.equal([]);
  });

  it('who may use the route sends as much as it takes', async () => {
    const title = 'x'.repeat(900_000);
    expect((await site.post('/wp-json/test/v1/managed/7', { title }, signedIn)).status).to.equal(200);
    expect(asked).to.deep.equal(['7 null']);
  });

  it('a key that is known before the body opens the whole limit', async () => {
    expect(await result(await send('/keyed', 900_000, { 'x-key': 'k' }))).to.deep.equal([200, 900_000]);
    expect(await result(await send('/keyed', 900_000))).to.deep.equal([401, 'no_key']);
    expect((await site.post('/wp-json/test/v1/keyed', { key: 'k', text: 'x'.repeat(30_000) })).status).to.equal(200);
  });

  it('a check that fails is the error of its route', async () => {
    expect(await result(await send('/broken', 20_000))).to.deep.equal([500, 'rest_internal_error']);
  });
});

describe('the memory for bodies', () => {
  const megabyte = 1_048_576;
  const clock = createFakeClock();
  let site: RestSite;
  let release: () => void;
  let budget: ReturnType<typeof createBodyBudget>;
  beforeEach(async () => {
    // A quarter of it, 1 MB, is for anonymous callers.
    budget = createBodyBudget(4 * megabyte);
    site = await startRestSite({
      currentUser: ({ headers }) => (headers.authorization === 'admin' ? administrator : visitor),
      bodies: createBodyReader({ budget, clock, log: silentLog }),
    });
    const released = new Promise<void>((resolve) => (release = resolve));
    const limits = { bodyLimit: 10 * megabyte, anonymousBodyLimit: 10 * megabyte };
    site.rest.registerRoute('test/v1', '/read', {
      methods: ['POST'],
      ...limits,
      handler: ({ body }) => body.length,
    });
    site.rest.registerRoute('test/v1', '/wait', {
      methods: ['POST'],
      ...limits,
      handler: async ({ body }) => {
        await released;
        return body.length;
      },
    });
  });
  afterEach(() => site.stop());

  const send = (route: string, size: number, headers: Record<string, string> = {}): Promise<Response> =>
    site.fetch(`/wp-json/test/v1${route}`, { method: 'POST', headers, body: Buffer.alloc(size, 97) });
  const settled = async (isSettled: () => boolean): Promise<void> => {
    while (!isSettled()) await new Promise((resolve) => setImmediate(resolve));
  };

  it('is held from the first byte to the end of the response', async () => {
    const waiting = send('/wait', 2 * megabyte, signedIn);
    await settled(() => budget.held >= 2 * megabyte - 16_384);
    const refused = await send('/read', 3 * megabyte, signedIn);
    expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).to.deep.equal([
      503,
      '5',
      {
        code: 'rest_server_busy',
        message: 'The server is receiving too many large requests at once. Wait 5 seconds and try again.',
        data: { status: 503 },
      },
    ]);
    release();
    expect(await (await waiting).json()).to.equal(2 * megabyte);
    await settled(() => budget.held === 0);
    expect((await send('/read', 3 * megabyte, signedIn)).status).to.equal(200);
  });

  it('serves small bodies while it is used up, and leaves three quarters to callers who have signed in', async () => {
    const slow = sendRaw(site.url, postHead('/wp-json/test/v1/read', 9 * megabyte));
    slow.socket.write(Buffer.alloc(900_000, 97));
    await settled(() => budget.held > 800_000);
    expect((await send('/read', 600_000)).status).to.equal(503);
    expect((await send('/read', 16_384)).status).to.equal(200);
    expect((await send('/read', 2 * megabyte, signedIn)).status).to.equal(200);
    slow.socket.destroy();
    await settled(() => budget.held === 0);
    expect((await send('/read', 600_000)).status).to.equal(200);
  });

  it('waits ten seconds for the rest of a body that is refused, and cuts the connection', async () => {
    const refused = sendRaw(site.url, postHead('/wp-json/test/v1/read', 20 * megabyte));
    await refused.until(/rest_body_too_large/);
    let isCut = false;
    void refused.ended().then(() => (isCut = true));
    await clock.advance(9_999);
    refused.socket.write(Buffer.alloc(1_000, 97));
    expect(isCut).to.equal(false);
    await clock.advance(1);
    await until('the connection is cut', () => isCut, 10_000);
  });

  it('takes one body of any size from a known caller while there is no other', async () => {
    expect((await send('/read', 9 * megabyte, signedIn)).status).to.equal(200);
    expect((await send('/read', 9 * megabyte)).status).to.equal(503);
  });

  it('is the length of the body, in however many pieces it comes', async () => {
    const slow = sendRaw(
      site.url,
      'POST /wp-json/test/v1/read HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n' +
        '1\r\na\r\n'.repeat(100_000),
    );
    await settled(() => budget.held >= 100_000 - 16_384);
    expect(budget.held).to.be.at.most(2 * 100_000);
    slow.socket.write('0\r\n\r\n');
    expect(await slow.until(/\r\n\r\n/)).to.match(/^HTTP\/1\.1 200 /);
    expect(await slow.until(/100000$/)).to.be.a('string');
    slow.socket.destroy();
  });

  it('is taken back from a body that brings less than 1,000 bytes a second', async () => {
    const slow = sendRaw(site.url, postHead('/wp-json/test/v1/read', 900_000));
    slow.socket.write(Buffer.alloc(100_000, 97));
    await settled(() => budget.held > 0);
    const held = budget.held;
    await clock.advance(9_999);
    expect(budget.held).to.equal(held);
    await clock.advance(1);
    slow.socket.write(Buffer.alloc(9_000, 97));
    await settled(() => clock.pending() > 0);
    await clock.advance(10_000);
    const text = await slow.ended();
    expect(text)
      .to.match(/^HTTP\/1\.1 408 /)
      .and.match(/rest_body_too_slow/);
    expect(budget.held).to.equal(0);
  });
});
