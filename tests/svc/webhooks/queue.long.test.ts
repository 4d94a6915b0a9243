import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { until } from '../../helpers/until.ts';
import { createSystemClock } from '../../../host/clock.ts';
import { describeDialects } from '../../helpers/dialects.ts';
import { failureOf } from '../../helpers/failure-of.ts';
import { webhookMigrations } from '../../../plugins/svc/webhooks/migrations.ts';
import type { WebhookService } from '../../../plugins/svc/webhooks/create-webhooks.ts';
import { atOnce, openWebhooks, plainDeliver, queued, type Opened } from './open-webhooks.ts';
import { startReceiver, type Receiver } from './receiver.ts';

describeDialects('event webhooks', (open) => {
  let receiver: Receiver;
  let opened: Opened;
  let webhooks: WebhookService;
  let transport: ReturnType<typeof plainDeliver>;
  const subscribe = (init = {}) =>
    webhooks.addEndpoint({
      name: 'Shop',
      url: receiver.url,
      events: ['chatbot.session_started', 'task.item_completed'],
      ...init,
    });
  const started = (id: string | number, context = {}) => webhooks.emit('chatbot.session_started', queued(id), context);
  const states = async (): Promise<string[]> =>
    (await webhooks.deliveryLog.list()).deliveries.map(({ state }) => state);

  beforeEach(async () => {
    receiver = await startReceiver();
    transport = plainDeliver();
    opened = await openWebhooks(await open(), transport.deliver);
    ({ webhooks } = opened);
    await webhooks.setEnabled(true);
  });
  afterEach(async () => {
    await webhooks.stop();
    await transport.close();
    await receiver.stop();
  });

  it('sends a queued event with its headers, its envelope and a signature over the bytes', async () => {
    await webhooks.setSecret('a secret');
    await subscribe();
    const result = await started('c-1');
    expect(result).to.deep.include({ queued: true, error: null });
    expect(await webhooks.work()).to.equal(1);
    const [{ headers, body }] = receiver.received as [Receiver['received'][number]];
    const envelope = JSON.parse(body);
    expect(envelope).to.deep.equal(result.envelope);
    expect(envelope.source).to.deep.equal({ module: 'chatbot', origin: 'frontend_session_started' });
    expect(envelope.resource).to.deep.equal({ type: 'conversation', id: 'c-1', label: 'Bot' });
    expect(envelope.occurred_at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/);
    expect(headers).to.include({
      'x-svc-event': 'chatbot.session_started',
      'x-svc-event-id': envelope.id,
      'x-svc-delivery-id': result.deliveries[0],
      'x-svc-idempotency-key': envelope.idempotency_key,
      'x-svc-schema-version': '2026-05-21',
    });
    const digest = createHmac('sha256', 'a secret')
      .update(`${String(headers['x-svc-timestamp'])}.${body}`)
      .digest('hex');
    expect(headers['x-svc-signature']).to.equal(`sha256=${digest}`);
    const detail = await webhooks.deliveryLog.get(result.deliveries[0]!);
    expect(detail).to.deep.include({ state: 'delivered', attempts: 1, httpStatus: 200, body });
    expect(detail?.attemptLog[0]?.requestHeaders['X-SVC-Signature']).to.equal(headers['x-svc-signature']);
    expect(detail?.attemptLog[0]?.responseBody).to.equal('ok');
  });

  it('sends an event at once and records it, retries included', async () => {
    await subscribe();
    receiver.answer = () => (receiver.received.length < 3 ? 503 : 200);
    const result = await webhooks.emit('task.item_completed', atOnce(7));
    expect(result).to.deep.include({ queued: false, delivered: 1, failed: 0 });
    expect(receiver.received).to.have.length(3);
    expect(await states()).to.deep.equal(['delivered']);
    expect(
      (await webhooks.deliveryLog.get(result.deliveries[0]!))?.attemptLog.map(({ status }) => status),
    ).to.deep.equal([503, 503, 200]);
  });

  it('tries three times at 0, 0.25 and 1 s with the same ids and bytes, and then fails', async () => {
    await subscribe();
    receiver.answer = 500;
    await started('c-1');
    await webhooks.start();
    await receiver.count(3);
    await webhooks.stop();
    const [first, second, third] = receiver.received as [
      Receiver['received'][number],
      Receiver['received'][number],
      Receiver['received'][number],
    ];
    expect(second.at - first.at).to.be.greaterThan(240);
    expect(third.at - second.at).to.be.greaterThan(990);
    for (const name of ['x-svc-delivery-id', 'x-svc-event-id', 'x-svc-idempotency-key'])
      expect(third.headers[name]).to.equal(first.headers[name]);
    expect(new Set(receiver.received.map(({ body }) => body)).size).to.equal(1);
    expect(await states()).to.deep.equal(['failed']);
    expect((await webhooks.deliveryLog.recentFailures())[0]).to.deep.include({ attempts: 3, httpStatus: 500 });
  });

  it('does not try again what the receiver refuses', async () => {
    await subscribe();
    receiver.answer = 404;
    await started('c-1');
    expect(await webhooks.work()).to.equal(1);
    expect(await states()).to.deep.equal(['failed']);
  });

  it('counts a click on Retry once, and sends under the same id', async () => {
    await subscribe();
    receiver.answer = 404;
    const {
      deliveries: [id],
    } = await started('c-1');
    await webhooks.work();
    receiver.answer = 200;
    expect(await Promise.all([1, 2, 3].map(() => webhooks.deliveryLog.retry(id!)))).to.have.members([
      true,
      false,
      false,
    ]);
    await webhooks.work();
    expect(receiver.received.map(({ headers }) => headers['x-svc-delivery-id'])).to.deep.equal([id, id]);
    expect(await webhooks.deliveryLog.clear(id!)).to.equal(false);
    expect((await webhooks.deliveryLog.get(id!))?.attemptLog.map(({ status }) => status)).to.deep.equal([404, 200]);
  });

  it('takes a failed delivery from the panel once', async () => {
    await subscribe();
    receiver.answer = 400;
    const {
      deliveries: [id],
    } = await started('c-1');
    await webhooks.work();
    expect([await webhooks.deliveryLog.clear(id!), await webhooks.deliveryLog.clear(id!)]).to.deep.equal([true, false]);
    expect(await webhooks.deliveryLog.recentFailures()).to.deep.equal([]);
  });

  it('emits nothing of an act that was rolled back, and all of one that was committed', async () => {
    await subscribe();
    await failureOf(
      opened.database.transaction(async () => {
        await started('lost');
        throw new Error('undone');
      }),
    );
    await opened.database.transaction(async (transaction) => {
      await started('kept', { transaction });
      await webhooks.emit('task.item_completed', atOnce(1));
    });
    await receiver.count(1);
    await webhooks.work();
    expect(receiver.received.map(({ body }) => JSON.parse(body).type)).to.have.members([
      'chatbot.session_started',
      'task.item_completed',
    ]);
  });

  it('obeys an endpoint that was switched off, unsubscribed, removed or moved since', async () => {
    const other = await startReceiver();
    const ids = await Promise.all(
      ['off', 'unsubscribed', 'removed', 'moved'].map(async (name) => (await subscribe({ name })).id),
    );
    await started('c-1');
    await webhooks.updateEndpoint(ids[0]!, { enabled: false });
    await webhooks.updateEndpoint(ids[1]!, { events: [] });
    await webhooks.removeEndpoint(ids[2]!);
    await webhooks.updateEndpoint(ids[3]!, { url: other.url });
    await webhooks.work();
    expect(receiver.received).to.have.length(0);
    expect(other.received).to.have.length(1);
    const failed = await webhooks.deliveryLog.recentFailures();
    expect(failed.map(({ failure }) => failure)).to.deep.equal(['stopped', 'stopped', 'stopped']);
    await other.stop();
  });

  it('never passes the error of a filter to the caller; the delivery fails with its message', async () => {
    await subscribe();
    const undo = opened.hooks.addFilter('svc_event_webhooks_targets', () => {
      throw new Error('broken filter');
    });
    expect(await started('c-1')).to.deep.include({ failed: 1, error: null });
    undo();
    opened.hooks.addFilter('svc_event_webhooks_request_headers', () => {
      throw new Error('another one');
    });
    await started('c-2');
    await webhooks.work();
    expect((await webhooks.deliveryLog.recentFailures()).map(({ error }) => error)).to.satisfy(
      (errors: string[]) => /another one/.test(errors[0]!) && /broken filter/.test(errors[1]!),
    );
  });

  it('refuses data that the schema of the event refuses, without throwing', async () => {
    await subscribe();
    const { error, envelope } = await webhooks.emit('chatbot.session_started', { bot: {} });
    expect(envelope).to.equal(null);
    expect(error).to.match(/data\.bot|required/);
  });

  it('gives the same act the same key and different acts different ones', async () => {
    const keys = await Promise.all(['a', 'a', 'b'].map(async (id) => (await started(id)).envelope?.idempotency_key));
    expect(keys[0])
      .to.match(/^[0-9a-f]{64}$/)
      .and.to.equal(keys[1]);
    expect(keys[2]).not.to.equal(keys[0]);
  });

  it('stores all events of many callers, and delivers each once with two nodes at work', async () => {
    await subscribe();
    const second = await openWebhooks(await open(), transport.deliver);
    await Promise.all(Array.from({ length: 200 }, (_, index) => started(`c-${String(index)}`)));
    await Promise.all([webhooks.start(), second.webhooks.start()]);
    await receiver.count(200);
    await Promise.all([webhooks.stop(), second.webhooks.stop()]);
    expect(new Set(receiver.received.map(({ headers }) => headers['x-svc-delivery-id'])).size).to.equal(200);
    expect(receiver.received).to.have.length(200);
    expect((await webhooks.deliveryLog.list({ state: 'delivered' }, { limit: 200 })).deliveries).to.have.length(200);
  });

  it('releases unsent jobs to other nodes when it stops, and notifies them', async () => {
    await subscribe();
    for (let number = 0; number < 30; number += 1) await started(`c-${String(number)}`);
    receiver.hold();
    await webhooks.start();
    await receiver.count(4);
    const second = await openWebhooks(await open(), transport.deliver);
    await second.webhooks.start();
    await receiver.count(8);
    const stopped = webhooks.stop();
    receiver.release(200);
    await stopped;
    await until('all of them are delivered', () => receiver.received.length === 30);
    await second.webhooks.stop();
    expect(new Set(receiver.received.map(({ headers }) => headers['x-svc-delivery-id'])).size).to.equal(30);
  });

  it('replays what was delivered: same ids, same bytes', async () => {
    await subscribe();
    await started('c-1');
    await webhooks.work();
    const replay = await webhooks.deliveryLog.replay({ since: 0 });
    expect(replay).to.deep.include({ state: 'done', replayed: 1 });
    await webhooks.work();
    const [first, second] = receiver.received as [Receiver['received'][number], Receiver['received'][number]];
    expect(second.body).to.equal(first.body);
    expect(second.headers['x-svc-delivery-id']).to.equal(first.headers['x-svc-delivery-id']);
  });

  it('continues a replay on another node, each delivery once, until it is stopped', async () => {
    const clock = { ...createSystemClock(), sleep: async () => undefined };
    const [first, second] = [
      await openWebhooks(await open(), transport.deliver, { clock }),
      await openWebhooks(await open(), transport.deliver, { clock }),
    ];
    await subscribe();
    for (let id = 0; id < 5; id += 1) await started(id);
    await webhooks.work();
    const { deliveryLog } = first.webhooks;
    const { id, ...replay } = await deliveryLog.replay({ since: 0, rate: 2 });
    expect(replay).to.deep.include({ state: 'running', replayed: 2, total: 5 });
    expect(await second.jobs.drain()).to.equal(1);
    expect((await deliveryLog.replays())[0]).to.deep.include({ id, state: 'done', replayed: 5 });
    expect((await second.jobs.list())[0]?.progress).to.deep.include({ done: 5, total: 5 });
    await webhooks.work();
    expect(receiver.received).to.have.length(10);
    const stopped = await deliveryLog.replay({ since: 0, rate: 2 });
    expect(await second.webhooks.deliveryLog.stopReplay(stopped.id)).to.equal(true);
    expect(await deliveryLog.stopReplay(stopped.id)).to.equal(false);
    await webhooks.work();
    expect((await deliveryLog.replays())[0]).to.deep.include({ id: stopped.id, state: 'stopped', replayed: 2 });
    expect(receiver.received).to.have.length(12);
    const [job] = await first.jobs.list({ state: 'cancelled' });
    expect(await first.jobs.retry(job?.id ?? 0)).to.equal(true);
    await webhooks.work();
    expect(receiver.received).to.have.length(15);
  });

  it('continues a replay of a version that had a table for them', async () => {
    await subscribe();
    for (let id = 0; id < 3; id += 1) await started(id);
    await webhooks.work();
    const { database, jobs } = opened;
    const [first, , last] = (await database.knex('svc_webhook_deliveries').orderBy('id').pluck('id')) as number[];
    await database.knex.schema.createTable('svc_webhook_replays', (columns) => {
      for (const name of ['id', 'state', 'request']) columns.text(name);
      for (const name of ['cursor', 'last', 'replayed', 'total', 'without_body', 'created_at'])
        columns.bigInteger(name);
    });
    const row = { request: '{"since":0}', cursor: first, last, replayed: 1, total: 3, without_body: 0, created_at: 7 };
    await database.knex('svc_webhook_replays').insert([
      { id: 'running', state: 'running', ...row },
      { id: 'stopped', state: 'stopped', ...row },
    ]);
    await database.migrate(
      'again',
      webhookMigrations.filter(({ id }) => id === '0214_webhook_replay_jobs'),
    );
    await jobs.drain();
    await webhooks.work();
    expect(receiver.received).to.have.length(5);
    expect(await webhooks.deliveryLog.replays()).to.deep.equal([
      { id: 'running', state: 'done', replayed: 3, total: 3, withoutBody: 0, createdAt: 7 },
    ]);
  });

  it('delivers the events of one conversation one after the other where an endpoint asks for it', async () => {
    await subscribe({ ordered: true });
    receiver.answer = () => (receiver.received.length === 1 ? 503 : 200);
    for (const part of [1, 2, 3]) await started('same', { meta: { part } });
    await webhooks.start();
    await receiver.count(4);
    await webhooks.stop();
    expect(receiver.received.map(({ body }) => JSON.parse(body).meta.part)).to.deep.equal([1, 1, 2, 3]);
  });

  it('reports why an endpoint receives nothing', async () => {
    const { id } = await subscribe({ enabled: false, events: [] });
    const unmet = (await webhooks.deliveryLog.checkEligibility('chatbot.session_started', id))
      .filter(({ met }) => !met)
      .map((condition) => condition.id);
    expect(unmet).to.deep.equal(['enabled', 'subscribed']);
  });
});
