import { expect } from 'chai';
import { RestResponse } from '#plugin-api';
import type { RestRequest } from '#plugin-api';
import { administrator, startRestSite, visitor } from './site.ts';
import type { RestSite } from './site.ts';

describe('REST responses', () => {
  let site: RestSite;
  before(async () => {
    site = await startRestSite({
      currentUser: ({ headers }) => (headers['authorization'] === 'admin' ? administrator : visitor),
      isAllowedOrigin: (origin) => origin === 'https://friend.example',
    });
    const { rest } = site;
    const post = { id: 1, title: { raw: 'r', rendered: 'R' }, tags: [1, 2] };
    rest.registerRoute('test/v1', '/post', { handler: () => post });
    rest.registerRoute('test/v1', '/posts', { handler: () => [post, { id: 2 }] });
    rest.registerRoute('test/v1', '/secret', { permission: ({ user }) => user.can('read'), handler: () => 'in' });
    rest.registerRoute('test/v1', '/linked', {
      handler: () =>
        new RestResponse({
          body: { id: 1 },
          headers: {
            link: '<https://next.example/>; rel="next"',
            vary: 'Accept',
            'content-TYPE': 'application/hal+json',
          },
          links: {
            author: [{ href: rest.url('/test/v1/post'), embeddable: true }, { href: rest.url('/test/v1/post') }],
            other: [{ href: 'https://x.example/' }],
          },
        }),
    });
    rest.registerRoute('test/v1', '/seen', {
      handler: ({ id, ip, user, headers }: RestRequest) => ({ id, ip, user: user.id, twice: headers['x-twice'] }),
    });
  });
  after(() => site.stop());

  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    site.fetch(`/wp-json/test/v1${path}`, { headers });
  const json = async (path: string, headers: Record<string, string> = {}): Promise<unknown> =>
    (await get(path, headers)).json();

  it('keep to the wanted fields, nested ones and lists included', async () => {
    expect(await json('/post?_fields=id,title.rendered')).to.deep.equal({ id: 1, title: { rendered: 'R' } });
    expect(await json('/post?_fields[]=title&_fields[]=title.raw')).to.deep.equal({
      title: { raw: 'r', rendered: 'R' },
    });
    expect(await json('/posts?_fields=id')).to.deep.equal([{ id: 1 }, { id: 2 }]);
    expect(await json('/post?_fields=')).to.have.keys('id', 'title', 'tags');
  });

  it('embed the selected links, each at its position', async () => {
    const answer = (await json('/linked?_embed=author,nope')) as Record<string, Record<string, unknown[]>>;
    expect(answer['_embedded']).to.have.keys('author');
    expect(answer['_embedded']?.['author']?.[0]).to.include({ id: 1 });
    expect(answer['_embedded']?.['author']?.[1]).to.deep.equal([]);
    expect(await json('/linked?_embed=other')).to.not.have.property('_embedded');
  });

  it('in an envelope are always 200', async () => {
    const response = await get('/nope?_envelope');
    expect(response.status).to.equal(200);
    expect(await response.json()).to.deep.include({ status: 404, headers: [] });
  });

  it('keep headers of their own, with the discovery link behind their links', async () => {
    const { headers } = await get('/linked');
    expect(headers.get('link')).to.equal(
      `<https://next.example/>; rel="next", <${site.url}/wp-json/>; rel="https://api.w.org/"`,
    );
    expect(headers.get('content-type')).to.equal('application/hal+json');
    expect(headers.get('vary')).to.equal('Origin, Accept');
  });

  it('name the request, by the caller’s id when it is plain', async () => {
    const own = await get('/seen', { 'x-request-id': 'abc-1' });
    expect(own.headers.get('x-request-id')).to.equal('abc-1');
    expect(await own.json()).to.include({ id: 'abc-1', ip: '127.0.0.1' });
    const made = await get('/seen', { 'x-request-id': '<script>' });
    expect(made.headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/);
  });

  it('let scripts of allowed origins in, and only those', async () => {
    const friend = (await get('/post', { origin: 'https://friend.example' })).headers;
    expect(friend.get('access-control-allow-origin')).to.equal('https://friend.example');
    expect(friend.get('access-control-allow-credentials')).to.equal('true');
    const stranger = (await get('/post', { origin: 'https://stranger.example' })).headers;
    expect(stranger.has('access-control-allow-origin')).to.equal(false);
    expect(stranger.has('access-control-allow-credentials')).to.equal(false);
    expect(stranger.get('vary')).to.equal('Origin');
  });

  it('to a signed-in user are not cached', async () => {
    expect((await get('/post', { authorization: 'admin' })).headers.get('cache-control')).to.contain('no-store');
    expect((await get('/post')).headers.has('cache-control')).to.equal(false);
  });

  it('name in Allow only what the caller may do', async () => {
    const refused = await get('/secret');
    expect([refused.status, refused.headers.get('allow')]).to.deep.equal([401, null]);
    const allowed = await get('/secret', { authorization: 'admin' });
    expect([allowed.status, allowed.headers.get('allow')]).to.deep.equal([200, 'GET']);
  });
});

describe('batches', () => {
  let site: RestSite;
  before(async () => {
    site = await startRestSite();
    site.rest.registerRoute('test/v1', '/add/{id}', {
      methods: ['POST', 'PUT'],
      allowBatch: true,
      args: { n: { type: 'integer', required: true } },
      handler: ({ params, method, headers }) =>
        new RestResponse({ status: 201, body: { ...params, method, header: headers['x-a'] } }),
    });
    site.rest.registerRoute('test/v1', '/alone', { methods: ['POST'], handler: () => 'ok' });
  });
  after(() => site.stop());

  const batch = async (
    body: unknown,
  ): Promise<{ status: number; responses: { status: number; body: Record<string, unknown> }[]; failed?: string }> => {
    const answer = await site.post('/wp-json/batch/v1', body);
    return { status: answer.status, ...(answer.body as { responses: never[] }) };
  };

  it('handle each part like a separate request', async () => {
    const { status, responses } = await batch({
      requests: [
        { path: '/test/v1/add/1?n=3', headers: { 'X-A': 'h' } },
        { path: '/test/v1/add/2', method: 'PUT', body: { n: 'x' } },
        { path: '/test/v1/alone' },
        { path: '/nope' },
        { path: 'nope' },
      ],
    });
    expect(status).to.equal(207);
    expect(responses.map((response) => [response.status, response.body['code'] ?? 'ok'])).to.deep.equal([
      [201, 'ok'],
      [400, 'rest_invalid_param'],
      [400, 'rest_batch_not_allowed'],
      [404, 'rest_no_route'],
      [400, 'parse_path_failed'],
    ]);
    expect(responses[0]?.body).to.deep.equal({ id: '1', n: 3, method: 'POST', header: 'h' });
  });

  it('run none when all must be valid and one is not', async () => {
    const answer = await batch({
      validation: 'require-all-validate',
      requests: [{ path: '/test/v1/add/1?n=1' }, { path: '/test/v1/add/1' }],
    });
    expect([answer.failed, answer.responses[0], answer.responses[1]?.status]).to.deep.equal(['validation', null, 400]);
  });

  it('hold at most 25 parts', async () => {
    const answer = await site.post('/wp-json/batch/v1', {
      requests: Array.from({ length: 26 }, () => ({ path: '/test/v1/alone' })),
    });
    expect(answer.body).to.include({ code: 'rest_invalid_param' });
  });
});
