import { expect } from 'chai';
import { createFakeClock, createTestHost, type TestHost } from '#testing';
import { createApplicationPasswords } from '../../host/users/application-passwords.ts';
import type { Trace } from '../../host/tracer.ts';
import { signIn, type Browser } from '../helpers/sign-in.ts';
import { startReceiver, type Receiver } from './receiver.ts';

interface Otlp {
  readonly scopeSpans: readonly {
    readonly spans: readonly {
      readonly spanId: string;
      readonly startTimeUnixNano: string;
      readonly endTimeUnixNano: string;
      readonly attributes: readonly object[];
    }[];
  }[];
}

describe('traces of requests', () => {
  let host: TestHost;
  let browser: Browser;
  let authorization = '';
  let receiver: Receiver;
  const clock = createFakeClock({ skipSleeps: true });
  before(async () => {
    host = await createTestHost({ plugins: ['orders'], clock });
    browser = await signIn(host);
    const [user] = await host.users.list({});
    const { password } = await createApplicationPasswords(host).create(user!.id, 'traces');
    authorization = `Basic ${Buffer.from(`test-administrator:${password}`).toString('base64')}`;
    receiver = await startReceiver();
    host.rest.registerRoute('shop/v1', '/call', {
      permission: () => true,
      handler: async () => (await fetch(receiver.url)).json(),
    });
    host.hooks.forOwner('shop').addFilter('orders_total', (total: number) => total + 1);
  });
  after(async () => {
    await receiver.stop();
    await host.stop();
  });

  const order = (headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    host.fetch('/wp-json/orders/v1/orders', {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ customer: 'Grace', total: 10 }),
    });
  const createHeader = async (): Promise<Record<string, string>> => {
    const { text } = await browser.post('tools/traces', 'header', {});
    return { 'x-svc-trace': /X-SVC-Trace: ([\w.-]+)/.exec(text)?.[1] ?? '' };
  };
  const read = async (path: string): Promise<unknown> =>
    (await host.fetch(`/wp-json/host/v1/traces${path}`, { headers: { authorization } })).json();

  it('show hooks with their plugins, queries and the handler of a request that has the header', async () => {
    const header = await createHeader();
    const response = await order({ ...header, 'x-request-id': 'traced-order' });
    expect([response.status, ((await response.json()) as { total: number }).total]).to.deep.equal([201, 11]);
    expect(response.headers.get('server-timing'))
      .to.match(/query;dur=[\d.]+;desc="\d+"/)
      .and.to.match(/hook;dur=/);
    const { spans, explained, name, duration } = (await read('/traced-order')) as Trace;
    expect([name, explained > 0 && explained <= 100]).to.deep.equal(['POST /wp-json/orders/v1/orders', true]);
    const handler = spans.findIndex(({ kind }) => kind === 'handler');
    expect(spans[handler]?.name).to.equal('POST /orders/v1/orders');
    const filter = spans.find((span) => span.name === 'orders_total');
    expect(filter).to.include({ kind: 'hook', owner: 'shop', parent: handler });
    const steps = spans.filter(({ kind }) => kind === 'step').map((span) => span.name);
    expect(steps).to.deep.equal([
      ...['Route', 'Sign-in', 'Request body', 'Arguments and key', 'Permission', 'Filters of the response', 'Response'],
      'Sending',
    ]);
    const sending = spans.at(-1)!;
    expect(sending.name).to.equal('Sending');
    expect(sending.start + sending.duration).to.be.closeTo(duration, 1e-6);
    const queries = spans.filter(({ kind }) => kind === 'query').map((span) => span.name);
    expect(queries.some((sql) => sql.startsWith('insert into `orders_orders`'))).to.equal(true);
    const [begin, commit] = ['BEGIN', 'COMMIT'].map((word) => spans.find((span) => span.name.startsWith(word))!);
    expect(begin!.start + begin!.duration, 'statements end').to.be.at.most(commit!.start);
    expect(((await read('')) as Trace[])[0])
      .to.include({ id: 'traced-order' })
      .and.not.have.property('spans');
    expect(await read('/unknown')).to.include({ code: 'host_trace_not_found' });
  });

  it('pass the trace of the caller on to outbound requests, and are exported for OpenTelemetry', async () => {
    const [traceId, parent] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
    const response = await host.fetch('/wp-json/shop/v1/call', {
      headers: {
        ...(await createHeader()),
        ...{ 'x-request-id': 'passed-on', traceparent: `00-${traceId}-${parent}-00`, tracestate: 'vendor=1' },
      },
    });
    const sent = (await response.json()) as Record<string, string>;
    const trace = (await read('/passed-on')) as Trace;
    expect(trace).to.include({ traceId, parentSpanId: parent, kind: 'request' });
    const outbound = trace.spans.find(({ kind }) => kind === 'outbound')!;
    expect([sent['traceparent'], sent['tracestate']]).to.deep.equal([
      `00-${traceId}-${outbound.spanId}-01`,
      'vendor=1',
    ]);
    const { resourceSpans } = (await read('/passed-on/otlp')) as { resourceSpans: Otlp[] };
    const spans = resourceSpans[0]!.scopeSpans[0]!.spans;
    expect(spans).to.have.length(trace.spans.length + 1);
    expect(new Set(spans.map(({ spanId }) => spanId)).size).to.equal(spans.length);
    const [root] = spans;
    expect(root).to.include({ traceId, spanId: trace.spanId, parentSpanId: parent, name: trace.name, kind: 2 });
    expect(BigInt(root!.endTimeUnixNano) - BigInt(root!.startTimeUnixNano)).to.equal(
      BigInt(Math.round(trace.duration * 1000)) * 1000n,
    );
    const called = spans.find(({ spanId }) => spanId === outbound.spanId)!;
    expect(called).to.include({ name: 'GET', kind: 3, parentSpanId: trace.spans[outbound.parent!]!.spanId });
    expect(called.attributes).to.deep.include({ key: 'url.full', value: { stringValue: `${receiver.url}/` } });
    for (const wrong of ['', '00-0-0-01', `00-${'0'.repeat(32)}-${parent}-01`, `ff-${traceId}-${parent}-01`]) {
      const headers = { ...(await createHeader()), traceparent: wrong };
      const { traceparent } = (await (await host.fetch('/wp-json/shop/v1/call', { headers })).json()) as typeof sent;
      expect(traceparent, wrong)
        .to.match(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
        .and.not.contain(traceId);
    }
    const untraced = await host.fetch('/wp-json/shop/v1/call', {
      headers: { traceparent: `00-${traceId}-${parent}-01` },
    });
    expect(await untraced.json()).not.to.have.property('traceparent');
  });

  it('are neither recorded nor shown without a header that an administrator made, or after an hour', async () => {
    const count = async (): Promise<number> => ((await read('')) as Trace[]).length;
    const before = await count();
    const header = await createHeader();
    const [expiresAt = '', signature = ''] = header['x-svc-trace']!.split('.');
    for (const wrong of ['', '1', `${Number(expiresAt) + 1}.${signature}`, `${expiresAt}.${'A'.repeat(43)}`])
      expect((await order({ 'x-svc-trace': wrong })).headers.get('server-timing')).to.equal(null);
    expect((await order()).headers.get('server-timing')).to.equal(null);
    await clock.advance(3_600_000);
    expect((await order(header)).headers.get('server-timing')).to.equal(null);
    expect(await count()).to.equal(before);
    expect((await host.fetch('/wp-json/host/v1/traces')).status).to.equal(401);
    const { body } = await host.rest.dispatch('/host/v1/traces');
    expect(body).to.include({ code: 'rest_forbidden' });
  });

  it('record the browser of an administrator who starts it, and jobs, until it is stopped', async () => {
    host.hooks.forOwner('shop').addAction('shop_daily', () => host.options.get('blogname'));
    await host.cron.schedule('daily', 'shop_daily');
    await host.cron.run('shop_daily');
    expect(((await read('')) as Trace[]).map(({ name }) => name)).not.to.include('cron shop_daily');
    await browser.post('tools/traces', 'start', {});
    await host.cron.run('shop_daily');
    const [job] = (await read('')) as Trace[];
    expect(job).to.include({ name: 'cron shop_daily', kind: 'background' });
    const { spans } = (await read(`/${job!.id}`)) as Trace;
    expect(spans.find(({ kind }) => kind === 'hook')).to.include({ name: 'shop_daily', owner: 'shop' });
    expect(await browser.get('orders')).to.include('Latest orders');
    const list = await browser.get('tools/traces');
    expect(list).to.include('Stop tracing this browser').and.include('GET /admin/orders');
    const [, id = ''] = /href="\?id&#x3D;([^"]+)">GET \/admin\/orders</.exec(list) ?? [];
    const waterfall = await browser.get(`tools/traces?id=${id}`);
    expect(waterfall).to.include('orders/orders').and.include('Template').and.include('trace-bar-part');
    // Repeated spans are one row: each capability of the menu has one.
    expect(waterfall).to.match(/map_meta_cap<\/code> <span class="muted">× \d\d/);
    expect(waterfall.match(/map_meta_cap/g)).to.have.lengthOf.below(10);
    await browser.post('tools/traces', 'stop', {});
    const before = (await read('')) as Trace[];
    await browser.get('orders');
    expect((await read('')) as Trace[]).to.deep.equal(before);
    expect(await browser.get('tools/traces?id=unknown')).to.include('no trace with that id');
  });
});
