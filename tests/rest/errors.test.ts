import { request as httpRequest } from 'node:http';
import { expect } from 'chai';
import { RestError, RestResponse } from '#plugin-api';
import type { HandlerFailure } from '../../host/rest/rest.ts';
import { startRestSite } from './site.ts';
import type { RestSite } from './site.ts';

describe('errors of routes', () => {
  let site: RestSite;
  beforeEach(async () => {
    site = await startRestSite();
  });
  afterEach(() => site.stop());

  const get = async (path: string): Promise<{ status: number; headers: Headers; body: Record<string, unknown> }> => {
    const response = await site.fetch(`/wp-json/test/v1${path}`);
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Record<string, unknown>,
    };
  };
  const throwing = (error: unknown): void =>
    void site.rest.registerRoute('test/v1', '/a', {
      handler: () => {
        throw error;
      },
    });

  it('that are unexpected give the caller a request id and the log the cause', async () => {
    throwing(new Error('Password hunter2 is wrong at /srv/secret.'));
    const failures: HandlerFailure[] = [];
    site.rest.onHandlerError((failure) => void failures.push(failure));
    const { status, headers, body } = await get('/a');
    const id = headers.get('x-request-id');
    expect(status).to.equal(500);
    expect(body['code']).to.equal('rest_internal_error');
    expect(body['data']).to.deep.equal({ status: 500, request_id: id });
    expect(JSON.stringify(body)).to.not.match(/hunter2|secret|stack/);
    const line = site.log.find(({ level }) => level === 'error');
    expect(line?.fields).to.include({ request_id: id, route: '/test/v1/a' });
    expect((line?.fields['error'] as Error).message).to.contain('hunter2');
    expect(failures.map(({ route, namespace, requestId }) => [route, namespace, requestId])).to.deep.equal([
      ['/test/v1/a', 'test/v1', id],
    ]);
  });

  it('have in their data the status that the data names, as in WordPress, and else that of the response', async () => {
    const answers: [data: unknown, body: unknown][] = [
      [undefined, { status: 409 }],
      [{ at: 1 }, { status: 409, at: 1 }],
      [
        { status: 418, at: 1 },
        { status: 418, at: 1 },
      ],
      ['text', 'text'],
    ];
    let data: unknown;
    site.rest.registerRoute('test/v1', '/a', {
      handler: () => {
        throw new RestError({ code: 'taken', message: 'It is taken.', status: 409, data });
      },
    });
    for (const [given, expected] of answers) {
      data = given;
      const { status, body } = await get('/a');
      expect([status, body['data']]).to.deep.equal([409, expected]);
    }
  });

  it('that are unexpected in permission, validation or an argument’s function are 500 too, and are reported', async () => {
    const fail = (): never => {
      throw new Error('unforeseen');
    };
    const reported: string[] = [];
    const stop = site.rest.onHandlerError(({ route }) => void reported.push(route));
    const handler = (): string => 'ok';
    site.rest.registerRoute('test/v1', '/permission', { permission: fail, handler });
    site.rest.registerRoute('test/v1', '/validate', { validate: fail, handler });
    site.rest.registerRoute('test/v1', '/argument', { args: { a: { validate: fail } }, handler });
    site.rest.registerRoute('test/v1', '/sanitize', { args: { a: { sanitize: fail } }, handler });
    for (const path of ['/permission', '/validate', '/argument?a=1', '/sanitize?a=1'])
      expect((await get(path)).status, path).to.equal(500);
    expect(reported).to.have.length(4);
    stop();
    await get('/permission');
    expect(reported).to.have.length(4);
  });

  it('with a code and a status of their own count as foreseen', async () => {
    throwing(Object.assign(new Error('No such bot.'), { code: 'bot_gone', status: 410, data: { bot_id: 5 } }));
    expect(await get('/a')).to.deep.include({
      status: 410,
      body: { code: 'bot_gone', message: 'No such bot.', data: { status: 410, bot_id: 5 } },
    });
  });

  it('with a status that is no error’s are unforeseen', async () => {
    throwing(Object.assign(new Error('odd'), { code: 'odd', status: 200 }));
    expect((await get('/a')).body).to.include({ code: 'rest_internal_error' });
  });

  it('carry headers and further errors', async () => {
    throwing(
      new RestError({
        code: 'slow_down',
        message: 'Wait.',
        status: 429,
        headers: { 'Retry-After': '7' },
        additional: [new RestError({ code: 'also', message: 'That too.', status: 400, data: ['x'] })],
      }),
    );
    const { headers, body } = await get('/a');
    expect(headers.get('retry-after')).to.equal('7');
    expect(body).to.deep.equal({
      code: 'slow_down',
      message: 'Wait.',
      data: { status: 429 },
      additional_errors: [{ code: 'also', message: 'That too.', data: ['x'] }],
    });
  });

  it('of permission are 401 for visitors', async () => {
    site.rest.registerRoute('test/v1', '/a', { permission: () => false, handler: () => 'in' });
    expect(await get('/a')).to.deep.include({
      status: 401,
      body: { code: 'rest_forbidden', message: 'Sorry, you are not allowed to do that.', data: { status: 401 } },
    });
  });

  it('of encoding are 500, whether numbers, circles or BigInts', async () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    const bodies: Record<string, unknown> = {
      nan: { a: [null, Number.NaN] },
      infinity: -Infinity,
      circle,
      big: { n: 1n },
    };
    for (const [name, body] of Object.entries(bodies)) {
      site.rest.registerRoute('test/v1', `/${name}`, { handler: () => body });
      expect((await get(`/${name}`)).body, name).to.include({ code: 'rest_encode_error' });
    }
  });

  it('of headers that HTTP cannot carry are 500', async () => {
    site.rest.registerRoute('test/v1', '/a', {
      handler: () => new RestResponse({ headers: { 'X-A': 'a\r\nSet-Cookie: b=c' } }),
    });
    const { status, headers } = await get('/a');
    expect(status).to.equal(500);
    expect(headers.has('set-cookie')).to.equal(false);
    expect(site.log.at(-1)?.level).to.equal('error');
  });

  it('do not keep the next request from being served', async () => {
    throwing(new Error('first'));
    await get('/a');
    expect((await site.fetch('/wp-json/test/v1')).status).to.equal(200);
  });

  it('after the caller hung up are not held against the route, whose signal is aborted', async () => {
    const reported: unknown[] = [];
    site.rest.onHandlerError((failure) => void reported.push(failure));
    const aborted = new Promise<void>((resolve) => {
      site.rest.registerRoute('test/v1', '/slow', {
        handler: (incoming) =>
          new Promise((_resolve, reject) => {
            incoming.signal.addEventListener('abort', () => {
              resolve();
              reject(new Error('gave up'));
            });
            hangUp();
          }),
      });
    });
    const outgoing = httpRequest(`${site.url}/wp-json/test/v1/slow`).on('error', () => undefined);
    const hangUp = (): void => void outgoing.destroy();
    outgoing.end();
    await aborted;
    await site.fetch('/wp-json/test/v1');
    expect(reported).to.deep.equal([]);
    expect(site.log.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });
});
