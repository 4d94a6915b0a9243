import { expect } from 'chai';
import type { Migration } from '#plugin-api';
import { createFakeClock } from '../../host/testing/fake-clock.ts';
import { describeDialects } from '../helpers/dialects.ts';

const message = (error: unknown): string => (error as Error).message;

describeDialects('the migrator', (open) => {
  let ran: string[];
  const migration = (id: string): Migration => ({
    id,
    up: async (knex) => {
      ran.push(id);
      await knex.schema.createTable(`made_by_${id}`, (table) => table.increments('id'));
    },
  });

  beforeEach(() => {
    ran = [];
  });

  it('runs each migration once, in the order of the ids', async () => {
    const database = await open();
    await database.migrate('host', [migration('0002_b'), migration('0001_a')]);
    await database.migrate('host', [migration('0002_b'), migration('0001_a'), migration('0003_c')]);
    expect(ran).to.deep.equal(['0001_a', '0002_b', '0003_c']);
  });

  it('keeps the histories of host and plugins apart', async () => {
    const database = await open({ clock: createFakeClock({ now: 1_000 }) });
    await database.migrate('host', [migration('0001_a')]);
    await database.migrate('hello', [{ id: '0001_a', up: async () => {} }]);
    expect(await database.migrationStatus()).to.deep.equal([
      { owner: 'hello', id: '0001_a', appliedAt: 1_000 },
      { owner: 'host', id: '0001_a', appliedAt: 1_000 },
    ]);
  });

  it('rolls a failing migration back, names it, and runs it again the next time', async () => {
    const database = await open();
    const failing: Migration = {
      id: '0002_b',
      up: async (knex) => {
        await knex.schema.createTable('half', (table) => table.increments('id'));
        throw new Error('out of ink');
      },
    };
    const failure = await database.migrate('host', [migration('0001_a'), failing]).catch(message);
    expect(failure).to.equal("The migration '0002_b' of 'host' failed and was rolled back: out of ink");
    expect(await database.knex.schema.hasTable('half')).to.equal(false);
    expect((await database.migrationStatus()).map(({ id, appliedAt }) => [id, appliedAt === null])).to.deep.equal([
      ['0001_a', false],
      ['0002_b', true],
    ]);
    await database.migrate('host', [migration('0001_a'), migration('0002_b')]);
    expect(ran).to.deep.equal(['0001_a', '0002_b']);
  });

  it('refuses a database that is newer than the code', async () => {
    const database = await open();
    await database.migrate('host', [migration('0001_a'), migration('0002_b')]);
    expect(await database.migrate('host', [migration('0001_a')]).catch(message)).to.match(
      /newer than this code.*'0002_b' of 'host'.*newer version/s,
    );
  });

  it('refuses two migrations of one name', async () => {
    const database = await open();
    expect(await database.migrate('host', [migration('0001_a'), migration('0001_a')]).catch(message)).to.match(
      /two migrations named '0001_a'/,
    );
  });

  it('runs each once when two nodes start together', async () => {
    const nodes = await Promise.all([open(), open()]);
    const migrations = ['0001_a', '0002_b', '0003_c'].map(migration);
    await Promise.all(nodes.map((node) => node.migrate('host', migrations)));
    expect(ran.sort()).to.deep.equal(['0001_a', '0002_b', '0003_c']);
  });

  it('alters a table without losing the rows that refer to it', async () => {
    const database = await open();
    await database.migrate('host', [
      {
        id: '0001_tables',
        up: async (knex) => {
          await knex.schema.createTable('parents', (table) => {
            table.integer('id').primary();
            table.string('name', 10).notNullable();
          });
          await knex.schema.createTable('children', (table) =>
            table.integer('parent').references('parents.id').onDelete('CASCADE'),
          );
          await knex('parents').insert({ id: 1, name: 'one' });
          await knex('children').insert({ parent: 1 });
        },
      },
      {
        id: '0002_wider',
        up: async (knex) =>
          knex.schema.alterTable('parents', (table) => {
            table.string('name', 200).notNullable().alter();
          }),
      },
    ]);
    expect(await database.knex('children').select('*')).to.deep.equal([{ parent: 1 }]);
  });
});
