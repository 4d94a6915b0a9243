import { expect } from 'chai';
import { createSystemClock } from '../../host/clock.ts';
import type { Database } from '../../host/database/database.ts';
import type { WebhookService } from '../../plugins/svc/webhooks/create-webhooks.ts';
import { tables } from '../../plugins/svc/webhooks/migrations.ts';
import { describeDialects } from '../helpers/dialects.ts';
import { openWebhooks, plainDeliver, queued } from '../svc/webhooks/open-webhooks.ts';
import { startReceiver, type Receiver } from '../svc/webhooks/receiver.ts';
import { until } from '../helpers/until.ts';

const event = 'chatbot.session_started';
const day = 86_400_000;

describeDialects('webhooks while clocks jump by a day', (open) =>
  describe('back or forth', () => {
    let receiver: Receiver;
    let database: Database;
    let close = async (): Promise<void> => {};
    let transport: ReturnType<typeof plainDeliver>;
    const nodes: WebhookService[] = [];

    /** A node whose own time, and whose measure of it against the database's, can be moved. */
    async function openNode() {
      const moved = { now: 0, elapsed: 0 };
      const system = createSystemClock();
      const { webhooks } = await openWebhooks(await open(), transport.deliver, {
        clock: { ...system, now: () => system.now() + moved.now },
        elapsed: () => performance.now() + moved.elapsed,
      });
      nodes.push(webhooks);
      return { webhooks, moved };
    }
    const emit = async (webhooks: WebhookService, number: number): Promise<string[]> =>
      (await Promise.all(Array.from({ length: number }, (_, index) => webhooks.emit(event, queued(index))))).flatMap(
        ({ deliveries }) => deliveries,
      );
    const count = async (state: string): Promise<number> =>
      (await database.knex(tables.deliveries).where({ state })).length;
    const subscribe = async (webhooks: WebhookService): Promise<void> => {
      await webhooks.setEnabled(true);
      await webhooks.addEndpoint({ name: 'Shop', url: receiver.url, events: [event] });
    };
    /** As the rows look to a database whose clock was moved the other way. */
    async function shiftTimes(by: number): Promise<void> {
      const { knex } = database;
      await knex(tables.deliveries)
        .where('due_at', '>', 0)
        .update({ due_at: knex.raw('due_at + ?', [by]) });
      await knex(tables.leases).update({ until: knex.raw('until + ?', [by]) });
    }
    /** Requests of each delivery. */
    function sent(): number[] {
      const counts = new Map<unknown, number>();
      for (const { headers } of receiver.received)
        counts.set(headers['x-svc-delivery-id'], (counts.get(headers['x-svc-delivery-id']) ?? 0) + 1);
      return [...counts.values()];
    }

    beforeEach(async () => {
      receiver = await startReceiver();
      transport = plainDeliver();
      ({ close } = transport);
      database = await open();
    });
    afterEach(async () => {
      // Attempts that hang end with it.
      await close();
      for (const node of nodes.splice(0)) await node.stop();
      await receiver.stop();
    });

    for (const [direction, by] of [
      ['forward', day],
      ['back', -day],
    ] as const) {
      it(`send each event as often as ever when a node's clock goes ${direction}`, async () => {
        const { webhooks, moved } = await openNode();
        await subscribe(webhooks);
        await webhooks.start();
        receiver.hold();
        await emit(webhooks, 3);
        await receiver.count(3);
        moved.now = by;
        receiver.answer = ({ headers }) =>
          Math.abs(Number(headers['x-svc-timestamp']) * 1000 - (Date.now() + by)) < 60_000 ? 200 : 400;
        receiver.release(503);
        await emit(webhooks, 3);
        await until('all are delivered', async () => (await count('delivered')) === 6);
        expect(sent().sort()).to.deep.equal([1, 1, 1, 2, 2, 2]);
      });
    }

    it("take over what nodes that are gone left behind, when the database's clock went back: not a day later", async () => {
      const gone = await openNode();
      await subscribe(gone.webhooks);
      await gone.webhooks.start();
      receiver.answer = 'hang';
      const ids = await emit(gone.webhooks, 4);
      await receiver.count(4);
      // Two of them wait for their next attempt, two are under a lease. To the database's new time all of it lies a day ahead.
      const log = JSON.stringify({ at: Date.now(), ms: 1, status: 503, next: 250 });
      await database
        .knex(tables.deliveries)
        .whereIn('uuid', ids.slice(0, 2))
        .update({ attempts: 1, log, due_at: database.knex.raw('? + 250', [database.now()]) });
      await leaveLeasesOf(ids.slice(2));
      await shiftTimes(day);
      receiver.answer = 200;
      const { webhooks } = await openNode();
      await webhooks.start();
      await until('what waited for its next attempt is delivered', async () => (await count('delivered')) === 2);
      // Of the leases no more than their fifteen seconds are left.
      expect(await latestLease()).to.be.within(1, 20_000);
    });
    /** Leases of nobody who could lengthen them. */
    async function leaveLeasesOf(uuids: readonly string[]): Promise<void> {
      const { knex } = database;
      const left: number[] = await knex(tables.deliveries)
        .whereIn('uuid', [...uuids])
        .pluck('id');
      if (database.dialect === 'sqlite')
        return void (await knex(tables.leases).update({ owner: 'gone', jobs: JSON.stringify(left) }));
      await knex(tables.leases).whereNotIn('delivery_id', left).delete();
      await knex(tables.leases).update({ owner: 'gone' });
    }
    async function latestLease(): Promise<number> {
      const { knex } = database;
      const rows: { wait: number }[] = await knex(tables.leases).select(
        knex.raw('until - ? as wait', [database.now()]),
      );
      return Math.max(...rows.map(({ wait }) => wait));
    }

    it("notice that the database's clock went back while they run, and wait no longer for a next attempt than they meant to", async () => {
      const { webhooks, moved } = await openNode();
      await subscribe(webhooks);
      await webhooks.start();
      receiver.answer = () => (receiver.received.length === 1 ? 503 : 200);
      receiver.hold();
      await emit(webhooks, 1);
      await receiver.count(1);
      receiver.release(503);
      await until('the next attempt is planned', async () => (await count('pending')) === 1);
      await shiftTimes(day);
      // Seen from the node, the database lags a day behind what it said last.
      moved.elapsed = day;
      webhooks.deliveryLog.resume('any').catch(() => undefined);
      await until('it is delivered', async () => (await count('delivered')) === 1);
      expect(sent()).to.deep.equal([2]);
    });

    it("repeat no more than what was under way when the database's clock goes forward, and lose nothing", async () => {
      const [first, second] = [await openNode(), await openNode()];
      await subscribe(first.webhooks);
      await first.webhooks.start();
      receiver.hold();
      const ids = await emit(first.webhooks, 20);
      await receiver.count(4);
      await shiftTimes(-day);
      await second.webhooks.start();
      await receiver.count(8);
      receiver.release(200);
      await until('all are delivered', async () => (await count('delivered')) === ids.length);
      await first.webhooks.stop();
      await second.webhooks.stop();
      expect(sent()).to.have.length(20);
      expect(Math.max(...sent())).to.be.at.most(2);
      for (const id of ids)
        expect(await first.webhooks.deliveryLog.get(id)).to.deep.include({ state: 'delivered', attempts: 1 });
    });

    it('ask whose a job is before they send it, when they were stopped for longer than its lease', async () => {
      const [stopped, other] = [await openNode(), await openNode()];
      await subscribe(stopped.webhooks);
      await stopped.webhooks.start();
      receiver.hold();
      await emit(stopped.webhooks, 8);
      await receiver.count(4);
      // The leases have run out, and another node has them; the time of the stopped one has gone on as well.
      await shiftTimes(-day);
      await other.webhooks.start();
      await receiver.count(8);
      stopped.moved.elapsed = 60_000;
      receiver.release(200);
      await until('all are delivered', async () => (await count('delivered')) === 8);
      await stopped.webhooks.stop();
      await other.webhooks.stop();
      expect(sent().reduce((sum, number) => sum + number, 0)).to.equal(12);
    });
  }),
);
