import { expect } from 'chai';
import { describeDialects } from '../helpers/dialects.ts';
import { failureOf } from '../helpers/failure-of.ts';
import type { Database } from '../../host/database/database.ts';

const insert = (database: Database, text: string, init = {}): Promise<void> =>
  database.direct<void>(
    {
      sqlite: (connection) => void connection.run('INSERT INTO things (text) VALUES (?)', text),
      postgresql: async (connection) => void (await connection.rows('INSERT INTO things (text) VALUES ($1)', [text])),
    },
    init,
  );

describeDialects('direct statements', (open, { dialect }) => {
  let database: Database;
  const texts = async (): Promise<string[]> =>
    (await database.knex('things').orderBy('text').pluck('text')) as string[];

  beforeEach(async () => {
    database = await open();
    await database.knex.schema.createTable('things', (columns) => {
      columns.increments('id');
      columns.text('text').notNullable().unique();
    });
  });

  it('write and read, prepared once', async () => {
    for (const text of ['a', 'b', 'c']) await insert(database, text, { durable: text === 'b' });
    const rows = await database.direct({
      sqlite: (connection) => connection.rows('SELECT text FROM things WHERE text > ? ORDER BY text', 'a'),
      postgresql: async (connection) =>
        (await connection.rows('SELECT text FROM things WHERE text > $1 ORDER BY text', ['a'])).rows,
    });
    expect(rows).to.deep.equal([['b'], ['c']]);
  });

  if (dialect === 'sqlite')
    it('wait for the disk where they are to last, and only they', async () => {
      const mode = (init = {}): Promise<unknown> =>
        database.direct<unknown>(
          {
            sqlite: (connection) => connection.rows('PRAGMA synchronous')[0]?.[0],
            postgresql: () => Promise.reject(new Error('This test is for SQLite.')),
          },
          init,
        );
      const [normal, full] = [1, 2];
      expect([await mode(), await mode({ durable: true }), await mode()]).to.deep.equal([normal, full, normal]);
    });

  it('return how many rows they changed', async () => {
    for (const text of ['a', 'b']) await insert(database, text);
    const changes = await database.direct({
      sqlite: (connection) => connection.run('DELETE FROM things').changes,
      postgresql: async (connection) => (await connection.rows('DELETE FROM things')).changes,
    });
    expect(changes).to.equal(2);
  });

  it('read many numbers beside the event loop', async () => {
    for (const text of ['-5', '7', '4000000000017', '12', '12'])
      await insert(database, `${text}#${String(Math.random())}`);
    const number = "CAST(substr(text, 1, instr(text, '#') - 1) AS INTEGER)";
    const select = {
      sqlite: `SELECT ${number} FROM things WHERE ${number} > ? ORDER BY 1`,
      postgresql:
        "SELECT split_part(text, '#', 1)::bigint FROM things WHERE split_part(text, '#', 1)::bigint > $1 ORDER BY 1",
    };
    expect([...(await database.readNumbers(select, [-6]))]).to.deep.equal([-5, 7, 12, 12, 4_000_000_000_017]);
    const rows = { sqlite: 'SELECT 1, 2 UNION ALL SELECT 3, 4', postgresql: 'VALUES (1, 2), (3, 4)' };
    expect([...(await database.readNumbers(rows))]).to.deep.equal([1, 2, 3, 4]);
    expect(await database.readNumbers(select, [4_000_000_000_017])).to.have.length(0);
    await insert(database, '8#');
    expect(await database.readNumbers(select, [7])).to.have.length(4);
    const failure = await failureOf(database.readNumbers({ sqlite: 'SELECT x', postgresql: 'SELECT x' }));
    expect((failure as Error).message).to.match(/column/);
  });

  it('take part in the transaction they run in, also deep below', async () => {
    await failureOf(
      database.transaction(async () => {
        await insert(database, 'lost');
        throw new Error('rolled back');
      }),
    );
    await database.transaction(async () => {
      expect(database.inTransaction()).to.equal(true);
      await insert(database, 'stored');
    });
    expect(database.inTransaction()).to.equal(false);
    expect(await texts()).to.deep.equal(['stored']);
  });

  it('take part in a transaction passed to them', async () => {
    const transaction = await database.knex.transaction();
    await insert(database, 'lost', { transaction });
    await transaction.rollback();
    expect(await texts()).to.deep.equal([]);
  });

  it('wait while another transaction is open, and stay out of it', async () => {
    const transaction = await database.knex.transaction();
    const later = insert(database, 'mine');
    await transaction('things').insert({ text: 'theirs' });
    await transaction.rollback();
    await later;
    expect(await texts()).to.deep.equal(['mine']);
  });

  it('read what is committed, also while another transaction is open', async () => {
    await insert(database, 'committed');
    const transaction = await database.knex.transaction();
    await transaction('things').insert({ text: 'open' });
    const read = database.direct(
      {
        sqlite: (connection) => connection.rows('SELECT text FROM things'),
        postgresql: async (connection) => (await connection.rows('SELECT text FROM things')).rows,
      },
      { readOnly: true },
    );
    await transaction.rollback();
    expect(await read).to.deep.equal([['committed']]);
  });

  it('leave nothing behind when they fail', async () => {
    await insert(database, 'there');
    const failure = await failureOf(
      database.direct<void>({
        sqlite: (connection) => {
          connection.run('INSERT INTO things (text) VALUES (?)', 'half');
          connection.run('INSERT INTO things (text) VALUES (?)', 'there');
        },
        postgresql: async (connection) =>
          void (await connection.rows("INSERT INTO things (text) VALUES ('half'), ('there')")),
      }),
    );
    expect(database.isUniqueViolation(failure)).to.equal(true);
    expect(await texts()).to.deep.equal(['there']);
    await insert(database, 'after');
    expect(await texts()).to.deep.equal(['after', 'there']);
  });
});
