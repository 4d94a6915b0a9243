import { expect } from 'chai';
import type { Database } from '../../host/database/database.ts';
import { tables } from '../../plugins/svc/webhooks/migrations.ts';
import type { WebhookService } from '../../plugins/svc/webhooks/create-webhooks.ts';
import { describeDialects } from '../helpers/dialects.ts';
import { openWebhooks, plainDeliver, queued } from '../svc/webhooks/open-webhooks.ts';
import { startReceiver, type Receiver } from '../svc/webhooks/receiver.ts';
import { until } from '../helpers/until.ts';
import { ageLeases, asked, createNodes, type Node } from './webhook-nodes.ts';

const event = 'chatbot.session_started';

describeDialects('two nodes at work on webhooks', (open, { location }) =>
  describe('together', () => {
    const nodes = createNodes();
    let receiver: Receiver;
    let database: Database;
    let webhooks: WebhookService;
    let close = async (): Promise<void> => {};

    async function startNode(): Promise<Node> {
      const node = nodes.start(location());
      await node.ready;
      return node;
    }
    /** Once the nodes have heard of what was changed before: what they are told, they are told in its order. */
    async function seenBy(running: readonly Node[]): Promise<void> {
      await database.notify(asked, 'changes');
      await Promise.all(running.map((node) => node.heard('changes')));
    }
    const waiting = async (): Promise<number> => (await database.knex(tables.deliveries).whereNotNull('due_at')).length;
    const whenDone = (): Promise<void> => until('the queue is empty', async () => (await waiting()) === 0);

    beforeEach(async () => {
      receiver = await startReceiver();
      const transport = plainDeliver();
      ({ close } = transport);
      database = await open();
      ({ webhooks } = await openWebhooks(database, transport.deliver));
      await webhooks.setEnabled(true);
    });
    afterEach(async () => {
      await nodes.stop();
      await close();
      await receiver.stop();
    });

    it('do not overwrite each other: one that was stopped past its lease comes back to an outcome that stays', async function () {
      this.timeout(90_000);
      await webhooks.addEndpoint({ name: 'Shop', url: receiver.url, events: [event] });
      const stopped = await startNode();
      receiver.hold();
      const emitted = (
        await Promise.all(Array.from({ length: 12 }, (_, index) => webhooks.emit(event, queued(index))))
      ).flatMap(({ deliveries }) => deliveries);
      await receiver.count(4);
      // It waits for four answers and holds the rest claimed.
      stopped.signal('SIGSTOP');
      await ageLeases(database);
      const other = await startNode();
      await receiver.count(8);
      receiver.release(200);
      await whenDone();
      expect(receiver.received).to.have.length(emitted.length + 4);
      // Its four answers came while it was stopped; it says so, and is not believed. It may send what it still holds, under the same ids.
      stopped.signal('SIGCONT');
      expect(await stopped.end('SIGTERM')).to.equal(0);
      expect(await other.end('SIGTERM')).to.equal(0);
      expect(new Set(receiver.received.map(({ headers }) => headers['x-svc-delivery-id']))).to.deep.equal(
        new Set(emitted),
      );
      for (const id of emitted) {
        const detail = await webhooks.deliveryLog.get(id);
        expect(detail).to.deep.include({ state: 'delivered', attempts: 1, httpStatus: 200 });
        expect(detail?.attemptLog.map(({ status }) => status)).to.deep.equal([200]);
      }
    });

    it('obey at the next attempt what was changed on a third one between attempts', async function () {
      this.timeout(90_000);
      const moved = await startReceiver();
      const names = ['disabled', 'removed', 'unsubscribed', 'moved'] as const;
      const ids: Record<string, string> = {};
      for (const name of names)
        ids[name] = (await webhooks.addEndpoint({ name, url: receiver.url, events: [event] })).id;
      const running = await Promise.all([startNode(), startNode()]);
      receiver.hold();
      await webhooks.emit(event, queued(1));
      await receiver.count(4);
      await webhooks.updateEndpoint(ids['disabled']!, { enabled: false });
      await webhooks.removeEndpoint(ids['removed']!);
      await webhooks.updateEndpoint(ids['unsubscribed']!, { events: [] });
      await webhooks.updateEndpoint(ids['moved']!, { url: moved.url });
      await seenBy(running);
      receiver.release(503);
      await whenDone();
      expect([receiver.received.length, moved.received.length]).to.deep.equal([4, 1]);
      expect(moved.received[0]?.body).to.equal(receiver.received[0]?.body);
      const { deliveries } = await webhooks.deliveryLog.list();
      const of = (name: string) => deliveries.find(({ endpointId }) => endpointId === ids[name]);
      expect(of('moved')).to.deep.include({ state: 'delivered', attempts: 2 });
      const reasons = {
        disabled: 'The endpoint was turned off.',
        removed: 'The endpoint was removed.',
        unsubscribed: `The endpoint is no longer subscribed to ${event}.`,
      };
      for (const [name, error] of Object.entries(reasons)) {
        expect(of(name)).to.deep.include({ state: 'failed', attempts: 1, failure: 'stopped', error });
        // The attempt that was made stays on record.
        expect((await webhooks.deliveryLog.get(of(name)!.id))?.attemptLog.map(({ status }) => status)).to.deep.equal([
          503,
        ]);
      }
      await moved.stop();
    });

    it('stop sending between two attempts when everything is switched off', async function () {
      this.timeout(90_000);
      await webhooks.addEndpoint({ name: 'Shop', url: receiver.url, events: [event] });
      const running = await Promise.all([startNode(), startNode()]);
      receiver.hold();
      await webhooks.emit(event, queued(1));
      await receiver.count(1);
      await webhooks.setEnabled(false);
      await seenBy(running);
      receiver.release(503);
      await whenDone();
      expect(receiver.received).to.have.length(1);
      expect((await webhooks.deliveryLog.recentFailures())[0]).to.deep.include({
        failure: 'stopped',
        error: 'Event webhooks were turned off.',
        attempts: 1,
      });
    });
  }),
);
