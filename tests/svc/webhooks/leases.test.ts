import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Database } from '../../../host/database/database.ts';
import { tables, webhookMigrations } from '../../../plugins/svc/webhooks/migrations.ts';
import { createPostgresqlStore } from '../../../plugins/svc/webhooks/store/postgresql-store.ts';
import { createSqliteStore } from '../../../plugins/svc/webhooks/store/sqlite-store.ts';
import type { JobResult, Job, NewEvent, Store } from '../../../plugins/svc/webhooks/store/store-contract.ts';
import { until } from '../../helpers/until.ts';
import { describeDialects } from '../../helpers/dialects.ts';

const done = (job: Job, part: Partial<JobResult> = {}): JobResult => ({
  job,
  state: 'delivered',
  delay: 0,
  attempted: true,
  exempt: false,
  status: 200,
  failure: null,
  error: null,
  duration: 3,
  log: '{}',
  ...part,
});
const eventFor = (count: number): NewEvent => ({
  uuid: randomUUID(),
  name: 'chatbot.session_started',
  key: 'k',
  body: Buffer.from('{}'),
  needsEnvelopeFilter: false,
  context: null,
  bodyState: 0,
  userId: null,
  sessionId: null,
  deliveries: Array.from({ length: count }, () => ({
    uuid: randomUUID(),
    endpointId: 'one',
    orderKey: null,
    target: null,
    failed: null,
    wait: 0,
  })),
});
const claim = (batches: number) => [{ endpointId: 'one', batches, ordered: false }];

describeDialects('leases of the webhook queue', (open, { dialect }) => {
  let database: Database;
  let [first, second] = [null as unknown as Store, null as unknown as Store];
  const nodeOn = (own: Database): Store =>
    own.dialect === 'sqlite' ? createSqliteStore(own, randomUUID()) : createPostgresqlStore(own, randomUUID());
  const take = async (node: Store, batches = 1): Promise<readonly Job[]> =>
    (await node.exchange({ finished: [], released: [], claims: claim(batches) })).jobs;
  const rows = () =>
    database.knex(tables.deliveries).orderBy('id').select('state', 'attempts', 'http_status', 'due_at');

  /** As if the time of the lease had passed: its owner was stopped meanwhile. */
  async function expire(): Promise<void> {
    await database.knex(tables.leases).update({ until: 1 });
    await second.heartbeat();
  }

  beforeEach(async () => {
    database = await open();
    await database.migrate('svc', webhookMigrations);
    [first, second] = [nodeOn(database), nodeOn(await open())];
    await first.add([eventFor(7)], { durable: true });
  });

  it('are claimed in batches of five by a single node', async () => {
    const [mine, theirs] = [await take(first), await take(second)];
    expect([mine.length, theirs.length]).to.deep.equal([5, 2]);
    expect(new Set([...mine, ...theirs].map(({ id }) => id)).size).to.equal(7);
    expect([await take(first), await take(second)]).to.deep.equal([[], []]);
  });

  const onlyOnPostgresql = dialect === 'postgresql' ? it : () => undefined;
  onlyOnPostgresql('are looked up one by one although PostgreSQL has last counted none', async () => {
    const others = await open();
    await others.knex.raw(`VACUUM ${tables.leases}`);
    await first.add([eventFor(293)], { durable: true });
    const node = nodeOn(others);
    const jobs = [...(await take(node, 30)), ...(await take(node, 30))];
    expect(jobs).to.have.length(300);
    await node.exchange({ finished: jobs.map((job) => done(job)), released: [], claims: [] });
    // A connection reports what it has read when it ends.
    await others.close();
    const scans = async (): Promise<Record<'seq_scan' | 'idx_scan', number>> => {
      const select = database
        .knex('pg_stat_user_tables')
        .where({ relname: tables.leases })
        .first('seq_scan', 'idx_scan');
      return (await select) as Record<'seq_scan' | 'idx_scan', number>;
    };
    await until('each lease was looked up', async () => (await scans()).idx_scan >= 300);
    expect((await scans()).seq_scan).to.be.below(5);
  });

  it('belong to one node although several claim and finish at the same moment', async () => {
    await first.add([eventFor(293)], { durable: true });
    const nodes = [first, second, nodeOn(await open())];
    const taken: number[] = [];
    await Promise.all(
      nodes.map(async (node) => {
        let finished: JobResult[] = [];
        for (let empty = 0; empty < 3;) {
          const { jobs, stale } = await node.exchange({ finished, released: [], claims: claim(2) });
          expect(stale).to.deep.equal([]);
          taken.push(...jobs.map(({ id }) => id));
          finished = jobs.map((job) => done(job));
          empty = jobs.length === 0 ? empty + 1 : 0;
        }
      }),
    );
    expect(taken).to.have.length(300);
    expect(new Set(taken).size).to.equal(300);
    expect(new Set((await rows()).map(({ state, attempts }) => `${String(state)} ${String(attempts)}`))).to.deep.equal(
      new Set(['delivered 1']),
    );
  });

  it('of the previous version, which stored them in the jobs on PostgreSQL, end with its migration', async () => {
    const old = await open();
    await old
      .knex(tables.deliveries)
      .update({ state: old.dialect === 'sqlite' ? 'pending' : 'delivering', due_at: 1, owner: 'gone', token: 3 });
    if (old.dialect === 'postgresql') {
      await old.knex.schema.dropTable(tables.leases);
      await old.knex.schema.createTable(tables.leases, (columns) => {
        columns.bigIncrements('token');
      });
    }
    await old.migrate(
      'again',
      webhookMigrations.filter(({ id }) => id === '0183_webhook_leases'),
    );
    const jobs = await take(first, 2);
    expect(jobs).to.have.length(7);
    expect(
      (await first.exchange({ finished: jobs.map((job) => done(job)), released: [], claims: [] })).stale,
    ).to.deep.equal([]);
    expect(new Set((await rows()).map(({ state }) => String(state)))).to.deep.equal(new Set(['delivered']));
  });

  it('pass to another node when they expire, and the first owner cannot overwrite the result', async () => {
    const mine = await take(first, 2);
    await expire();
    const theirs = await take(second, 2);
    expect(theirs.map(({ id }) => id)).to.have.members(mine.map(({ id }) => id));
    await second.exchange({ finished: theirs.map((job) => done(job)), released: [], claims: [] });
    const late = await first.exchange({
      finished: mine.map((job) => done(job, { state: 'failed', status: 500 })),
      released: [],
      claims: [],
    });
    expect(late.stale).to.have.length(7);
    expect(
      new Set((await rows()).map(({ state, http_status: status }) => `${String(state)} ${String(status)}`)),
    ).to.deep.equal(new Set(['delivered 200']));
  });

  it('of a stopped owner are not overwritten while the new owner is still at work', async () => {
    const mine = await take(first, 2);
    await expire();
    await take(second, 2);
    const { stale } = await first.exchange({ finished: mine.map((job) => done(job)), released: [], claims: [] });
    expect(stale).to.have.length(7);
    expect((await rows()).every(({ attempts }) => Number(attempts) === 0)).to.equal(true);
  });

  it('that a crash of the database loses are not mistaken for others when their numbers are used again', async () => {
    const mine = await take(first, 2);
    await database.knex(tables.leases).delete();
    const theirs = await take(second, 2);
    const late = await first.exchange({
      finished: mine.slice(1).map((job) => done(job, { state: 'failed', status: 500 })),
      released: mine.slice(0, 1),
      claims: [],
    });
    expect(late.stale).to.have.length(6);
    expect(
      (await second.exchange({ finished: theirs.map((job) => done(job)), released: [], claims: [] })).stale,
    ).to.deep.equal([]);
    expect(new Set((await rows()).map(({ state }) => String(state)))).to.deep.equal(new Set(['delivered']));
  });

  it('that are released can be claimed by others at once', async () => {
    const mine = await take(first, 2);
    await first.exchange({ finished: [], released: mine, claims: [] });
    expect(await take(second, 2)).to.have.length(7);
  });

  it('that another node releases are claimed again although later jobs were claimed meanwhile', async () => {
    const theirs = await take(second);
    const later = await take(first);
    expect(later.map(({ id }) => id)).to.satisfy((ids: number[]) => ids.every((id) => id > (theirs.at(-1)?.id ?? 0)));
    await second.exchange({ finished: [], released: theirs, claims: [] });
    expect((await take(first, 3)).map(({ uuid }) => uuid)).to.deep.equal(theirs.map(({ uuid }) => uuid));
  });

  it('end with a job that is postponed, which is due later', async () => {
    const [job, ...others] = await take(first, 2);
    const { nextDueIn } = await first.exchange({
      finished: [done(job!, { state: 'pending', delay: 60_000, status: 500 }), ...others.map((other) => done(other))],
      released: [],
      claims: claim(1),
    });
    expect((await nextDueIn).get('one')).to.be.within(50_000, 60_000);
    expect((await rows()).filter(({ state }) => state === 'pending')).to.have.length(1);
  });

  it('go to postponed jobs that are due before new ones', async () => {
    const last = (await first.exchange({ finished: [], released: [], claims: claim(2) })).jobs.at(-1);
    await database.knex(tables.leases).delete();
    await database.knex(tables.deliveries).where({ id: last!.id }).update({ due_at: 5 });
    expect((await take(second)).map(({ id }) => id)).to.include(last!.id);
  });

  it('do not hide endpoints with open jobs', async () => {
    expect(await first.openEndpoints()).to.deep.equal(['one']);
    const jobs = await take(first, 2);
    await first.exchange({ finished: jobs.map((job) => done(job)), released: [], claims: [] });
    expect(await first.openEndpoints()).to.deep.equal([]);
  });
});
