import { expect } from 'chai';
import { createTextIndex, dropTextIndex, escapeLike, whereContains, type TextIndex } from '#plugin-api';
import type { Database } from '../../host/database/database.ts';
import { describeDialects } from '../helpers/dialects.ts';

const index: TextIndex = { table: 'notes', columns: ['title', 'text'] };

describeDialects('an index for the search of parts of words', (open) => {
  let database: Database;

  beforeEach(async () => {
    database = await open();
    await database.knex.schema.createTable('notes', (table) => {
      table.increments('id');
      table.text('title').notNullable();
      table.text('text').notNullable();
    });
    await database.knex('notes').insert([
      { title: 'green tea', text: 'is "very" good: 50% off' },
      { title: 'coffee', text: 'is not tea_' },
    ]);
    await createTextIndex(database.knex, database.dialect, index);
  });

  async function find(text: string | readonly string[], searched?: readonly string[]): Promise<number[]> {
    const select = database.knex('notes').orderBy('id');
    whereContains(select, database.dialect, { ...index, texts: [text].flat(), ...(searched && { in: searched }) });
    return select.pluck('id');
  }

  it('finds what was there before it, in any of the columns', async () => {
    expect(await find('tea')).to.deep.equal([1, 2]);
    expect(await find('offe')).to.deep.equal([2]);
    expect(await find('teas')).to.deep.equal([]);
  });

  it('is dropped with all that belongs to it, also after its table and without one', async () => {
    const names = async (): Promise<string[]> =>
      database.dialect === 'sqlite'
        ? database.knex('sqlite_master').whereLike('name', 'notes%').pluck('name')
        : database.knex('pg_indexes').where('tablename', 'notes').pluck('indexname');
    expect(await names()).to.include('notes_trigrams');
    await dropTextIndex(database.knex, database.dialect, index);
    expect(await names()).to.deep.equal([database.dialect === 'sqlite' ? 'notes' : 'notes_pkey']);
    await database.knex('notes').insert({ title: 'milk', text: 'none' });
    await dropTextIndex(database.knex, database.dialect, index);
    await createTextIndex(database.knex, database.dialect, index);
    expect(await find('milk')).to.deep.equal([3]);
    await database.knex.schema.dropTable('notes');
    await dropTextIndex(database.knex, database.dialect, index);
    expect(await names()).to.deep.equal([]);
  });

  it('searches some of the columns', async () => {
    expect(await find('tea', ['title'])).to.deep.equal([1]);
    expect(await find('te', ['text'])).to.deep.equal([2]);
  });

  it('finds rows with all of several texts, each in any column', async () => {
    expect(await find(['tea', 'green'])).to.deep.equal([1]);
    expect(await find(['coffee', 'tea_', 'is'])).to.deep.equal([2]);
    expect(await find(['is', 'te'])).to.deep.equal([1, 2]);
    expect(await find(['coffee', 'green'])).to.deep.equal([]);
    expect(await find([])).to.deep.equal([1, 2]);
    expect(await find(['coffee', 'tea'], ['title'])).to.deep.equal([]);
  });

  it('takes no character as a sign of the query', async () => {
    for (const [text, ids] of [
      ['"very"', [1]],
      ['50% o', [1]],
      ['50%o', []],
      ['0%', [1]],
      ['ea_', [2]],
      ['a_', [2]],
      ['e*', []],
      ['green OR coffee', []],
      ['tea\\', []],
    ] as const)
      expect(await find(text), text).to.deep.equal(ids);
  });

  it('follows changes', async () => {
    await database.knex('notes').insert({ title: 'juice', text: 'of apples' });
    await database.knex('notes').where({ id: 1 }).update({ text: 'is old' });
    await database.knex('notes').where({ id: 2 }).delete();
    expect(await find('apple')).to.deep.equal([3]);
    expect(await find('very')).to.deep.equal([]);
    expect(await find('green')).to.deep.equal([1]);
    expect(await find('coffee')).to.deep.equal([]);
  });

  it('forgets what a transaction rolled back', async () => {
    await database
      .transaction(async (transaction) => {
        await transaction('notes').insert({ title: 'lost', text: 'lost' });
        throw new Error('no');
      })
      .catch(() => {});
    expect(await find('lost')).to.deep.equal([]);
  });
});

describe('escapeLike', () => {
  it('puts a backslash before each wildcard', () => {
    expect(escapeLike('50%_\\a')).to.equal('50\\%\\_\\\\a');
  });
});
