import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { BroadcastChannel } from 'node:worker_threads';
import { expect } from 'chai';
import type { RowReduction } from '#plugin-api';
import { createSystemClock } from '../../host/clock.ts';
import { type Database, openDatabase } from '../../host/database/database.ts';
import { describeDialects, silentLog } from '../helpers/dialects.ts';
import { failureOf } from '../helpers/failure-of.ts';

const module = new URL('./lengths.reducer.ts', import.meta.url);

const lengths = (least: number, change: Partial<RowReduction> = {}): RowReduction => ({
  select: {
    sqlite: 'SELECT data FROM things WHERE id >= ? ORDER BY id',
    postgresql: 'SELECT data FROM things WHERE id >= $1 ORDER BY id',
  },
  values: [least],
  module,
  reducer: 'sumLengths',
  input: { factor: 10 },
  ...change,
});

async function createThings(database: Database, count: number): Promise<void> {
  await database.knex.schema.createTable('things', (columns) => {
    columns.integer('id').primary();
    columns.binary('data').notNullable();
  });
  const rows = Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    data: Buffer.from([0, 255, index % 256]),
  }));
  for (let start = 0; start < count; start += 100) await database.knex('things').insert(rows.slice(start, start + 100));
}

describeDialects('rows that a thread reduces', (open) => {
  let database: Database;
  beforeEach(async () => {
    database = await open();
    await createThings(database, 450);
  });

  it('are read in another thread, however many there are', async () => {
    const [thread, ...sums] = await database.reduceRows(lengths(1));
    expect(sums).to.deep.equal([450, 13_500]);
    expect(thread).to.be.above(0);
    // Exactly as many as one batch of PostgreSQL, and none.
    expect([...(await database.reduceRows(lengths(251)))].slice(1)).to.deep.equal([200, 6_000]);
    expect([...(await database.reduceRows(lengths(1_000)))].slice(1)).to.deep.equal([0, 0]);
  });

  it('are those that were committed', async () => {
    const rollback = new Error('rolled back');
    const failure = await failureOf(
      database.transaction(async (transaction) => {
        await transaction('things').where('id', '>', 1).delete();
        expect((await database.reduceRows(lengths(1)))[1]).to.equal(450);
        throw rollback;
      }),
    );
    expect(failure).to.equal(rollback);
    await database.knex('things').where('id', '>', 1).delete();
    expect((await database.reduceRows(lengths(1)))[1]).to.equal(1);
  });

  it('fail with the error of the reducer, of its module or of the statement, and the next ones work', async () => {
    const select = { sqlite: 'SELECT nothing FROM things', postgresql: 'SELECT nothing FROM things' };
    const failures: [Partial<RowReduction>, RegExp][] = [
      [{ reducer: 'refuse' }, /^This row is not wanted\.$/],
      [{ reducer: 'missing' }, /lengths\.reducer\.ts exports no reducer named missing/],
      [{ select, values: [] }, /nothing/],
    ];
    for (const [change, message] of failures) {
      const failure = (await failureOf(database.reduceRows(lengths(1, change)))) as Error;
      expect(failure.message).to.match(message);
      expect(database.isUnavailable(failure)).to.equal(false);
      expect((await database.reduceRows(lengths(1)))[1]).to.equal(450);
    }
  });

  it('end in the middle of a computation by their signal', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const channel = new BroadcastChannel(randomUUID());
    const begun = once(channel, 'message');
    const hanging = failureOf(
      database.reduceRows(lengths(1, { reducer: 'hang', input: { channel: channel.name }, signal })),
    );
    await begun;
    channel.close();
    controller.abort();
    expect((await hanging) as Error).to.have.property('name', 'AbortError');
    expect((await failureOf(database.reduceRows(lengths(1, { signal })))) as Error).to.have.property(
      'name',
      'AbortError',
    );
    expect((await database.reduceRows(lengths(1)))[1]).to.equal(450);
  });

  it('fail once the database is closed', async () => {
    await database.close();
    expect((await failureOf(database.reduceRows(lengths(1)))) as Error).to.have.property(
      'message',
      'The database is closed.',
    );
  });
});

describe('rows of a database in memory', () => {
  it('are reduced in this thread', async () => {
    const database = await openDatabase({
      databaseUrl: null,
      dataDir: ':memory:',
      clock: createSystemClock(),
      log: silentLog,
    });
    try {
      await createThings(database, 3);
      expect([...(await database.reduceRows(lengths(2)))]).to.deep.equal([0, 2, 60]);
    } finally {
      await database.close();
    }
  });
});
