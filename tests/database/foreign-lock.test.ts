import { join } from 'node:path';
import BetterSqlite from 'better-sqlite3';
import { expect } from 'chai';
import type { Database } from '../../host/database/database.ts';
import { createRetryWhileBusy } from '../../host/database/dialects/sqlite-sessions.ts';
import { describeDialects } from '../helpers/dialects.ts';
import { failureOf } from '../helpers/failure-of.ts';

describeDialects('a database that another process writes to', (open, { dialect, location }) => {
  if (dialect === 'postgresql') return;
  let database: Database;
  let other: BetterSqlite.Database;
  const things = (): Promise<string[]> => database.knex('things').orderBy('text').pluck('text');

  beforeEach(async () => {
    database = await open();
    await database.knex.schema.createTable('things', (columns) => void columns.text('text'));
    await database.knex('things').insert({ text: 'before' });
    other = new BetterSqlite(join(location().dataDir, 'site.sqlite'));
    other.exec('BEGIN IMMEDIATE');
  });
  afterEach(() => {
    other.close();
  });

  it('reads while its writes wait, and sees each of them as soon as it is done', async () => {
    let waiting = 3;
    const writes = [
      database.knex('things').insert({ text: 'one' }),
      database.transaction(async (transaction) => transaction('things').insert({ text: 'two' })),
      database.direct<void>({
        sqlite: ({ run }) => void run("INSERT INTO things (text) VALUES ('three')"),
        postgresql: async () => {},
      }),
    ].map((write) => Promise.resolve(write).finally(() => (waiting -= 1)));
    const reads = [
      await things(),
      (await database.knex.raw<{ text: string }[]>('SELECT text FROM things')).map(({ text }) => text),
      (
        await database.direct(
          { sqlite: ({ rows }) => rows('SELECT text FROM things'), postgresql: async () => [] },
          { readOnly: true },
        )
      ).flat(),
    ];
    for (const read of reads) expect(read).to.deep.equal(['before']);
    expect(waiting).to.equal(3);
    other.exec('COMMIT');
    await Promise.all(writes);
    expect(await things()).to.deep.equal(['before', 'one', 'three', 'two']);
  });

  it('is locked by a transaction from its start, and free after it', async () => {
    other.exec('COMMIT');
    other.pragma('busy_timeout = 0');
    await database.transaction(async () => {
      expect(() => other.exec('BEGIN IMMEDIATE')).to.throw('locked');
    });
    other.exec('BEGIN IMMEDIATE');
  });

  it('sees its own writes inside a transaction, and others do not', async () => {
    other.exec('COMMIT');
    await database.transaction(async (transaction) => {
      await transaction('things').insert({ text: 'mine' });
      expect(await things()).to.deep.equal(['before', 'mine']);
    });
    const transaction = await database.knex.transaction();
    await transaction('things').insert({ text: 'later' });
    expect(await things()).to.deep.equal(['before', 'mine']);
    await transaction.commit();
    expect(await things()).to.deep.equal(['before', 'later', 'mine']);
  });
});

describe('the wait for a lock', () => {
  const busy = Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });

  it('has its whole length again after a success, and after a second without a try', async () => {
    let now = 0;
    const retry = createRetryWhileBusy(() => now);
    const tries = async (step: number): Promise<number> => {
      let count = 0;
      await failureOf(
        retry(() => {
          count += 1;
          now += step;
          throw busy;
        }),
      );
      return count;
    };
    expect(await tries(500)).to.equal(11);
    expect(await tries(500), 'at once').to.equal(1);
    await retry(() => {});
    expect(await tries(500), 'after a success').to.equal(11);
    now += 2_000;
    expect(await tries(500), 'after a pause').to.equal(11);
  });

  it('is for nothing but locks', async () => {
    let count = 0;
    const failure = await failureOf(
      createRetryWhileBusy()(() => {
        count += 1;
        throw new Error('no such table');
      }),
    );
    expect([count, (failure as Error).message]).to.deep.equal([1, 'no such table']);
  });
});
