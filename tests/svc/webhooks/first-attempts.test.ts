import { expect } from 'chai';
import type { WebhookService } from '../../../plugins/svc/webhooks/create-webhooks.ts';
import { tables } from '../../../plugins/svc/webhooks/migrations.ts';
import { describeDialects } from '../../helpers/dialects.ts';
import { atOnce, openWebhooks, plainDeliver, queued, type Opened } from './open-webhooks.ts';
import { startReceiver, type Receiver } from './receiver.ts';

describeDialects('first attempts of webhook deliveries', (open) => {
  let receiver: Receiver;
  let opened: Opened;
  let webhooks: WebhookService;
  let transport: ReturnType<typeof plainDeliver>;

  beforeEach(async () => {
    receiver = await startReceiver();
    transport = plainDeliver();
    opened = await openWebhooks(await open(), transport.deliver);
    ({ webhooks } = opened);
    await webhooks.setEnabled(true);
    await webhooks.addEndpoint({
      name: 'Shop',
      url: receiver.url,
      events: ['chatbot.session_started', 'task.item_completed'],
    });
  });
  afterEach(async () => {
    await webhooks.stop();
    await transport.close();
    await receiver.stop();
  });

  it('wait for the filtered delay', async () => {
    let first = 0.3;
    opened.hooks.addFilter('svc_event_webhooks_retry_delays', (delays) => [first, ...delays.slice(1)]);
    const began = performance.now();
    await webhooks.emit('chatbot.session_started', queued('soon'));
    // One that is not due for as long as this test may take.
    first = 600;
    await webhooks.emit('chatbot.session_started', queued('late'));
    await webhooks.start();
    await receiver.count(1);
    expect(receiver.received[0]!.at - began).to.be.at.least(299);
    await webhooks.work();
    expect(
      receiver.received.map(
        ({ body }) => (JSON.parse(body) as { data: { conversation: { id: string } } }).data.conversation.id,
      ),
    ).to.deep.equal(['soon']);
  });

  it('are not made once another process has taken the delivery while a filter changes its body', async () => {
    opened.hooks.addFilter('svc_event_webhooks_request_args', async (args) => {
      await opened.database.knex(tables.leases).update({ owner: 'another process' });
      return { ...args, body: '{"changed":true}' };
    });
    await webhooks.emit('chatbot.session_started', queued(1));
    await webhooks.work();
    expect(receiver.received).to.deep.equal([]);
    const [delivery] = (await webhooks.deliveryLog.list()).deliveries;
    expect(delivery?.attempts).to.be.oneOf([0, 1]);
    expect(delivery?.state).not.to.be.oneOf(['delivered', 'failed']);
  });

  it('that have to wait are queued, even for events that are otherwise sent at once', async () => {
    opened.hooks.addFilter('svc_event_webhooks_retry_delays', () => [600]);
    expect(await webhooks.emit('task.item_completed', atOnce(1))).to.deep.include({
      queued: true,
      delivered: 0,
      failed: 0,
      error: null,
    });
    const {
      deliveries: [delivery],
    } = await webhooks.deliveryLog.list();
    expect((delivery?.dueAt ?? 0) - (delivery?.createdAt ?? 0)).to.equal(600_000);
    expect(receiver.received).to.have.length(0);
  });

  it('do not wait if the delay filter throws, which fails a delivery that needs a retry', async () => {
    opened.hooks.addFilter('svc_event_webhooks_retry_delays', () => {
      throw new Error('no delays today');
    });
    receiver.answer = () => (receiver.received.length === 1 ? 200 : 503);
    for (const id of [1, 2]) await webhooks.emit('chatbot.session_started', queued(id));
    expect(await webhooks.work()).to.equal(2);
    expect(
      (await webhooks.deliveryLog.list()).deliveries.map(({ state, attempts, error }) => [state, attempts, error]),
    ).to.have.deep.members([
      ['delivered', 1, null],
      ['failed', 1, 'A retry filter failed: no delays today'],
    ]);
  });

  it('run a failed envelope filter again on Retry, with the same arguments', async () => {
    const given: unknown[] = [];
    let isBroken = true;
    opened.hooks.addFilter('svc_event_webhooks_envelope', (...handed) => {
      const [envelope, , data, context] = handed;
      given.push([data, context]);
      if (isBroken) throw new Error('not yet');
      return { ...envelope, meta: { late: true } };
    });
    const context = { origin: 'frontend_other', meta: { page: 3 }, key: ['a', 7] };
    const {
      deliveries: [delivery],
    } = await webhooks.emit('chatbot.session_started', queued(1), context);
    isBroken = false;
    expect(await webhooks.deliveryLog.retry(delivery!)).to.equal(true);
    expect(await webhooks.work()).to.equal(1);
    expect(given).to.deep.equal([
      [queued(1), context],
      [queued(1), context],
    ]);
    expect(JSON.parse(receiver.received[0]!.body)).to.deep.include({ meta: { late: true } });
  });
});
