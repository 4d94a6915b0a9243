import { readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Migration } from '#plugin-api';
import type { Database } from '../../host/database/database.ts';
import { describeDialects } from '../helpers/dialects.ts';
import { until } from '../helpers/until.ts';

const first: Migration = {
  id: '0001_library',
  up: async (knex) => {
    await knex.schema.createTable('authors', (table) => {
      table.increments('id');
      table.string('name').notNullable();
      table.integer('taught_by').references('authors.id');
    });
    await knex.schema.createTable('books', (table) => {
      table.increments('id');
      table.integer('author').notNullable().references('authors.id').onDelete('CASCADE');
      table.text('text');
      table.binary('cover');
      table.bigInteger('sold');
      table.boolean('printed');
      table.float('weight', 53);
    });
    await knex('authors').insert({ name: 'put in by the migration' });
  },
};
const second: Migration = {
  id: '0002_year',
  up: async (knex) =>
    knex.schema.alterTable('books', (table) => {
      table.integer('year').defaultTo(1900);
    }),
};

const message = (error: unknown): string => (error as Error).message;

describeDialects('a backup', (open, { dialect, directory }) => {
  let database: Database;
  let file: string;

  beforeEach(async () => {
    file = join(directory(), 'backup.jsonl.gz');
    database = await open();
    await database.migrate('host', [first]);
    await database.knex('authors').update({ id: 7, name: "O'Hara \u0001 😀" });
    // Refers to a row that comes after it.
    await database.knex('authors').insert({ id: 9, name: 'pupil' });
    await database.knex('authors').insert({ id: 8, name: 'pupil of a pupil', taught_by: 9 });
    await database.knex('books').insert({
      id: 4,
      author: 7,
      text: '{"a": 1}',
      cover: Buffer.from([0, 255, 10]),
      sold: 1_790_000_000_000,
      printed: true,
      weight: 0.1,
    });
    await database.knex('books').insert({ id: 5, author: 7 });
  });

  const content = async (from: Database): Promise<unknown> => {
    const books = await from
      .knex('books')
      .orderBy('id')
      .select('id', 'author', 'text', 'cover', 'sold', 'printed', 'weight');
    return {
      authors: await from.knex('authors').orderBy('id'),
      books: books.map((book) => ({ ...book, printed: book.printed === null ? null : Boolean(book.printed) })),
    };
  };

  it('brings everything back, on the same database', async () => {
    const before = await content(database);
    expect(await database.backup(file)).to.deep.include({ file, format: 'portable', tables: 3, rows: 6 });
    await database.knex('books').delete();
    await database.knex('authors').where('id', 7).update({ name: 'changed' });
    const seen: [string, number][] = [];
    const report = await database.restore(file, (table, rows) => seen.push([table, rows]));
    expect(report).to.deep.equal({ tables: 3, rows: 6, migrated: 0 });
    expect(seen.map(([table]) => table)).to.have.members(['authors', 'books']);
    expect(seen.map(([, rows]) => rows)).to.deep.equal([1, 1 + (seen[0]?.[0] === 'authors' ? 3 : 2)]);
    expect(await content(database)).to.deep.equal(before);
  });

  it('lets generated identifiers go on after the restored ones', async () => {
    await database.backup(file);
    await database.restore(file);
    await database.knex('books').insert({ author: 8 });
    expect(await database.knex('books').max({ id: 'id' })).to.deep.equal([{ id: 6 }]);
  });

  it('of an older version is brought up to date', async () => {
    await database.backup(file);
    await database.migrate('host', [first, second]);
    await database.knex('books').update({ year: 2000 });
    expect(await database.restore(file)).to.deep.include({ migrated: 1 });
    expect(await database.knex('books').where('id', 4).first('year')).to.deep.equal({ year: 1900 });
  });

  it('of a newer version is refused, and nothing is changed', async () => {
    await database.migrate('host', [first, second]);
    await database.backup(file);
    const older = await open();
    await database.knex('migrations').where('id', second.id).delete();
    await older.migrate('host', [first]);
    const before = await content(database);
    expect(await older.restore(file).catch(message)).to.match(/'0002_year' of 'host'.*newer version/);
    expect(await content(database)).to.deep.equal(before);
  });

  it('that is cut off or something else is refused, and nothing is changed', async () => {
    const before = await content(database);
    await database.backup(file);
    await truncate(file, (await stat(file)).size - 12);
    expect(await database.restore(file).catch(message)).to.match(/truncated or damaged/);
    const other = join(directory(), 'letter.txt');
    await writeFile(other, 'Dear Sir or Madam,');
    expect(await database.restore(other).catch(message)).to.match(/not a backup created by this program/);
    expect(await database.restore(join(directory(), 'absent')).catch(message)).to.match(/cannot be read \(ENOENT\)/);
    expect(await content(database)).to.deep.equal(before);
  });

  it('never overwrites a file, and is readable by its owner alone', async () => {
    await database.backup(file);
    expect((await stat(file)).mode & 0o077).to.equal(0);
    expect(await database.backup(file).catch(message)).to.match(/already exists/);
  });

  it('notifies other nodes of a restore', async () => {
    await database.backup(file);
    const other = await open();
    let gaps = 0;
    await other.listen(
      'colours',
      () => {},
      () => (gaps += 1),
    );
    await database.restore(file);
    await until('the notification of the restore', () => gaps > 0);
  });

  if (dialect === 'sqlite') {
    it('named .sqlite is a copy of the file, which restores too', async () => {
      const before = await content(database);
      const copy = join(directory(), 'copy.sqlite');
      expect(await database.backup(copy)).to.deep.include({ format: 'copy', tables: 3, rows: 6 });
      expect((await readFile(copy)).toString('latin1', 0, 15)).to.equal('SQLite format 3');
      expect((await stat(copy)).mode & 0o077).to.equal(0);
      await database.knex('books').delete();
      await database.restore(copy);
      expect(await content(database)).to.deep.equal(before);
    });
  } else {
    it('named .sqlite is refused with the remedy', async () => {
      expect(await database.backup(join(directory(), 'copy.sqlite')).catch(message)).to.match(
        /Only a SQLite database.*jsonl\.gz/,
      );
    });
  }
});
