import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import { Client } from 'pg';
import type { Database } from '../../host/database/database.ts';
import type { WebhookService } from '../../plugins/svc/webhooks/create-webhooks.ts';
import { tables } from '../../plugins/svc/webhooks/migrations.ts';
import { describeDialects } from '../helpers/dialects.ts';
import { checkout } from '../helpers/running-site.ts';
import { atOnce, openWebhooks, plainDeliver, queued } from '../svc/webhooks/open-webhooks.ts';
import { startReceiver, type Receiver } from '../svc/webhooks/receiver.ts';
import { until } from '../helpers/until.ts';

const event = 'chatbot.session_started';
/** Needs pages of its own wherever it is stored. */
const large = 'x'.repeat(15_000);

describeDialects('webhooks whose database is in trouble', (open, { dialect, location }) =>
  describe('still', () => {
    let receiver: Receiver;
    let database: Database;
    let webhooks: WebhookService;
    let close = async (): Promise<void> => {};
    /** Errors of the database that the queue met. */
    let troubles: unknown[] = [];

    const emit = (id: string | number) => webhooks.emit(event, queued(id));
    const ids = (): unknown[] => receiver.received.map(({ headers }) => headers['x-svc-delivery-id']);
    const count = async (state: string): Promise<number> =>
      (await database.knex(tables.deliveries).where({ state })).length;
    const whenDelivered = (number: number): Promise<void> =>
      until(`${String(number)} are delivered`, async () => (await count('delivered')) === number);

    beforeEach(async () => {
      receiver = await startReceiver();
      const transport = plainDeliver();
      ({ close } = transport);
      database = await open();
      troubles = [];
      const watched: Database = Object.assign(Object.create(database) as Database, {
        isUnavailable: (error: unknown) => {
          troubles.push(error);
          return database.isUnavailable(error);
        },
      });
      ({ webhooks } = await openWebhooks(watched, transport.deliver));
      await webhooks.setEnabled(true);
      await webhooks.addEndpoint({ name: 'Shop', url: receiver.url, events: [event, 'task.item_completed'] });
    });
    // Nested, so that the nodes stop before the database goes.
    afterEach(async () => {
      // No more attempts; those that wait for an answer end with their connections.
      const stopped = webhooks.stop();
      await close();
      await stopped;
      await receiver.stop();
    });

    /** Another process holds the lock that every writer needs. Answers what ends it. */
    async function lockSqlite(): Promise<() => Promise<void>> {
      const program = `const db = new (require('better-sqlite3'))(process.argv[1]); db.exec('BEGIN EXCLUSIVE'); console.log('locked'); process.stdin.once('data', () => { db.exec('ROLLBACK'); db.close(); process.exit(0); });`;
      const child = spawn(process.execPath, ['-e', program, join(location().dataDir, 'site.sqlite')], {
        cwd: checkout,
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      await new Promise((resolve) => child.stdout.once('data', resolve));
      return () =>
        new Promise((resolve) => {
          child.once('exit', () => {
            resolve();
          });
          child.stdin.write('end\n');
        });
    }

    async function lockPostgresql(): Promise<() => Promise<void>> {
      const client = new Client({ connectionString: location().databaseUrl ?? '' });
      await client.connect();
      await client.query(`BEGIN; LOCK TABLE ${tables.deliveries}, ${tables.events} IN ACCESS EXCLUSIVE MODE`);
      return async () => {
        await client.query('ROLLBACK');
        await client.end();
      };
    }

    // Seconds are not what matters: SQLite's lock is held until the 5 s have passed in which the driver waits for it, and the queue has to.
    it('keep every event and every outcome while another process holds a lock', async function () {
      this.timeout(90_000);
      await webhooks.start();
      receiver.hold();
      await emit('before');
      await receiver.count(1);
      const unlock = await (dialect === 'sqlite' ? lockSqlite() : lockPostgresql());
      receiver.release(200);
      const emitting = Promise.all(Array.from({ length: 20 }, (_, index) => emit(index)));
      const direct = webhooks.emit('task.item_completed', atOnce(1));
      if (dialect === 'sqlite') await until('the driver has given up waiting', () => troubles.length > 0);
      else
        await until(
          'somebody waits for the lock',
          async () =>
            Number(
              (
                (await database.knex.raw('SELECT count(*) AS n FROM pg_locks WHERE NOT granted')) as {
                  rows: { n: string }[];
                }
              ).rows[0]?.n,
            ) > 0,
        );
      expect(receiver.received).to.have.length(1);
      await unlock();
      expect((await emitting).map(({ error }) => error)).to.deep.equal(Array.from({ length: 20 }, () => null));
      expect((await direct).error).to.equal(null);
      await whenDelivered(22);
      expect(new Set(ids()).size).to.equal(22);
      expect(ids()).to.have.length(22);
    });

    it('try an outcome again that could not be written, and send nothing twice for it', async function () {
      this.timeout(60_000);
      await webhooks.start();
      const {
        deliveries: [refused],
      } = await emit('refused');
      await whenDelivered(1);
      await database.knex(tables.deliveries).update({ state: 'pending', due_at: 1, attempts: 0, log: null });
      receiver.received.splice(0);
      await refuseOutcomes(refused!);
      const others = (await Promise.all(Array.from({ length: 30 }, (_, index) => emit(index)))).flatMap(
        ({ deliveries }) => deliveries,
      );
      // One that cannot be written holds nobody up.
      await until(
        'the others are delivered',
        async () =>
          (await database.knex(tables.deliveries).where({ state: 'delivered' }).whereIn('uuid', others)).length === 30,
      );
      await until('the refused one was sent', () => ids().includes(refused));
      expect(await count('delivered')).to.equal(30);
      await allowOutcomes();
      await whenDelivered(31);
      expect(ids()).to.have.length(31);
    });

    async function refuseOutcomes(uuid: string): Promise<void> {
      if (dialect === 'sqlite') {
        await database.knex.raw(
          `CREATE TRIGGER no_outcomes BEFORE UPDATE ON ${tables.deliveries} WHEN OLD.uuid = '${uuid}' AND NEW.state = 'delivered' BEGIN SELECT RAISE(ABORT, 'refused'); END`,
        );
        return;
      }
      await database.knex.raw(
        `CREATE FUNCTION no_outcomes() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$`,
      );
      await database.knex.raw(
        `CREATE TRIGGER no_outcomes BEFORE UPDATE ON ${tables.deliveries} FOR EACH ROW WHEN (OLD.uuid = '${uuid}' AND NEW.state = 'delivered') EXECUTE FUNCTION no_outcomes()`,
      );
    }
    const allowOutcomes = () =>
      database.knex.raw(
        dialect === 'sqlite' ? 'DROP TRIGGER no_outcomes' : `DROP TRIGGER no_outcomes ON ${tables.deliveries}`,
      );

    it('keep outcomes and events while the disk is full', async function () {
      this.timeout(60_000);
      await webhooks.start();
      receiver.hold();
      const first = await Promise.all(Array.from({ length: 4 }, (_, index) => emit(index)));
      await receiver.count(4);
      await fillDisk();
      receiver.release(200, large);
      const late = webhooks.emit(event, queued('late'), { meta: { large } });
      await until('the disk is full for outcomes and events', () => troubles.length >= 2);
      expect(await count('delivered')).to.equal(0);
      await emptyDisk();
      expect([...first, await late].map(({ error }) => error)).to.deep.equal([null, null, null, null, null]);
      await whenDelivered(5);
      expect(ids()).to.have.length(5);
      expect(troubles.every((error) => database.isUnavailable(error))).to.equal(true);
    });

    /** SQLite's own limit of pages; PostgreSQL answers as a full disk makes it answer. */
    async function fillDisk(): Promise<void> {
      const { knex } = database;
      if (dialect === 'sqlite') {
        const [{ page_count: pages }] = (await knex.raw('PRAGMA page_count')) as [{ page_count: number }];
        await knex.raw(`PRAGMA max_page_count = ${String(pages)}`);
        return;
      }
      await knex.raw(
        `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`,
      );
      for (const table of [tables.deliveries, tables.events])
        await knex.raw(
          `CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION full_disk()`,
        );
    }
    async function emptyDisk(): Promise<void> {
      if (dialect === 'sqlite') await database.knex.raw('PRAGMA max_page_count = 1000000');
      else
        for (const table of [tables.deliveries, tables.events])
          await database.knex.raw(`DROP TRIGGER full_disk ON ${table}`);
    }

    if (dialect === 'postgresql') {
      it('go on after their connections were ended, again and again', async function () {
        this.timeout(90_000);
        await webhooks.start();
        const killer = new Client({ connectionString: location().databaseUrl ?? '' });
        await killer.connect();
        const results = [];
        for (let round = 0; round < 15; round += 1) {
          const emitting = Promise.all(
            Array.from({ length: 10 }, (_, index) => emit(`${String(round)}-${String(index)}`)),
          );
          // At another moment each time: before, while and after they are stored and sent.
          if (round % 3 > 0) await receiver.count(Math.max(0, results.length - 20) + (round % 3));
          await killer.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'svc' AND datname = current_database()",
          );
          results.push(...(await emitting));
        }
        expect(results.filter(({ error }) => error !== null)).to.deep.equal([]);
        const emitted = results.flatMap(({ deliveries }) => deliveries);
        // By the one connection that nobody ended: the pool may yet hand out one of the others.
        const rowsOf = async (table: string, condition = 'true'): Promise<number> =>
          (await killer.query(`SELECT id FROM ${table} WHERE ${condition}`)).rows.length;
        await until('150 are delivered', async () => (await rowsOf(tables.deliveries, "state = 'delivered'")) === 150);
        expect([await rowsOf(tables.deliveries), await rowsOf(tables.events)]).to.deep.equal([150, 150]);
        await killer.end();
        expect(new Set(ids())).to.deep.equal(new Set(emitted));
      });
    }
  }),
);
