import { expect } from 'chai';
import type { HttpMethod } from '#plugin-api';
import { createRouteRegistry, type RouteConflict } from '../../host/rest/registry.ts';
import { startRestSite } from './site.ts';
import type { RestSite } from './site.ts';

describe('routes', () => {
  let site: RestSite;
  beforeEach(async () => {
    site = await startRestSite();
  });
  afterEach(() => site.stop());

  const status = async (path: string, method = 'GET'): Promise<number> =>
    (await site.fetch(`/wp-json${path}`, { method })).status;
  const text = async (path: string, init?: RequestInit): Promise<unknown> =>
    (await site.fetch(`/wp-json${path}`, init)).json();

  it('take parameters as {name} and as named patterns', async () => {
    site.rest.registerRoute('test/v1', '/a/{name}/(?P<id>\\d+)', { handler: ({ params }) => params });
    expect(await text('/test/v1/a/x-y/7')).to.deep.equal({ name: 'x-y', id: '7' });
    expect(await status('/test/v1/a/x/y')).to.equal(404);
  });

  it('tell who registers a method of a path again, be it another owner or the same', () => {
    const conflicts: RouteConflict[] = [];
    const registry = createRouteRegistry((conflict) => conflicts.push(conflict));
    const add = (owner: string, ...methods: HttpMethod[]): unknown =>
      registry.register('test/v1', '/a', { owner, definitions: [{ methods, handler: () => owner }] });
    add('shop', 'GET');
    add('shop', 'POST');
    expect(conflicts).to.deep.equal([]);
    add('shop', 'GET');
    add('stock', 'POST');
    expect(conflicts.map(({ owner, earlier, methods }) => `${owner} ${earlier} ${methods.join()}`)).to.deep.equal([
      'shop shop GET',
      'stock shop POST',
    ]);
  });

  it('keep quantifiers of patterns', async () => {
    site.rest.registerRoute('test/v1', '/(?P<code>[a-z]{2,3})', { handler: ({ params }) => params });
    expect(await text('/test/v1/abc')).to.deep.equal({ code: 'abc' });
    expect(await status('/test/v1/abcd')).to.equal(404);
  });

  it('decode path parameters after the match, so that an escaped slash stays inside', async () => {
    site.rest.registerRoute('test/v1', '/a/{name}', { handler: ({ params }) => params });
    expect(await text('/test/v1/a/J%C3%BCrgen%2F..')).to.deep.equal({ name: 'Jürgen/..' });
    expect(await status('/test/v1/a/%zz')).to.equal(400);
    expect(await status('/test/v1/a/%ff')).to.equal(400);
    expect(await status('/test/v1/a/%00')).to.equal(400);
  });

  it('match in order of registration, static ones too, and go on when only the method differs', async () => {
    site.rest.registerRoute('test/v1', '/{any}', { handler: () => 'any' });
    site.rest.registerRoute('test/v1', '/fixed', { methods: ['GET', 'POST'], handler: () => 'fixed' });
    expect(await text('/test/v1/fixed')).to.equal('any');
    expect(await text('/test/v1/fixed')).to.equal('any');
    expect(await text('/test/v1/fixed', { method: 'POST' })).to.equal('fixed');
  });

  it('do not heed upper and lower case, but for the namespace', async () => {
    site.rest.registerRoute('test/v1', '/Fixed', { handler: () => 'ok' });
    expect(await status('/test/v1/fixed')).to.equal(200);
    expect(await status('/TEST/v1/fixed')).to.equal(200);
  });

  it('are found with a slash at the end, but not with two in the middle', async () => {
    site.rest.registerRoute('test/v1', '/a', { handler: () => 'ok' });
    expect(await status('/test/v1/a/')).to.equal(200);
    expect(await status('//test/v1/a')).to.equal(404);
  });

  it('are found by ?rest_route= at the site’s root', async () => {
    site.rest.registerRoute('test/v1', '/a', { handler: ({ params }) => params });
    const response = await site.fetch('/?rest_route=/test/v1/a/&b=1');
    expect(await response.json()).to.deep.equal({ rest_route: '/test/v1/a/', b: '1' });
    expect((await site.fetch('/?other=1')).status).to.equal(404);
    expect(await (await site.fetch('/wp-jsonx/test/v1/a')).text()).to.equal('not REST');
  });

  it('serve HEAD like GET, without a body', async () => {
    site.rest.registerRoute('test/v1', '/a', { handler: () => ({ a: 1 }) });
    const response = await site.fetch('/wp-json/test/v1/a', { method: 'HEAD' });
    expect([response.status, await response.text()]).to.deep.equal([200, '']);
  });

  it('serve OPTIONS with arguments and schema, and nothing for an unknown path', async () => {
    site.rest.registerRoute('test/v1', '/a/{id}', {
      methods: ['POST'],
      args: { id: { type: 'integer', validate: () => true } },
      schema: { title: 'a' },
      handler: () => null,
    });
    const response = await site.fetch('/wp-json/test/v1/a/1', { method: 'OPTIONS' });
    expect(response.headers.get('allow')).to.equal('POST');
    expect(await response.json()).to.deep.equal({
      namespace: 'test/v1',
      methods: ['POST'],
      schema: { title: 'a' },
      endpoints: [{ methods: ['POST'], args: { id: { type: 'integer', required: false } } }],
    });
    expect(await text('/nope/v1', { method: 'OPTIONS' })).to.deep.equal([]);
  });

  it('take the method from _method and X-HTTP-Method-Override', async () => {
    site.rest.registerRoute('test/v1', '/a', { methods: ['DELETE'], handler: ({ method }) => method });
    expect(await text('/test/v1/a?_method=delete', { method: 'POST' })).to.equal('DELETE');
    expect(await text('/test/v1/a', { method: 'POST', headers: { 'X-HTTP-Method-Override': 'DELETE' } })).to.equal(
      'DELETE',
    );
    expect(await status('/test/v1/a?_method=NONSENSE', 'POST')).to.equal(404);
  });

  it('go with their undo, the namespace with its last one', async () => {
    const undoFirst = site.rest.registerRoute('test/v1', '/a', { handler: () => 'a' });
    const undoSecond = site.rest.registerRoute('test/v1', '/b', { handler: () => 'b' });
    expect(await status('/test/v1')).to.equal(200);
    undoFirst();
    undoFirst();
    expect([await status('/test/v1/a'), await status('/test/v1/b'), await status('/test/v1')]).to.deep.equal([
      404, 200, 200,
    ]);
    undoSecond();
    expect(await status('/test/v1')).to.equal(404);
    expect(site.rest.describe().map(({ route }) => route)).to.deep.equal(['/', '/openapi.json', '/batch/v1']);
  });

  it('come back when the one that replaced them is undone', async () => {
    site.rest.registerRoute('test/v1', '/a', { handler: () => 'first' });
    const undo = site.rest.registerRoute('test/v1', '/a', { override: true, handler: () => 'second' });
    expect(await text('/test/v1/a')).to.equal('second');
    undo();
    expect(await text('/test/v1/a')).to.equal('first');
  });

  it('are refused with a sentence when they cannot work', () => {
    const handler = (): null => null;
    expect(() => site.rest.registerRoute('/test/v1/', '/a', { handler })).to.throw('hello/v1');
    expect(() => site.rest.registerRoute('test/v1', '/(', { handler })).to.throw('not a valid pattern');
    expect(() => site.rest.registerRoute('test/v1', '/a', [])).to.throw('no definition');
    expect(site.rest.describe().map(({ namespace }) => namespace)).to.deep.equal(['', '', '']);
  });

  it('are refused where their permission is no function, instead of failing at each request', () => {
    const route = { permission: 'public', handler: () => ({}) } as unknown as { handler: () => object };
    expect(() => site.rest.registerRoute('test/v1', '/a', route)).to.throw(
      "The permission of the route '/test/v1/a' is no function. For a public route, use permission: () => true.",
    );
  });

  it('warn of an argument that its author may believe to be checked', () => {
    site.rest.registerRoute('test/v1', '/a', { args: { x: { enum: ['a'] }, y: {} }, handler: () => null });
    expect(site.log.map(({ level, fields }) => [level, fields['argument']])).to.deep.equal([['warn', 'x']]);
  });

  it('are described for pages', () => {
    site.rest.registerRoute('test/v1', '/a/{id}', {
      methods: ['POST'],
      summary: 'Adds one.',
      args: { id: { type: ['integer', 'null'], required: true, description: 'Which' } },
      permission: () => true,
      handler: () => null,
    });
    expect(site.rest.describe().at(-1)).to.deep.equal({
      namespace: 'test/v1',
      route: '/test/v1/a/(?P<id>[^/]+)',
      methods: ['POST'],
      showInIndex: true,
      allowsBatch: false,
      endpoints: [
        {
          methods: ['POST'],
          summary: 'Adds one.',
          security: ['session', 'application_password'],
          hasPermission: true,
          hasAuthentication: false,
          args: [
            {
              name: 'id',
              type: 'integer or null',
              required: true,
              description: 'Which',
              schema: { type: ['integer', 'null'], required: true, description: 'Which' },
            },
          ],
        },
      ],
    });
  });
});
