import { expect } from 'chai';
import { RestError } from '#plugin-api';
import type { Params, RestRequest } from '#plugin-api';
import { startRestSite } from './site.ts';
import type { RestSite } from './site.ts';

/** A key in a header or in any parameter source, removed from any position. */
function requireKey(request: RestRequest): void {
  const sources = [request.json, request.form, request.query].filter(
    (source): source is Params => typeof source === 'object' && source !== null,
  );
  const given = [request.headers['authorization'], ...sources.map((source) => source['svc_api_key'])];
  for (const source of sources) delete source['svc_api_key'];
  if (!given.includes('Bearer right') && !given.includes('right'))
    throw new RestError({ code: 'rest_svc_invalid_api_key', message: 'Invalid or missing API Key.', status: 401 });
}

describe('authentication of a route', () => {
  let site: RestSite;
  let permissionAsked = 0;
  before(async () => {
    site = await startRestSite();
    site.rest.registerRoute('svc/v1', '/echo', {
      methods: ['POST'],
      args: { prompt: { type: 'string', required: true } },
      bodyLimit: 1000,
      authenticate: requireKey,
      permission: () => {
        permissionAsked += 1;
        return true;
      },
      handler: ({ params, json, form, query }) => ({ params, json, form, query }),
    });
  });
  after(() => site.stop());

  const path = '/wp-json/svc/v1/echo';
  const key = { authorization: 'Bearer right' };

  it('comes before parameters: without a key a bad body is 401', async () => {
    for (const body of ['{', '{}', '{"prompt":5}', '{"__proto__":1}', 'x'.repeat(2000)]) {
      const answer = await site.post(path, body);
      expect(answer.status, body.slice(0, 20)).to.equal(401);
      expect(answer.body).to.deep.equal({
        code: 'rest_svc_invalid_api_key',
        message: 'Invalid or missing API Key.',
        data: { status: 401 },
      });
    }
  });

  it('does not list the methods for refused callers, and checks no permission', async () => {
    permissionAsked = 0;
    const response = await site.fetch(path, { method: 'POST' });
    expect(response.headers.has('allow')).to.equal(false);
    expect(permissionAsked).to.equal(0);
  });

  it('is followed by size, JSON, missing and invalid parameters, in this order', async () => {
    expect((await site.post(path, `{"svc_api_key":${'x'.repeat(2000)}`, key)).body).to.include({
      code: 'rest_body_too_large',
    });
    expect((await site.post(path, '{', key)).body).to.include({ code: 'rest_invalid_json' });
    expect((await site.post(path, '{}', key)).body).to.include({ code: 'rest_missing_callback_param' });
    expect((await site.post(path, '{"prompt":[]}', key)).body).to.include({ code: 'rest_invalid_param' });
  });

  it('takes a credential out of the JSON body before parameters are read', async () => {
    const answer = await site.post(path, { svc_api_key: 'right', prompt: 'hi' });
    expect(answer.body).to.deep.equal({ params: { prompt: 'hi' }, json: { prompt: 'hi' }, form: {}, query: {} });
  });

  it('takes a credential out of a form and out of the query', async () => {
    const form = await site.fetch(path, {
      method: 'POST',
      body: new URLSearchParams({ svc_api_key: 'right', prompt: 'hi' }),
    });
    expect(await form.json()).to.deep.equal({
      params: { prompt: 'hi' },
      json: null,
      form: { prompt: 'hi' },
      query: {},
    });
    const query = await site.post(`${path}?svc_api_key=right`, { prompt: 'hi' });
    expect(query.body).to.deep.include({ params: { prompt: 'hi' }, query: {} });
  });

  it('prevents caching of responses', async () => {
    const response = await site.fetch(path, { method: 'POST', headers: key });
    expect(response.headers.get('cache-control')).to.contain('no-store');
  });

  it('that fails unexpectedly refuses the caller', async () => {
    site.rest.registerRoute('svc/v1', '/broken', {
      authenticate: () => {
        throw new Error('The key store is gone.');
      },
      handler: () => 'in',
    });
    const response = await site.fetch('/wp-json/svc/v1/broken');
    expect(response.status).to.equal(500);
    expect(await response.json()).to.include({ code: 'rest_internal_error' });
  });
});
