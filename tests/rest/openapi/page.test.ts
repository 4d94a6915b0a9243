import { expect } from 'chai';
import type { OpenApiDocument, RouteDefinition } from '#plugin-api';
import { argumentBounds } from '#plugin-api';
import { describeReference } from '../../../host/rest/openapi/page/reference.ts';
import type { OperationView } from '../../../host/rest/openapi/page/reference.ts';
import { openBrowserSession } from '../../clients/browser-session.ts';
import type { BrowserSession } from '../../clients/browser-session.ts';
import { startShop } from '../../clients/shop.ts';
import type { TestHost } from '#testing';
import { startRestSite } from '../site.ts';
import type { RestSite } from '../site.ts';

describe('the reference of a namespace', () => {
  let site: RestSite;
  beforeEach(async () => {
    site = await startRestSite();
  });
  afterEach(() => site.stop());

  const describeRoute = async (route: string, definition: Partial<RouteDefinition>): Promise<OperationView> => {
    site.rest.registerRoute('test/v1', route, { handler: () => null, ...definition });
    return describeReference((await site.rest.openapi('test/v1'))!).operations.at(-1)!;
  };

  it('lists the members of a body with theirs, on a line each', async () => {
    const { body } = await describeRoute('/a', {
      methods: ['POST'],
      args: {
        list: {
          type: 'array',
          required: true,
          maxItems: 3,
          items: { type: 'object', properties: { name: { type: 'string', required: true, enum: ['a', 'b'] } } },
        },
        size: { type: ['integer', 'null'], minimum: 1, default: 5, description: 'How large.' },
        any: { type: 'integer', ...argumentBounds.anyInteger },
        either: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'number' } }] },
      },
    });
    expect(body!.fields).to.deep.equal([
      { name: 'list', type: 'list of object', isRequired: true, description: '', rules: ['At most 3 items.'] },
      { name: 'list[].name', type: 'string', isRequired: true, description: '', rules: ['One of these: "a", "b".'] },
      {
        name: 'size',
        type: 'integer or null',
        isRequired: false,
        description: 'How large.',
        rules: ['Default 5.', 'At least 1.'],
      },
      { name: 'any', type: 'integer', isRequired: false, description: '', rules: [] },
      { name: 'either', type: 'string or list of number', isRequired: false, description: '', rules: [] },
    ]);
  });

  it('describes the authentication schemes', async () => {
    const signIn = async (route: string, definition: Partial<RouteDefinition>): Promise<readonly string[]> =>
      (await describeRoute(route, definition)).signIn;
    expect(await signIn('/a', {})).to.deep.equal(['not required']);
    expect(await signIn('/b', { permission: () => true })).to.deep.equal([
      'the cookie svc_session and the header X-WP-Nonce',
      'user name and application password (Basic)',
    ]);
    expect(await signIn('/c', { security: ['none', 'bearer', { name: 'key', in: 'query' }] })).to.deep.equal([
      'without signing in',
      'a key in the Authorization header (Bearer)',
      'the query parameter key',
    ]);
  });

  it('gives a command line that a shell reads as it is meant', async () => {
    const { curl } = await describeRoute('/a/(?P<id>\\d+)/{name}', {
      methods: ['PUT'],
      authenticate: () => {},
      args: { text: { type: 'string', required: true, examples: ["it's"] }, not_needed: { type: 'string' } },
    });
    expect(curl).to.equal(
      [
        `curl '${site.url}/wp-json/test/v1/a/1/NAME'`,
        '-X PUT',
        `-H 'Authorization: Bearer KEY'`,
        `-H 'Content-Type: application/json'`,
        `-d '{\n  "text": "it'\\''s"\n}'`,
      ].join(' \\\n  '),
    );
  });

  it('asks for parameters, body and key before it tries an operation', async () => {
    const { trial } = await describeRoute('/a/{name}', {
      methods: ['POST'],
      authenticate: () => {},
      args: { text: { type: 'string', required: true, examples: ['Tea'] } },
    });
    expect(trial).to.deep.include({ url: `${site.url}/wp-json/test/v1/a/{name}`, takesKey: true });
    expect(trial!.fields.map(({ name, isRequired }) => [name, isRequired])).to.deep.equal([['path.name', true]]);
    expect(JSON.parse(trial!.body ?? '')).to.deep.equal({ text: 'Tea' });
    const open = await describeRoute('/b', { args: { page: { type: 'integer' } } });
    expect(open.trial).to.deep.include({ body: null, takesKey: false });
    expect(open.trial!.fields[0]).to.include({ name: 'query.page', label: 'page', isRequired: false });
  });

  it('puts needed parameters into the command’s address', async () => {
    const args = {
      ids: { type: 'array', required: true, items: { type: 'integer' } },
      day: { type: 'string', format: 'date', required: true },
      page: { type: 'integer' },
    } as const;
    expect((await describeRoute('/a', { args })).curl).to.equal(
      `curl '${site.url}/wp-json/test/v1/a?ids=1&day=2026-11-20'`,
    );
  });

  it('shows webhooks without a curl command', async () => {
    site.hooks.addFilter('rest_openapi', (document): OpenApiDocument => ({
      ...document,
      webhooks: {
        'thing.made': {
          post: {
            summary: 'A thing was made.',
            requestBody: {
              content: { 'application/json': { schema: { type: 'object', properties: { id: { type: 'string' } } } } },
            },
            responses: { 200: { description: 'Taken.' } },
          },
        },
      },
    }));
    site.rest.registerRoute('test/v1', '/a', { handler: () => null });
    const [webhook] = describeReference((await site.rest.openapi('test/v1'))!).webhooks;
    expect(webhook).to.deep.include({ path: 'thing.made', method: 'POST', summary: 'A thing was made.', curl: null });
    expect(webhook!.body!.fields.map(({ name }) => name)).to.deep.equal(['id']);
  });
});

describe('the REST page', () => {
  let host: TestHost;
  let browser: BrowserSession;
  before(async () => {
    host = await startShop();
    browser = await openBrowserSession(host.url);
  });
  after(async () => {
    browser.close();
    await host.stop();
  });

  const read = async (query = ''): Promise<{ status: number; html: string }> => {
    const response = await fetch(`${host.url}/admin/rest${query}`);
    return { status: response.status, html: await response.text() };
  };

  it('lists namespaces and routes, with a link to each document', async () => {
    const { status, html } = await read();
    expect(status).to.equal(200);
    for (const text of [
      '<code>/shop/v1/items</code>',
      'DELETE',
      '<code>per_page</code>',
      'application password',
      `href="${host.url}/wp-json/shop/v1/openapi.json"`,
    ])
      expect(html).to.include(text);
  });

  it('finds routes by all terms of a search', async () => {
    const { html } = await read('?q=shop+delete');
    expect(html).to.include('/shop/v1/items/(?P&lt;id&gt;\\d+)').and.not.include('/shop/v1/echo');
    expect((await read('?q=no-such-route')).html).to.include('No routes found');
  });

  it('shows the reference of a namespace, without any script of its own', async () => {
    const { html } = await read('?namespace=shop%2Fv1');
    for (const text of ['<code>/items/{id}</code>', 'curl &#x27;', 'X-Request-Id']) expect(html).to.include(text);
    expect(html).to.not.match(/<script(?![^>]* src=)|<style|\sstyle=|\son\w+=/);
  });

  it('opens what a search of the reference leaves alone', async () => {
    const { html } = await read('?namespace=shop%2Fv1&q=delete');
    expect(html.match(/<details class="accordion"/g)).to.have.length(1);
    expect(html).to.match(/<details class="accordion" id="deleteItemsById" open>/);
  });

  it('returns 404 for an unknown namespace', async () => {
    const { status, html } = await read('?namespace=%3Cb%3E');
    expect(status).to.equal(404);
    expect(html).to.include('does not exist').and.not.include('<b>');
  });

  it('is for those who manage the site', async () => {
    await host.users.create({
      login: 'sam',
      email: 'sam@example.test',
      password: 'correct horse battery',
      role: 'subscriber',
    });
    browser.forgetCookies();
    await fetch(`${host.url}/admin/login`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ login: 'sam', password: 'correct horse battery' }),
    });
    expect((await read()).status).to.equal(403);
  });

  it('has its list in GET /host/v1/routes, for the same people', async () => {
    const user = (await host.users.find('ada'))!;
    const { status, body } = await host.rest.dispatch('/host/v1/routes?namespace=shop/v1', { user });
    expect(status).to.equal(200);
    expect((body as { route: string }[]).map(({ route }) => route)).to.deep.equal([
      '/shop/v1',
      '/shop/v1/openapi.json',
      '/shop/v1/items',
      '/shop/v1/items/(?P<id>\\d+)',
      '/shop/v1/echo',
    ]);
    expect(
      (body as { endpoints: { security: unknown }[] }[])[3]!.endpoints.map(({ security }) => security),
    ).to.deep.equal([['none'], ['session', 'application_password'], ['session', 'application_password']]);
    expect((await host.rest.dispatch('/host/v1/routes')).status).to.equal(401);
  });
});
