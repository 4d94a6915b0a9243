import { expect } from 'chai';
import type { Database } from '../../host/database/database.ts';
import type { Hooks } from '../../host/hooks/hooks.ts';
import type { WebhookService } from '../../plugins/svc/webhooks/create-webhooks.ts';
import { tables } from '../../plugins/svc/webhooks/migrations.ts';
import { describeDialects } from '../helpers/dialects.ts';
import { openWebhooks, plainDeliver, queued } from '../svc/webhooks/open-webhooks.ts';
import { startReceiver, type Receiver } from '../svc/webhooks/receiver.ts';
import { until } from '../helpers/until.ts';

const event = 'chatbot.session_started';

describeDialects('webhook jobs that are broken', (open) =>
  describe('one way or another', () => {
    let receiver: Receiver;
    let database: Database;
    let hooks: Hooks;
    let webhooks: WebhookService;
    let close = async (): Promise<void> => {};
    const emit = async (id: string | number): Promise<string> =>
      (await webhooks.emit(event, queued(id))).deliveries[0]!;
    const update = (id: string, row: object) => database.knex(tables.deliveries).where({ uuid: id }).update(row);

    beforeEach(async () => {
      receiver = await startReceiver();
      const transport = plainDeliver();
      ({ close } = transport);
      ({ webhooks, hooks, database } = await openWebhooks(await open(), transport.deliver));
      await webhooks.setEnabled(true);
      await webhooks.addEndpoint({ name: 'Shop', url: receiver.url, events: [event] });
    });
    afterEach(async () => {
      await webhooks.stop();
      await close();
      await receiver.stop();
    });

    it('fail alone, each with its reason, however many stand before the good ones', async () => {
      const gone = await Promise.all(Array.from({ length: 12 }, (_, index) => emit(`gone-${String(index)}`)));
      await database.knex(tables.events).delete();
      const [target, body, filtered] = [await emit('target'), await emit('body'), await emit('filtered')];
      await update(target, { target: '{"id": "sho' });
      await update(body, { body: Buffer.from('{"cut off') });
      hooks.addFilter('svc_event_webhooks_request_headers', (headers, envelope) => {
        if (envelope.resource?.id === 'filtered') throw new Error('This conversation is poison');
        return headers;
      });
      const good = await Promise.all(Array.from({ length: 20 }, (_, index) => emit(`good-${String(index)}`)));
      await webhooks.work();
      expect(receiver.received.map(({ headers }) => headers['x-svc-delivery-id'])).to.have.members(good);
      const { deliveries } = await webhooks.deliveryLog.list({ state: 'failed' });
      expect(deliveries).to.have.length(15);
      const errorOf = async (id: string): Promise<string | null | undefined> =>
        (await webhooks.deliveryLog.get(id))?.error;
      for (const id of gone) expect(await errorOf(id)).to.equal('Not sent: the event is no longer stored.');
      expect(await errorOf(target)).to.match(/^Not sent: .*JSON/);
      expect(await errorOf(body)).to.match(/^A request filter failed: .*JSON/);
      expect(await errorOf(filtered)).to.match(/This conversation is poison/);
      expect(await webhooks.deliveryLog.recentFailures()).to.have.length(5);
    });

    it('are not made of the answers of filters that make no sense', async () => {
      const undo = hooks.addFilter('svc_event_webhooks_retry_delays', () => [0, Number.NaN, 'soon'] as never);
      receiver.answer = 503;
      const delays = await emit('delays');
      await webhooks.work();
      undo();
      hooks.addFilter('svc_event_webhooks_request_args', (args) => ({ ...args, timeout: Number.NaN }));
      const timeout = await emit('timeout');
      await webhooks.work();
      expect(await webhooks.deliveryLog.get(delays)).to.deep.include({
        state: 'failed',
        failure: 'filter',
        attempts: 1,
        httpStatus: 503,
      });
      expect(await webhooks.deliveryLog.get(timeout)).to.deep.include({
        state: 'failed',
        failure: 'filter',
        attempts: 0,
      });
    });

    it('do not come of settings that cannot be read: the queue waits, and goes on when they can', async () => {
      const ids = await Promise.all(Array.from({ length: 5 }, (_, index) => emit(index)));
      const { text } = (await database.knex('options').where({ name: 'svc_webhooks' }).first('value as text')) as {
        text: string;
      };
      await database
        .knex('options')
        .where({ name: 'svc_webhooks' })
        .update({ value: text.slice(0, 20) });
      const other = await openWebhooks(await open(), plainDeliver().deliver);
      await other.webhooks.work();
      expect(receiver.received).to.have.length(0);
      expect(await database.knex(tables.deliveries).where({ state: 'pending', attempts: 0 })).to.have.length(5);
      await database.knex('options').where({ name: 'svc_webhooks' }).update({ value: text });
      await webhooks.work();
      expect(receiver.received.map(({ headers }) => headers['x-svc-delivery-id'])).to.have.members(ids);
    });

    it('are held, not spun on, while a plugin holds the queue; a filter of it that throws holds nothing', async () => {
      let asked = 0;
      const undo = hooks.addFilter('svc_event_delivery_queue_processing_enabled', () => {
        asked += 1;
        return false;
      });
      await emit('held');
      expect(await webhooks.work()).to.equal(0);
      await webhooks.start();
      const before = asked;
      const begun = performance.now();
      await until('the queue was looked at again', () => asked >= before + 3);
      expect((asked - before) / (performance.now() - begun)).to.be.lessThan(0.02);
      expect(receiver.received).to.have.length(0);
      undo();
      hooks.addFilter('svc_event_delivery_queue_processing_enabled', () => {
        throw new Error('broken');
      });
      await receiver.count(1);
    });
  }),
);
