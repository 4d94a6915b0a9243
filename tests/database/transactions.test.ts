import { expect } from 'chai';
import type { Database } from '../../host/database/database.ts';
import { describeDialects } from '../helpers/dialects.ts';

describeDialects('a transaction', (open) => {
  let database: Database;

  beforeEach(async () => {
    database = await open();
    await database.knex.schema.createTable('notes', (table) => table.string('text'));
  });

  const texts = (): Promise<string[]> => database.knex('notes').orderBy('text').pluck('text');

  it('commits when its work resolves and returns its value', async () => {
    const answer = await database.transaction(async (transaction) => {
      await transaction('notes').insert({ text: 'stored' });
      return 7;
    });
    expect(answer).to.equal(7);
    expect(await texts()).to.deep.equal(['stored']);
  });

  it('rolls back when its work rejects, and passes the error on', async () => {
    const failing = database.transaction(async (transaction) => {
      await transaction('notes').insert({ text: 'lost' });
      throw new Error('no');
    });
    expect(await failing.catch((error: unknown) => (error as Error).message)).to.equal('no');
    expect(await texts()).to.deep.equal([]);
  });

  it('includes queries without a reference to the transaction', async () => {
    await database
      .transaction(async () => {
        await database.knex('notes').insert({ text: 'lost' });
        expect(await texts()).to.deep.equal(['lost']);
        throw new Error('no');
      })
      .catch(() => {});
    expect(await texts()).to.deep.equal([]);
  });

  it('nests: an inner one can fail alone', async () => {
    await database.transaction(async () => {
      await database.knex('notes').insert({ text: 'outer' });
      await database
        .transaction(async () => {
          await database.knex('notes').insert({ text: 'inner' });
          throw new Error('no');
        })
        .catch(() => {});
    });
    expect(await texts()).to.deep.equal(['outer']);
  });

  it('runs what waits for the commit once it is there, and not after a rollback', async () => {
    const ran: string[] = [];
    await database.transaction(async () => {
      database.afterCommit(() => ran.push('outer'));
      await database
        .transaction(async () => {
          database.afterCommit(() => ran.push('rolled back'));
          throw new Error('no');
        })
        .catch(() => {});
      await database.transaction(async () => {
        database.afterCommit(() => ran.push('inner'));
      });
      expect(ran).to.deep.equal([]);
    });
    database.afterCommit(() => ran.push('at once'));
    expect(ran).to.deep.equal(['outer', 'inner', 'at once']);
  });

  it('lets go of work that outlives it', async () => {
    let late: Promise<unknown> = Promise.resolve();
    let finish = (): void => {};
    const ended = new Promise<void>((resolve) => {
      finish = resolve;
    });
    await database.transaction(async () => {
      late = ended.then(() => database.knex('notes').insert({ text: 'late' }));
    });
    finish();
    await late;
    expect(await texts()).to.deep.equal(['late']);
  });

  it('says which one it is: the same for nested ones, none outside', async () => {
    expect(database.currentTransaction()).to.equal(null);
    await database.transaction(async () => {
      const outer = database.currentTransaction();
      expect(outer).to.be.an('function');
      await database.transaction(async () => {
        expect(database.currentTransaction()).to.equal(outer);
      });
    });
  });

  it('waits for one of another node without holding up this process', async () => {
    const other = await open();
    await Promise.all(
      [database, other].map((node) =>
        node.transaction(async (transaction) => {
          await node.lock('notes');
          const count = (await transaction('notes').select('text')).length;
          await new Promise((resolve) => setImmediate(resolve));
          await transaction('notes').insert({ text: `number ${count}` });
        }),
      ),
    );
    expect(await texts()).to.deep.equal(['number 0', 'number 1']);
  });

  it('refuses a lock outside of it', async () => {
    expect(await database.lock('notes').catch((error: unknown) => (error as Error).message)).to.match(
      /outside a transaction/,
    );
  });
});
