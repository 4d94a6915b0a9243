import { expect } from 'chai';
import { RestError, RestResponse } from '#plugin-api';
import type { RestRequest } from '#plugin-api';
import { administrator, startRestSite, visitor } from './site.ts';
import type { RestSite } from './site.ts';

describe('HEAD, OPTIONS and requests of other origins', () => {
  let site: RestSite;
  let ran: string[];
  beforeEach(async () => {
    ran = [];
    site = await startRestSite({
      currentUser: ({ headers }) => (headers['authorization'] === 'admin' ? administrator : visitor),
      isAllowedOrigin: (origin) => origin === 'https://friend.example',
    });
    const schema = { title: 'item', type: 'object', properties: { id: { type: 'integer' } } } as const;
    const note = (request: RestRequest): RestResponse => {
      ran.push(request.method);
      return new RestResponse({ body: [{ id: 1 }], headers: { 'X-WP-Total': '1', 'X-WP-TotalPages': '1' } });
    };
    site.rest.registerRoute('test/v1', '/items', [
      { args: { page: { type: 'integer', default: 1, minimum: 1 } }, schema, handler: note },
      {
        methods: ['POST'],
        permission: ({ user }) => user.can('edit_posts'),
        args: { title: { type: 'string', required: true } },
        handler: note,
      },
    ]);
    site.rest.registerRoute('test/v1', '/write', { methods: ['POST'], handler: note });
    site.rest.registerRoute('test/v1', '/fails', {
      handler: () => {
        throw new RestError({ code: 'no', message: 'No', status: 409 });
      },
    });
  });
  afterEach(() => site.stop());

  const ask = (method: string, path: string, headers: Record<string, string> = {}): Promise<Response> =>
    site.fetch(`/wp-json/test/v1${path}`, { method, headers });

  it('HEAD has the status and headers of GET, and nothing else', async () => {
    const [head, get] = [await ask('HEAD', '/items'), await ask('GET', '/items')];
    expect(await head.text()).to.equal('');
    expect(head.status).to.equal(200);
    const comparable = ({ headers }: Response): [string, string][] =>
      [...headers].filter(
        ([name]) =>
          !['content-length', 'x-request-id', 'date', 'transfer-encoding', 'connection', 'keep-alive'].includes(name),
      );
    expect(comparable(head)).to.deep.equal(comparable(get));
    expect((await ask('HEAD', '/fails')).status).to.equal(409);
    expect((await ask('HEAD', '/items?page=x')).status).to.equal(400);
  });

  it('HEAD is visible to the handler, so that it can skip the body', async () => {
    await ask('HEAD', '/items');
    expect(ran).to.deep.equal(['HEAD']);
  });

  it('HEAD never runs a POST', async () => {
    expect((await ask('HEAD', '/write')).status).to.equal(404);
    expect(ran).to.deep.equal([]);
  });

  it('OPTIONS runs no handler, and names in Allow what the caller may do', async () => {
    const response = await ask('OPTIONS', '/items');
    expect(response.status).to.equal(200);
    expect(response.headers.get('allow')).to.equal('GET');
    expect((await ask('OPTIONS', '/items', { authorization: 'admin' })).headers.get('allow')).to.equal('GET, POST');
    expect(await response.json()).to.deep.equal({
      namespace: 'test/v1',
      methods: ['GET', 'POST'],
      endpoints: [
        { methods: ['GET'], args: { page: { type: 'integer', default: 1, minimum: 1, required: false } } },
        { methods: ['POST'], args: { title: { type: 'string', required: true } } },
      ],
      schema: { title: 'item', type: 'object', properties: { id: { type: 'integer' } } },
      _links: { self: [{ href: `${site.url}/wp-json/test/v1/items` }] },
    });
    expect(ran).to.deep.equal([]);
  });

  describe('from another origin', () => {
    const preflight = {
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type, x-wp-nonce',
    };

    it('an allowed one learns from the preflight what it may send', async () => {
      const { status, headers } = await ask('OPTIONS', '/items', { origin: 'https://friend.example', ...preflight });
      expect(status).to.equal(200);
      expect(headers.get('access-control-allow-origin')).to.equal('https://friend.example');
      expect(headers.get('access-control-allow-credentials')).to.equal('true');
      expect(headers.get('access-control-allow-methods')).to.equal('OPTIONS, GET, POST, PUT, PATCH, DELETE');
      expect(headers.get('access-control-allow-headers')!.toLowerCase().split(', ')).to.include.members([
        'authorization',
        'content-type',
        'x-wp-nonce',
      ]);
      expect(headers.get('access-control-expose-headers')).to.equal('X-WP-Total, X-WP-TotalPages, Link');
    });

    it('any other one gets no CORS headers: not with valid credentials, nor as null, nor with an allowed name in it', async () => {
      for (const origin of [
        'https://stranger.example',
        'null',
        'https://friend.example.evil.example',
        'http://friend.example',
        'https://friend.example:8443',
      ]) {
        for (const method of ['GET', 'OPTIONS']) {
          const { headers } = await ask(method, '/items', { origin, authorization: 'admin', ...preflight });
          expect(headers.has('access-control-allow-origin'), `${method} ${origin}`).to.equal(false);
          expect(headers.has('access-control-allow-credentials'), `${method} ${origin}`).to.equal(false);
          expect(headers.get('vary')).to.include('Origin');
        }
      }
    });

    it('errors are readable for an allowed one too', async () => {
      const { status, headers } = await ask('GET', '/fails', { origin: 'https://friend.example' });
      expect([status, headers.get('access-control-allow-origin')]).to.deep.equal([409, 'https://friend.example']);
    });

    it('filters add to the headers that scripts may send and read', async () => {
      site.hooks.addFilter('rest_exposed_cors_headers', (names) => [...names, 'X-SVC-Total']);
      site.hooks.addFilter('rest_allowed_cors_headers', (names) => [...names, 'X-Key']);
      const { headers } = await ask('GET', '/items', { origin: 'https://friend.example' });
      expect(headers.get('access-control-expose-headers')).to.equal('X-WP-Total, X-WP-TotalPages, Link, X-SVC-Total');
      expect(headers.get('access-control-allow-headers')).to.match(/, X-Key$/);
    });
  });
});

describe('requests from inside the process', () => {
  let site: RestSite;
  beforeEach(async () => {
    site = await startRestSite();
    site.rest.registerRoute('test/v1', '/echo', {
      methods: ['GET', 'POST', 'DELETE'],
      handler: ({ method, params, headers, user }) => ({ method, params, headers, user: user.login }),
    });
  });
  afterEach(() => site.stop());

  it('may come from a handler, and from there again', async () => {
    site.rest.registerRoute('test/v1', '/outer', {
      handler: async () => (await site.rest.dispatch('/test/v1/middle')).body,
    });
    site.rest.registerRoute('test/v1', '/middle', {
      handler: async () => ({
        inner: (await site.rest.dispatch('/test/v1/echo', { method: 'DELETE', query: { a: [1, { b: 2 }] } })).body,
      }),
    });
    expect((await site.rest.dispatch('/test/v1/outer')).body).to.deep.equal({
      inner: { method: 'DELETE', params: { a: [1, { b: 2 }] }, headers: {}, user: '' },
    });
  });

  it('carry headers and the user', async () => {
    const { body } = await site.rest.dispatch('/test/v1/echo', { headers: { 'x-a': '1' }, user: administrator });
    expect(body).to.deep.include({ headers: { 'x-a': '1' }, user: 'admin' });
  });

  it('know no limit of bodies, and a slash at the end does no harm', async () => {
    const text = 'x'.repeat(3_000_000);
    const { status, body } = await site.rest.dispatch('/test/v1/echo/', { method: 'POST', json: { text } });
    expect(status).to.equal(200);
    expect((body as { params: { text: string } }).params.text).to.have.length(3_000_000);
  });

  it('hand the caller’s signal to the handler', async () => {
    const controller = new AbortController();
    site.rest.registerRoute('test/v1', '/slow', {
      handler: ({ signal }) => {
        controller.abort();
        return signal.aborted ? 'given up' : 'went on';
      },
    });
    expect((await site.rest.dispatch('/test/v1/slow', { signal: controller.signal })).body).to.equal('given up');
  });

  it('get unexpected errors as responses, with the cause only in the log', async () => {
    site.rest.registerRoute('test/v1', '/fails', {
      handler: () => {
        throw new Error('Not for callers.');
      },
    });
    const { status, body } = await site.rest.dispatch('/test/v1/fails');
    expect(status).to.equal(500);
    expect(JSON.stringify(body)).to.not.include('Not for callers');
    expect(site.log.filter(({ level }) => level === 'error')).to.have.length(1);
  });

  it('do whole batches', async () => {
    site.rest.registerRoute('test/v1', '/part', {
      methods: ['POST'],
      allowBatch: true,
      permission: ({ user }) => user.can('x'),
      handler: () => 'in',
    });
    const { status, body } = await site.rest.dispatch('/batch/v1', {
      method: 'POST',
      json: { requests: [{ path: '/test/v1/part' }] },
      user: administrator,
    });
    expect(status).to.equal(207);
    expect((body as { responses: { body: unknown }[] }).responses[0]!.body).to.equal('in');
  });

  it('read the OpenAPI document as well', async () => {
    expect((await site.rest.dispatch('/test/v1/openapi.json')).body).to.include({ openapi: '3.1.0' });
  });
});
