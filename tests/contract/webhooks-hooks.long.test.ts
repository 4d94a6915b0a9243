import { expect } from 'chai';
import type { Envelope, EventContext } from '../../plugins/svc/webhooks/event.ts';
import type { Received, WebhookReceiver } from './webhook-receiver.ts';
import { completed, describeSites, eventOf, started, type Ended } from './webhook-site.ts';

const envelopeOf = ({ body }: Received): Envelope => JSON.parse(body.toString());
const name = 'chatbot.session_started';
const filters = [
  'svc_event_webhooks_envelope',
  'svc_event_webhooks_targets',
  'svc_event_delivery_queue_async_enabled',
  'svc_event_delivery_queue_processing_enabled',
  'svc_event_webhooks_request_headers',
  'svc_event_webhooks_request_args',
  'svc_event_webhooks_retry_delays',
  'svc_event_webhooks_should_retry',
] as const;

describeSites('the hooks of event webhooks', (site) => {
  let receiver: WebhookReceiver;
  const hooks = () => site().host.hooks;
  beforeEach(async () => {
    receiver = await site().receiver();
  });

  it('all eleven get their arguments, in their order', async () => {
    const calls: (readonly [string, ...unknown[]])[] = [];
    for (const hook of filters)
      hooks().addFilter(hook, ((...given: unknown[]) => (calls.push([hook, ...given]), given[0])) as never, 10, {
        acceptedArgs: 99,
      });
    for (const hook of [
      'svc_event_webhooks_emitted',
      'svc_event_webhooks_delivery_completed',
      'svc_event_webhooks_delivery_failed',
      'svc_event_chatbot_session_started',
    ] as const)
      hooks().addAction(hook, ((...given: unknown[]) => void calls.push([hook, ...given])) as never, 10, {
        acceptedArgs: 99,
      });
    const { id: endpoint } = await site().subscribe(receiver, { name: 'Shop', longTail: false });
    receiver.answer = (_request, earlier) => (earlier === 0 ? 503 : 200);
    const data = started('c-1');
    const context: EventContext = { meta: { provider: 'OpenAI' } };
    const result = await site().emit(name, data, context);
    await site().endings(1);
    const envelope = envelopeOf(receiver.received[0]!);
    const target = {
      id: endpoint,
      name: 'Shop',
      url: receiver.url,
      internal: false,
      standardWebhooks: false,
      redirects: 2,
      longTail: false,
      ordered: false,
    };
    const callsOf = (hook: string): unknown[][] => calls.filter(([one]) => one === hook).map(([, ...given]) => given);
    expect(callsOf('svc_event_webhooks_envelope')).to.deep.equal([[envelope, name, data, context]]);
    expect(callsOf('svc_event_webhooks_targets')).to.deep.equal([[[target], name, envelope, context]]);
    expect(callsOf('svc_event_delivery_queue_async_enabled')).to.deep.equal([
      [true, name, envelope, context, [target]],
    ]);
    for (const given of callsOf('svc_event_delivery_queue_processing_enabled')) expect(given).to.deep.equal([true]);
    expect(callsOf('svc_event_delivery_queue_processing_enabled')).not.to.deep.equal([]);
    const [delivery] = result.deliveries;
    const headersOf = callsOf('svc_event_webhooks_request_headers');
    expect(headersOf).to.have.length(2);
    for (const [index, [headers, sent, id]] of headersOf.entries()) {
      expect([sent, id]).to.deep.equal([envelope, delivery]);
      expect(headers).to.deep.equal({
        'Content-Type': 'application/json; charset=utf-8',
        Accept: 'application/json',
        'User-Agent': 'svc/1.0.0',
        'X-SVC-Event': name,
        'X-SVC-Event-Id': envelope.id,
        'X-SVC-Delivery-Id': delivery,
        'X-SVC-Idempotency-Key': envelope.idempotency_key,
        'X-SVC-Schema-Version': '2026-05-21',
        'X-SVC-Timestamp': receiver.received[index]!.headers['x-svc-timestamp'],
      });
      const body = receiver.received[0]!.body.toString();
      expect(callsOf('svc_event_webhooks_request_args')[index]).to.deep.equal([
        { timeout: 5, redirection: 2, headers, body },
        headers,
        body,
      ]);
    }
    // Once for the first attempt, once for the second.
    expect(callsOf('svc_event_webhooks_retry_delays')).to.deep.equal([[[0, 0.25, 1]], [[0, 0.25, 1]]]);
    expect(callsOf('svc_event_webhooks_should_retry')).to.deep.equal([
      [true, { status: 503, error: 'The endpoint responded with 503.' }, 1, 3],
    ]);
    const [[emitted, given]] = callsOf('svc_event_webhooks_emitted') as [[Record<string, unknown>, EventContext]];
    expect(emitted).to.deep.include({
      event: name,
      envelope,
      targets: [endpoint],
      deliveries: [delivery],
      queued: true,
      delivered: 0,
      failed: 0,
    });
    expect(given).to.equal(context);
    const [[completedResult, completedTarget, completedEnvelope]] = callsOf(
      'svc_event_webhooks_delivery_completed',
    ) as [[Record<string, unknown>, unknown, unknown]];
    expect(completedResult).to.have.all.keys(
      'delivery_id',
      'endpoint_id',
      'status',
      'attempts',
      'http_status',
      'duration_ms',
    );
    expect(completedResult).to.deep.include({
      delivery_id: delivery,
      endpoint_id: endpoint,
      status: 'delivered',
      attempts: 2,
      http_status: 200,
    });
    expect(completedResult['duration_ms']).to.be.a('number');
    expect([completedTarget, completedEnvelope]).to.deep.equal([target, envelope]);
    expect(callsOf('svc_event_chatbot_session_started')).to.deep.equal([[data, envelope, context]]);
    expect(callsOf('svc_event_webhooks_delivery_failed')).to.deep.equal([]);
    receiver.answer = 404;
    await site().emit(name, started('c-2'));
    await site().endings(2);
    const [[failedResult, failedTarget, failedEnvelope]] = callsOf('svc_event_webhooks_delivery_failed') as [
      [Record<string, unknown>, unknown, Envelope],
    ];
    expect(failedResult).to.have.all.keys(
      'delivery_id',
      'endpoint_id',
      'status',
      'attempts',
      'http_status',
      'duration_ms',
      'error',
    );
    expect(failedResult).to.deep.include({
      endpoint_id: endpoint,
      status: 'failed',
      attempts: 1,
      http_status: 404,
      error: 'The endpoint responded with 404.',
    });
    expect([failedTarget, failedEnvelope.data]).to.deep.equal([target, started('c-2')]);
  });

  it('what the filters answer is what is sent', async () => {
    const other = await site().receiver();
    await site().subscribe(receiver);
    hooks().addFilter('svc_event_webhooks_envelope', (envelope) => ({ ...envelope, meta: { shop: 'north' } }));
    hooks().addFilter('svc_event_webhooks_targets', (targets) => [
      ...targets,
      { ...targets[0]!, id: 'added', name: 'Added', url: other.url },
    ]);
    hooks().addFilter('svc_event_webhooks_request_headers', (headers, envelope, delivery) => ({
      ...headers,
      'X-Shop': `${String(envelope.meta?.['shop'])} ${delivery}`,
    }));
    hooks().addFilter('svc_event_webhooks_request_args', (args) => ({
      ...args,
      headers: { ...args.headers, 'X-Args': 'yes' },
    }));
    const { deliveries } = await site().emit(name);
    const [[one], [two]] = [(await receiver.first(1)) as [Received], (await other.first(1)) as [Received]];
    for (const [index, request] of [one, two].entries()) {
      expect(envelopeOf(request).meta).to.deep.equal({ shop: 'north' });
      expect(request.headers).to.include({ 'x-shop': `north ${deliveries[index]!}`, 'x-args': 'yes' });
    }
  });

  it('a filter of targets may leave an endpoint out, or all of them', async () => {
    await site().subscribe(receiver);
    hooks().addFilter('svc_event_webhooks_targets', () => []);
    expect(await site().emit(name)).to.deep.include({ targets: [], deliveries: [] });
    expect((await site().operator.deliveryLog.list()).deliveries).to.deep.equal([]);
  });

  it('filters of retries: more attempts, other waits, a refusal tried again, a failure that is not', async () => {
    await site().subscribe(receiver);
    receiver.answer = 404;
    hooks().addFilter('svc_event_webhooks_retry_delays', () => [0, 0.01, 0.02, 0.03]);
    hooks().addFilter('svc_event_webhooks_should_retry', (_retryable, { status }) => status === 404);
    await site().emit(name, started('c-1'));
    const [{ result }] = (await site().endings(1)) as readonly [Ended];
    const found = (await site().operator.deliveryLog.get(result.delivery_id))!;
    expect(
      found.attemptLog.map(({ nextTryAt, startedAt, duration }) =>
        nextTryAt === null ? null : nextTryAt - startedAt - duration,
      ),
    ).to.deep.equal([10, 20, 30, null]);
    receiver.answer = 503;
    await site().emit(name, started('c-2'));
    await site().endings(2);
    expect(receiver.received).to.have.length(5);
  });

  it('the filter of queueing sends a queued event at once and queues one that would not be', async () => {
    await site().subscribe(receiver);
    hooks().addFilter('svc_event_delivery_queue_async_enabled', (enabled) => !enabled);
    expect(await site().emit(name)).to.deep.include({ queued: false, delivered: 1 });
    expect(await site().emit('task.item_completed')).to.deep.include({ queued: true, delivered: 0 });
    await site().endings(2);
  });

  it('the filter of processing holds the queue, and nothing is lost', async () => {
    await site().subscribe(receiver);
    let held = true;
    hooks().addFilter('svc_event_delivery_queue_processing_enabled', () => !held);
    const { deliveries } = await site().emit(name);
    await site().host.cron.run('svc_webhooks_fallback');
    expect(receiver.received).to.have.length(0);
    held = false;
    await site().host.cron.run('svc_webhooks_fallback');
    await receiver.first(1);
    expect(receiver.received[0]?.headers['x-svc-delivery-id']).to.equal(deliveries[0]);
  });

  for (const [hook, broken] of [
    ['svc_event_webhooks_envelope', 'a filter of envelopes'],
    ['svc_event_webhooks_targets', 'one of targets'],
    ['svc_event_delivery_queue_async_enabled', 'one of queueing'],
    ['svc_event_webhooks_request_headers', 'one of headers'],
    ['svc_event_webhooks_request_args', 'one of requests'],
    ['svc_event_webhooks_should_retry', 'one of retries'],
    ['svc_event_webhooks_retry_delays', 'one of waits'],
  ] as const) {
    it(`${broken} that throws fails that delivery with its reason, and the action of failures runs; the caller and the queue go on`, async () => {
      await site().subscribe(receiver);
      receiver.answer = ({ body }) => (JSON.parse(body.toString()).data.conversation.id === 'broken' ? 503 : 200);
      const undo = hooks().addFilter(hook, (() => {
        throw new Error('this plugin is broken');
      }) as never);
      const { deliveries } = await site().emit(name, started('broken'));
      expect(deliveries).to.have.length(1);
      const [{ result }] = (await site().endings(1)) as readonly [Ended];
      expect(result).to.deep.include({ delivery_id: deliveries[0], status: 'failed' });
      expect(result.error).to.include('this plugin is broken');
      const found = await site().operator.deliveryLog.get(deliveries[0]!);
      expect(found).to.deep.include({ state: 'failed', failure: 'filter' });
      expect(found?.error).to.include('this plugin is broken');
      expect((await site().operator.deliveryLog.recentFailures()).map(({ id }) => id)).to.deep.equal(deliveries);
      undo();
      receiver.answer = 200;
      await site().emit(name, started('well'));
      expect((await site().endings(2))[1]?.result.status).to.equal('delivered');
      expect(await site().operator.deliveryLog.retry(deliveries[0]!)).to.equal(true);
      expect((await site().endings(3))[2]?.result).to.deep.include({ delivery_id: deliveries[0], status: 'delivered' });
    });
  }

  it('a filter that answers nothing, as one that forgot to return, changes nothing and is named', async () => {
    await site().subscribe(receiver);
    for (const hook of [
      'svc_event_webhooks_envelope',
      'svc_event_webhooks_targets',
      'svc_event_webhooks_request_headers',
      'svc_event_webhooks_request_args',
    ] as const) {
      const before = site().ended.length;
      const undo = hooks().addFilter(hook, (() => undefined) as never);
      const { deliveries } = await site().emit(name, started(hook));
      expect(deliveries, hook).to.have.length(1);
      const ended = (await site().endings(before + 1)).at(-1);
      expect(ended?.result, hook).to.deep.include({ status: 'delivered' });
      expect(
        site().host.logged.some((line) => line.includes(`'${hook}' returned nothing`)),
        hook,
      ).to.equal(true);
      undo();
    }
    expect(receiver.received).to.have.length(4);
  });

  it('an event that is refused reaches the action too, with the reason, who emitted it, and no envelope', async () => {
    const { example } = eventOf('chatbot.session_started');
    for (const [name, data, reason] of [
      ['shop.unknown', example, "The event shop.unknown was not sent: There is no event named 'shop.unknown'."],
      ['chatbot.session_started', {}, /^The event chatbot\.session_started was not sent: data must have/],
    ] as const) {
      const { error, ...result } = await site().emit(name, data);
      expect(result).to.deep.equal({
        ...{ event: name, emitter: 'host', envelope: null, targets: [], deliveries: [] },
        ...{ queued: false, delivered: 0, failed: 0 },
      });
      if (typeof reason === 'string') expect(error).to.equal(reason);
      else expect(error).to.match(reason);
    }
    const emitters: string[] = [];
    hooks().addAction('svc_event_webhooks_emitted', ({ emitter }) => void emitters.push(emitter));
    for (const name of ['shop.unknown', 'chatbot.session_started'])
      await site().host.hooks.forOwner('shop').doActionAsync('svc_event_emit', name, example);
    expect(emitters).to.deep.equal(['shop', 'shop']);
    const line = site().host.logged.findLast((each) => each.includes('webhook_emit_failed')) ?? '{}';
    expect(JSON.parse(line)).to.include({ plugin: 'shop', emitter: 'shop', name: 'shop.unknown' });
  });

  it('an action that throws disturbs neither delivery nor caller', async () => {
    await site().subscribe(receiver);
    for (const hook of [
      'svc_event_webhooks_emitted',
      'svc_event_webhooks_delivery_completed',
      'svc_event_task_item_completed',
    ] as const)
      hooks().addAction(
        hook,
        () => {
          throw new Error('broken action');
        },
        5,
      );
    expect(await site().emit('task.item_completed', completed(1))).to.deep.include({ delivered: 1 });
    await site().emit('chatbot.session_started', eventOf('chatbot.session_started').example);
    await receiver.first(2);
  });
});
