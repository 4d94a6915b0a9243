import { expect } from 'chai';
import { RestError, RestResponse } from '#plugin-api';
import type { RestRequest } from '#plugin-api';
import { administrator, startRestSite, visitor } from './site.ts';
import type { RestSite } from './site.ts';

interface Part {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly headers: Readonly<Record<string, string>>;
}

describe('the parts of a batch', () => {
  let site: RestSite;
  let ran: string[];
  beforeEach(async () => {
    ran = [];
    site = await startRestSite({
      currentUser: ({ headers }) => (headers['authorization'] === 'admin' ? administrator : visitor),
    });
    const { rest } = site;
    const note = ({ route, user, params }: RestRequest): unknown => {
      ran.push(route);
      return { user: user.id, ...params };
    };
    rest.registerRoute('test/v1', '/open/{id}', { methods: ['POST', 'DELETE'], allowBatch: true, handler: note });
    rest.registerRoute('test/v1', '/managed', {
      methods: ['POST'],
      allowBatch: true,
      permission: ({ user }) => user.can('manage_options'),
      handler: note,
    });
    rest.registerRoute('test/v1', '/keyed', {
      methods: ['POST'],
      allowBatch: true,
      handler: note,
      authenticate: ({ headers }) => {
        if (headers['x-key'] !== 'k') throw new RestError({ code: 'no_key', message: 'No key', status: 401 });
      },
    });
    rest.registerRoute('test/v1', '/fails', {
      methods: ['POST'],
      allowBatch: true,
      handler: () => {
        throw new Error('Not for callers.');
      },
    });
    rest.registerRoute('test/v1', '/linked', {
      methods: ['POST'],
      allowBatch: true,
      handler: () =>
        new RestResponse({
          status: 201,
          body: { id: 1 },
          headers: { Location: '/x' },
          links: { self: [{ href: rest.url('/test/v1/open/1') }] },
        }),
    });
    rest.registerRoute('test/v1', '/read', { methods: ['GET', 'POST'], allowBatch: true, handler: note });
  });
  afterEach(() => site.stop());

  const send = async (requests: readonly unknown[], headers: Record<string, string> = {}): Promise<Part[]> => {
    const { status, body } = await site.post('/wp-json/batch/v1', { requests }, headers);
    expect(status, JSON.stringify(body)).to.equal(207);
    return body['responses'] as Part[];
  };

  it('run one after the other, in the order given', async () => {
    await send([{ path: '/test/v1/open/2' }, { path: '/test/v1/open/1', method: 'DELETE' }, { path: '/test/v1/read' }]);
    expect(ran).to.deep.equal(['/test/v1/open/2', '/test/v1/open/1', '/test/v1/read']);
  });

  it('are the caller’s, each with its own permission', async () => {
    const requests = [{ path: '/test/v1/managed' }, { path: '/test/v1/open/1' }];
    expect((await send(requests)).map(({ status }) => status)).to.deep.equal([401, 200]);
    const signedIn = await send(requests, { authorization: 'admin' });
    expect(signedIn.map(({ status, body }) => [status, body['user']])).to.deep.equal([
      [200, 1],
      [200, 1],
    ]);
  });

  it('bring the credentials of their own routes in their own headers alone', async () => {
    const parts = await send(
      [
        { path: '/test/v1/keyed', headers: { 'X-Key': 'k' } },
        { path: '/test/v1/keyed', headers: { 'X-Key': ['wrong'] } },
        { path: '/test/v1/keyed' },
      ],
      { 'x-key': 'k' },
    );
    expect(parts.map(({ status }) => status)).to.deep.equal([200, 401, 401]);
  });

  it('that fail in an unforeseen way leave the others alone and give nothing away', async () => {
    const parts = await send([{ path: '/test/v1/fails' }, { path: '/test/v1/open/1' }]);
    expect(parts.map(({ status, body }) => [status, body['code'] ?? 'ok'])).to.deep.equal([
      [500, 'rest_internal_error'],
      [200, 'ok'],
    ]);
    expect(JSON.stringify(parts)).to.not.include('Not for callers');
  });

  it('return their headers and links', async () => {
    const [part] = await send([{ path: '/test/v1/linked' }]);
    expect(part).to.deep.include({ status: 201, headers: { Location: '/x', Allow: 'POST' } });
    expect(part!.body['_links']).to.deep.equal({ self: [{ href: `${site.url}/wp-json/test/v1/open/1` }] });
  });

  it('cannot be a GET, nor a batch again', async () => {
    expect(
      (await site.post('/wp-json/batch/v1', { requests: [{ path: '/test/v1/read', method: 'GET' }] })).body,
    ).to.include({ code: 'rest_invalid_param' });
    expect(
      (await send([{ path: '/batch/v1', body: { requests: [{ path: '/test/v1/open/1' }] } }])).map(
        ({ body }) => body['code'],
      ),
    ).to.deep.equal(['rest_batch_not_allowed']);
    expect(ran).to.deep.equal([]);
  });

  it('are 25 at most', async () => {
    const requests = Array.from({ length: 26 }, () => ({ path: '/test/v1/open/1' }));
    expect(await send(requests.slice(1))).to.have.length(25);
    expect((await site.post('/wp-json/batch/v1', { requests })).body).to.include({ code: 'rest_invalid_param' });
  });

  it('are as many as the filter rest_get_max_batch_size lets them be', async () => {
    site.hooks.addFilter('rest_get_max_batch_size', () => 2);
    const request = { path: '/test/v1/open/1' };
    expect(await send([request, request])).to.have.length(2);
    expect((await site.post('/wp-json/batch/v1', { requests: [request, request, request] })).body).to.include({
      code: 'rest_invalid_param',
    });
    const { endpoints } = (await (await site.fetch('/wp-json/batch/v1', { method: 'OPTIONS' })).json()) as {
      endpoints: [{ args: { requests: { maxItems: number } } }];
    };
    expect(endpoints[0].args.requests.maxItems).to.equal(2);
  });

  it('are refused by rest_pre_dispatch as direct requests are, with whatever the filter returns', async () => {
    const early: Readonly<Record<string, unknown>> = {
      '/test/v1/open/1': new RestError({ code: 'read_only', message: 'Read only', status: 503 }),
      '/test/v1/open/2': { plain: true },
      '/test/v1/open/3': false,
      '/test/v1/unknown': new RestError({ code: 'read_only', message: 'Read only', status: 503 }),
    };
    site.hooks.addFilter('rest_pre_dispatch', (result, _rest, { route }) => early[route] ?? result);
    const paths = Object.keys(early);
    const parts = await send(paths.map((path) => ({ path })));
    expect(parts.map(({ status, body }) => [status, body])).to.deep.equal([
      [503, { code: 'read_only', message: 'Read only', data: { status: 503 } }],
      [200, { plain: true }],
      [200, false],
      [503, { code: 'read_only', message: 'Read only', data: { status: 503 } }],
    ]);
    for (const [index, path] of paths.entries()) {
      const direct = await site.post(`/wp-json${path}`, {});
      expect([direct.status, direct.body], path).to.deep.equal([parts[index]!.status, parts[index]!.body]);
    }
    expect(ran).to.deep.equal([]);
  });

  it('whose filter fails are an error of their own', async () => {
    site.hooks.addFilter('rest_pre_dispatch', (result, _rest, { route }) => {
      if (route === '/test/v1/open/1') throw new Error('Not for callers.');
      return result;
    });
    const parts = await send([{ path: '/test/v1/open/1' }, { path: '/test/v1/open/2' }]);
    expect(parts.map(({ status }) => status)).to.deep.equal([500, 200]);
  });

  it('go through the filters as requests of their own', async () => {
    site.hooks.addFilter('rest_pre_dispatch', (result, _rest, request) =>
      request.route === '/test/v1/open/9' ? new RestResponse({ status: 418, body: { short: true } }) : result,
    );
    const seen: string[] = [];
    site.hooks.addFilter('rest_post_dispatch', (response, _rest, request) => {
      seen.push(request.route);
      return response;
    });
    const parts = await send([{ path: '/test/v1/open/9' }, { path: '/test/v1/open/1' }]);
    expect(parts.map(({ status }) => status)).to.deep.equal([418, 200]);
    expect(seen).to.deep.equal(['/test/v1/open/9', '/test/v1/open/1', '/batch/v1']);
  });
});
