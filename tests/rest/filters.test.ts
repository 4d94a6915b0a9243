import { expect } from 'chai';
import { RestError, RestResponse } from '#plugin-api';
import { administrator, startRestSite } from './site.ts';
import type { RestSite } from './site.ts';

describe('REST filters', () => {
  let site: RestSite;
  let handled = 0;
  beforeEach(async () => {
    site = await startRestSite();
    handled = 0;
    site.rest.registerRoute('test/v1', '/a', {
      args: { n: { type: 'integer', required: true } },
      handler: () => {
        handled += 1;
        return { from: 'handler' };
      },
    });
  });
  afterEach(() => site.stop());

  const get = async (query = '?n=1'): Promise<[status: number, body: unknown]> => {
    const response = await site.fetch(`/wp-json/test/v1/a${query}`);
    return [response.status, JSON.parse(await response.text())];
  };
  const refusal = new RestError({ code: 'no', message: 'No.', status: 418 });
  const refused = { code: 'no', message: 'No.', data: { status: 418 } };

  it('rest_authentication_errors refuses before a route is looked for', async () => {
    site.hooks.addFilter('rest_authentication_errors', () => Promise.resolve(refusal));
    expect(await get('/nope')).to.deep.equal([418, refused]);
  });

  it('rest_pre_dispatch replaces the route’s response', async () => {
    site.hooks.addFilter(
      'rest_pre_dispatch',
      (_result, _rest, request) => new RestResponse({ status: 203, body: request.route }),
    );
    expect(await get('?')).to.deep.equal([203, '/test/v1/a']);
    expect(handled).to.equal(0);
  });

  it('rest_request_before_callbacks sees the error, and can refuse', async () => {
    const seen: unknown[] = [];
    site.hooks.addFilter('rest_request_before_callbacks', (error) => {
      seen.push((error as RestError | null)?.code ?? null);
      return error ?? refusal;
    });
    expect((await get(''))[0]).to.equal(400);
    expect(await get()).to.deep.equal([418, refused]);
    expect([seen, handled]).to.deep.equal([['rest_missing_callback_param', null], 0]);
  });

  it('rest_dispatch_request replaces the handler’s result', async () => {
    site.hooks.addFilter('rest_dispatch_request', (_result, request) => ({ from: 'filter', n: request.params['n'] }));
    expect(await get()).to.deep.equal([200, { from: 'filter', n: 1 }]);
    expect(handled).to.equal(0);
  });

  it('rest_request_after_callbacks changes the handler’s result', async () => {
    site.hooks.addFilter('rest_request_after_callbacks', async (result) => ({ ...(result as object), more: true }));
    expect(await get()).to.deep.equal([200, { from: 'handler', more: true }]);
  });

  it('rest_post_dispatch changes the whole response', async () => {
    site.hooks.addFilter('rest_post_dispatch', (response) => {
      response.headers['X-Added'] = '1';
      response.status = 202;
      return response;
    });
    const response = await site.fetch('/wp-json/test/v1/a?n=1');
    expect([response.status, response.headers.get('x-added')]).to.deep.equal([202, '1']);
  });

  it('rest_pre_serve_request sends something else than JSON', async () => {
    site.hooks.addFilter('rest_pre_serve_request', (served, response) => {
      response.headers['Content-Type'] = 'text/csv';
      return served === false ? 'a,b' : served;
    });
    const response = await site.fetch('/wp-json/test/v1/a?n=1');
    expect([response.headers.get('content-type'), await response.text()]).to.deep.equal(['text/csv', 'a,b']);
  });

  it('that throw are a 500 that is not held against the route', async () => {
    const reported: unknown[] = [];
    site.rest.onHandlerError((failure) => void reported.push(failure));
    site.hooks.addFilter('rest_post_dispatch', () => {
      throw new Error('broken filter');
    });
    const [status, body] = await get();
    expect([status, (body as { code: string }).code]).to.deep.equal([500, 'rest_internal_error']);
    expect(reported).to.deep.equal([]);
  });
});

describe('requests inside the process', () => {
  let site: RestSite;
  before(async () => {
    site = await startRestSite();
    site.rest.registerRoute('test/v1', '/a/{id}', {
      methods: ['GET', 'POST'],
      args: { n: { type: 'integer', default: 1 } },
      permission: ({ user }) => user.id > 0,
      handler: ({ params, method, ip, query }) => ({ params, method, ip, query }),
    });
  });
  after(() => site.stop());

  it('go the way of those from outside', async () => {
    const json = { n: '5', list: [1] };
    const response = await site.rest.dispatch('/test/v1/a/7?x=1', {
      method: 'POST',
      query: { y: 2 },
      json,
      user: administrator,
    });
    expect(response).to.be.instanceOf(RestResponse);
    expect(response.body).to.deep.equal({
      params: { id: '7', x: '1', y: 2, n: 5, list: [1] },
      method: 'POST',
      ip: '',
      query: { x: '1', y: 2 },
    });
    expect(json).to.deep.equal({ n: '5', list: [1] });
  });

  it('are anonymous unless they name a user, and get errors as responses', async () => {
    const response = await site.rest.dispatch('/test/v1/a/7');
    expect(response.status).to.equal(401);
    expect(response.body).to.include({ code: 'rest_forbidden' });
    expect((await site.rest.dispatch('/nope')).status).to.equal(404);
  });
});
