import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  TracerProvider,
  InMemorySpanExporter,
  ParentBasedSampler,
  AlwaysOnSampler,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace';
import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { createTestHost, type TestHost } from '#testing';
import { goodRequest, startService } from '../contract/service.ts';
import { startSite } from '../helpers/running-site.ts';
import { until } from '../helpers/until.ts';
import { startReceiver, type Receiver } from './receiver.ts';

describe('a provider of OpenTelemetry', () => {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  });
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const parent = '00f067aa0ba902b7';
  let host: TestHost;
  let receiver: Receiver;
  before(async () => {
    receiver = await startReceiver();
    host = await createTestHost();
    const hooks = host.hooks.forOwner('shop');
    hooks.addFilter('shop_price', async (price: number) => {
      await trace.getTracer('shop').startActiveSpan('ask for the price', async (span) => {
        await Promise.resolve();
        span.end();
      });
      return price + 1;
    });
    host.rest.registerRoute('shop/v1', '/price', {
      permission: () => true,
      handler: async () => {
        await host.database.knex('options').where({ name: 'none' }).first();
        const price = await hooks.applyFiltersAsync('shop_price', 1);
        return { price, sent: await (await fetch(receiver.url)).json() };
      },
    });
    host.rest.registerRoute('shop/v1', '/broken', {
      permission: () => true,
      handler: async () => {
        await Promise.resolve();
        throw new Error('no price');
      },
    });
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    trace.setGlobalTracerProvider(provider);
  });
  after(async () => {
    trace.disable();
    context.disable();
    await host.stop();
    await receiver.stop();
  });

  /** The spans of a request, after its last one has ended. */
  async function request(path: string, headers: Readonly<Record<string, string>> = {}) {
    exporter.reset();
    const response = await host.fetch(`/wp-json/shop/v1/${path}`, { headers });
    const body = (await response.json()) as { readonly price?: number; readonly sent?: Record<string, string> };
    await until('the span of the request', () => find('svc.kind', undefined) !== undefined);
    return { response, body };
  }
  const find = (attribute: string, value: unknown): ReadableSpan | undefined =>
    exporter
      .getFinishedSpans()
      .find(
        ({ attributes, name }) =>
          attributes[attribute] === value &&
          (value !== undefined || attributes['http.request.method'] !== undefined) &&
          name !== 'ask for the price',
      );
  const idOf = (span: ReadableSpan | undefined): string => span?.spanContext().spanId ?? 'none';

  it('gets the spans of each request below the span of its caller, with those of plugins among them', async () => {
    const { body, response } = await request('price', { traceparent: `00-${traceId}-${parent}-01` });
    expect([body.price, response.headers.get('server-timing')]).to.deep.equal([2, null]);
    const spans = exporter.getFinishedSpans();
    expect(new Set(spans.map((span) => span.spanContext().traceId))).to.deep.equal(new Set([traceId]));
    const root = find('svc.kind', undefined);
    expect(root).to.include({ name: 'GET /shop/v1/price', kind: 1 });
    expect(root?.parentSpanContext?.spanId).to.equal(parent);
    expect(root?.attributes).to.include({ 'http.route': '/shop/v1/price', 'http.response.status_code': 200 });
    const handler = find('svc.kind', 'handler');
    expect(handler?.parentSpanContext?.spanId).to.equal(idOf(root));
    const hook = find('svc.plugin', 'shop');
    expect(hook).to.include({ name: 'hook shop_price' });
    expect(spans.find(({ name }) => name === 'ask for the price')?.parentSpanContext?.spanId).to.equal(idOf(hook));
    const query = find('svc.kind', 'query');
    expect(query).to.include({ name: 'SELECT', kind: 2 });
    expect(query?.attributes['db.query.text']).to.be.a('string').that.contains('options');
    const outbound = find('svc.kind', 'outbound');
    expect(outbound?.parentSpanContext?.spanId).to.equal(idOf(handler));
    expect(body.sent?.['traceparent']).to.equal(`00-${traceId}-${idOf(outbound)}-01`);
    const { body: listed } = await host.rest.dispatch('/host/v1/traces', { user: await administrator() });
    expect(listed, 'the list is for what an administrator chose').to.deep.equal([]);
  });

  it('decides by its sampler, and the decision is passed on', async () => {
    exporter.reset();
    const response = await host.fetch('/wp-json/shop/v1/price', {
      headers: { traceparent: `00-${traceId}-${parent}-00` },
    });
    const { sent } = (await response.json()) as { readonly sent: Record<string, string> };
    expect(sent['traceparent']).to.match(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
    expect(exporter.getFinishedSpans()).to.deep.equal([]);
  });

  it('learns of errors', async () => {
    const { response } = await request('broken');
    expect(response.status).to.equal(500);
    const handler = find('svc.kind', 'handler');
    expect([handler?.status.code, handler?.events[0]?.attributes?.['exception.message']]).to.deep.equal([
      2,
      'no price',
    ]);
    expect(find('svc.kind', undefined)?.status.code).to.equal(2);
  });

  it('gets the spans of cron events', async () => {
    host.hooks.forOwner('shop').addAction('shop_daily', () => undefined);
    await host.cron.schedule('daily', 'shop_daily');
    exporter.reset();
    await host.cron.run('shop_daily');
    const root = exporter.getFinishedSpans().find(({ name }) => name === 'cron shop_daily');
    expect(root?.parentSpanContext).to.equal(undefined);
    expect(find('svc.plugin', 'shop')).to.include({ name: 'hook shop_daily' });
  });

  it('gets calls of models by the conventions for generative AI, and nothing of what was written', async () => {
    const service = await startService();
    try {
      exporter.reset();
      expect((await service.generate(goodRequest)).status).to.equal(200);
      service.upstream.answer({ status: 400, body: { error: { message: 'no such thing' } } });
      expect((await service.generate({ ...goodRequest, model: 'gpt-0' })).status).to.equal(400);
      await until('both requests', () => finished('POST /svc/v1/generate').length === 2);
      const common = { 'svc.kind': 'call', 'svc.plugin': 'svc', 'gen_ai.operation.name': 'chat' };
      const [good] = finished('chat gpt-4o-mini');
      expect(good?.attributes).to.deep.equal({
        ...common,
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': 'gpt-4o-mini',
        'gen_ai.response.model': 'far-model-0125',
        'gen_ai.usage.input_tokens': 7,
        'gen_ai.usage.output_tokens': 3,
      });
      const [failed] = finished('chat gpt-0');
      expect(failed?.attributes).to.include({ ...common, 'error.type': 'rest_svc_provider_rejected' });
      expect(failed?.status.code).to.equal(2);
      const outbound = exporter.getFinishedSpans().filter(({ attributes }) => attributes['svc.kind'] === 'outbound');
      expect(outbound.map(({ parentSpanContext: above }) => above?.spanId)).to.deep.equal([idOf(good), idOf(failed)]);
    } finally {
      await service.stop();
    }
  });
  const finished = (name: string): ReadableSpan[] => exporter.getFinishedSpans().filter((span) => span.name === name);

  async function administrator() {
    const login = 'ada';
    return (
      (await host.users.find(login)) ??
      (await host.users.create({ login, email: 'ada@example.com', password: 'ada of the shop', role: 'administrator' }))
    );
  }
});

describe('the export to a collector', () => {
  /** What OpenTelemetry's SDK sent: method and path, media type, key, and the text within the bytes. */
  const requests: { readonly line: string; readonly type: unknown; readonly key: unknown; readonly text: string }[] =
    [];
  let collector: Server;
  let endpoint: string;
  before(async () => {
    collector = createServer((request, response) => {
      void buffer(request).then((body) => {
        const { method, url, headers } = request;
        const [type, key] = [headers['content-type'], headers['x-key']];
        requests.push({ line: `${String(method)} ${String(url)}`, type, key, text: body.toString('latin1') });
        response.end();
      });
    }).listen(0, '127.0.0.1');
    await once(collector, 'listening');
    endpoint = `http://127.0.0.1:${String((collector.address() as AddressInfo).port)}`;
  });
  after(() => collector.close());
  beforeEach(() => void requests.splice(0));

  const run = async (env: Readonly<Record<string, string>>): Promise<{ output: string; code: number | null }> => {
    const site = await startSite({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...env });
    const response = await fetch(`${site.url}/wp-json/host/v1/nothing-here`);
    expect(response.status).to.equal(404);
    const code = await site.stop();
    return { output: site.output(), code };
  };

  it('sends the spans of requests with the headers and the names of the environment, the last ones when it stops', async () => {
    const { code } = await run({ OTEL_EXPORTER_OTLP_HEADERS: 'x-key=abc', OTEL_SERVICE_NAME: 'shop-of-ada' });
    expect(code).to.equal(0);
    expect(requests.map(({ text: _text, ...request }) => request)).to.deep.include({
      line: 'POST /v1/traces',
      type: 'application/x-protobuf',
      key: 'abc',
    });
    const sent = requests.map(({ text }) => text).join('');
    expect(sent)
      .to.contain('GET /wp-json/host/v1/nothing-here')
      .and.contain('shop-of-ada')
      .and.contain('service.version');
    expect(sent, 'its own requests').not.to.contain('/v1/traces');
  });

  it('sends nothing where the sampler takes none', async () => {
    await run({ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' });
    expect(requests).to.deep.equal([]);
  });

  it('says once that a collector takes nothing, and the site runs and stops all the same', async () => {
    const { code, output } = await run({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_EXPORTER_OTLP_TIMEOUT: '200',
    });
    expect(code).to.equal(0);
    expect(output.match(/"event":"telemetry_failed"/g)).to.have.length(1);
  });
});
