import { expect } from 'chai';
import { RestResponse, type RestContent } from '#plugin-api';
import { startRestSite, visitor, type RestSite } from './site.ts';

describe('REST responses with content', () => {
  let site: RestSite;
  let ended: number;
  before(async () => {
    site = await startRestSite({
      currentUser: () => visitor,
      isAllowedOrigin: (origin) => origin === 'https://shop.example',
    });
    const route = (path: string, content: () => RestContent, headers: Record<string, string> = {}): void => {
      const body = content === events ? { text: 'one two' } : null;
      site.rest.registerRoute('test/v1', path, {
        methods: ['GET', 'POST'],
        allowBatch: true,
        handler: () => new RestResponse({ body, content: content(), headers }),
      });
    };
    route('/script', () => 'let ä = 1;', {
      'Content-Type': 'text/javascript; charset=UTF-8',
      'Cache-Control': 'public, max-age=60',
      ETag: '"1"',
    });
    route('/bytes', () => Buffer.from([0, 255, 10]));
    route('/empty', () => '', { 'Content-Type': 'text/css' });
    route('/events', events, { 'content-type': 'text/event-stream' });
    route('/stored', events, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'yes',
    });
  });
  beforeEach(() => {
    ended = 0;
  });
  after(() => site.stop());

  async function* generate(): AsyncGenerator<string> {
    yield 'data: one\n\n';
    yield 'data: two\n\n';
  }

  /** Counts iterators that were ended early; a generator that never started would not notice. */
  function events(): AsyncIterable<string> {
    const generator = generate();
    return {
      [Symbol.asyncIterator]: () => ({
        next: () => generator.next(),
        return: (value: unknown) => {
          ended += 1;
          return generator.return(value);
        },
      }),
    };
  }

  it('are texts and bytes, with their length in bytes and their own headers', async () => {
    const script = await site.fetch('/wp-json/test/v1/script');
    expect(await script.text()).to.equal('let ä = 1;');
    const { headers } = script;
    expect([
      headers.get('content-type'),
      headers.get('content-length'),
      headers.get('cache-control'),
      headers.get('etag'),
    ]).to.deep.equal(['text/javascript; charset=UTF-8', '11', 'public, max-age=60', '"1"']);
    const bytes = await site.fetch('/wp-json/test/v1/bytes');
    expect([...new Uint8Array(await bytes.arrayBuffer())]).to.deep.equal([0, 255, 10]);
    expect(bytes.headers.get('content-type')).to.equal('application/octet-stream');
    const empty = await site.fetch('/wp-json/test/v1/empty');
    expect([empty.status, empty.headers.get('content-type'), await empty.text()]).to.deep.equal([200, 'text/css', '']);
  });

  it('are streamed, and proxies may not buffer events', async () => {
    const { headers, ...response } = await site
      .fetch('/wp-json/test/v1/events')
      .then(async (sent) => ({ headers: sent.headers, text: await sent.text() }));
    expect(response.text).to.equal('data: one\n\ndata: two\n\n');
    expect([
      headers.get('content-type'),
      headers.get('cache-control'),
      headers.get('x-accel-buffering'),
      headers.get('content-length'),
    ]).to.deep.equal(['text/event-stream', 'no-cache, no-transform', 'no', null]);
    expect(ended).to.equal(0);
    const stored = (await site.fetch('/wp-json/test/v1/stored')).headers;
    expect([stored.get('cache-control'), stored.get('x-accel-buffering')]).to.deep.equal(['no-store', 'yes']);
  });

  it('have the headers of every response: request id, CORS, discovery', async () => {
    const { headers, ...response } = await site.fetch('/wp-json/test/v1/events', {
      headers: { Origin: 'https://shop.example', 'X-Request-Id': 'mine-1' },
    });
    expect([
      headers.get('x-request-id'),
      headers.get('access-control-allow-origin'),
      headers.get('vary'),
      headers.get('x-content-type-options'),
    ]).to.deep.equal(['mine-1', 'https://shop.example', 'Origin', 'nosniff']);
    expect(headers.get('link')).to.contain('https://api.w.org/');
    expect(response).to.be.an('object');
    const foreign = await site.fetch('/wp-json/test/v1/events', { headers: { Origin: 'https://other.example' } });
    expect(foreign.headers.get('access-control-allow-origin')).to.equal(null);
    await foreign.text();
  });

  it('are not sent for HEAD, and are ended', async () => {
    const response = await site.fetch('/wp-json/test/v1/events', { method: 'HEAD' });
    expect([response.status, response.headers.get('content-type'), await response.text(), ended]).to.deep.equal([
      200,
      'text/event-stream',
      '',
      1,
    ]);
  });

  it('give way to their body in envelopes, in batches and where fields are chosen', async () => {
    const enveloped = await site.fetch('/wp-json/test/v1/events?_envelope');
    expect(enveloped.headers.get('content-type')).to.contain('application/json');
    expect(await enveloped.json()).to.deep.include({ status: 200, body: { text: 'one two' } });
    const chosen = await site.fetch('/wp-json/test/v1/events?_fields=text');
    expect(chosen.headers.get('content-type')).to.contain('application/json');
    expect(await chosen.json()).to.deep.equal({ text: 'one two' });
    const { body } = await site.post('/wp-json/batch/v1', { requests: [{ path: '/test/v1/events', method: 'POST' }] });
    const [part] = body['responses'] as { body: unknown; headers: Record<string, string> }[];
    expect(part?.body).to.deep.equal({ text: 'one two' });
    expect(part?.headers).not.to.have.property('content-type');
    expect(ended).to.equal(3);
  });

  it('are passed to callers inside the process, who read them or the body', async () => {
    const response = await site.rest.dispatch('/test/v1/events');
    expect(response.body).to.deep.equal({ text: 'one two' });
    const pieces: unknown[] = [];
    for await (const piece of response.content as AsyncIterable<string>) pieces.push(piece);
    expect(pieces).to.have.length(2);
  });

  it('pass through filters, which may replace them', async () => {
    let undo = site.hooks.addFilter('rest_pre_serve_request', (_served, response: RestResponse) =>
      response.content === null ? false : 'served by a filter',
    );
    expect(await (await site.fetch('/wp-json/test/v1/events')).text()).to.equal('served by a filter');
    undo();
    undo = site.hooks.addFilter('rest_post_dispatch', () => new RestResponse({ body: 'replaced' }));
    expect(await (await site.fetch('/wp-json/test/v1/events')).json()).to.equal('replaced');
    undo();
    undo = site.hooks.addFilter('rest_request_after_callbacks', () => 'replaced');
    expect(await (await site.fetch('/wp-json/test/v1/events')).json()).to.equal('replaced');
    undo();
    undo = site.hooks.addFilter('rest_post_dispatch', () => Promise.reject(new Error('A filter broke.')));
    expect((await site.fetch('/wp-json/test/v1/events')).status).to.equal(500);
    undo();
    expect(ended).to.equal(4);
    undo = site.hooks.addFilter('rest_post_dispatch', (response: RestResponse) => {
      response.headers['X-Seen'] = 'yes';
      return response;
    });
    const seen = await site.fetch('/wp-json/test/v1/events');
    undo();
    expect([seen.headers.get('x-seen'), await seen.text(), ended]).to.deep.equal([
      'yes',
      'data: one\n\ndata: two\n\n',
      4,
    ]);
  });
});
