import { expect } from 'chai';
import { describeDialects } from '../helpers/dialects.ts';

describeDialects('a database', (open, { dialect }) => {
  it('responds to a ping', async () => {
    await (await open()).ping();
  });

  it('is closed once the statements that run have ended', async () => {
    const database = await open();
    await database.knex.schema.createTable('notes', (table) => table.string('text'));
    const written = database.knex('notes').insert({ text: 'written' }).returning('text');
    expect((await Promise.all([written, database.close()]))[0]).to.deep.equal([{ text: 'written' }]);
  });

  it('names its dialect and location, without a password', async () => {
    const database = await open();
    expect(database.dialect).to.equal(dialect);
    expect(database.label).to.not.be.empty;
    expect(database.label).to.not.include('password');
  });

  it('has its own time in whole milliseconds', async () => {
    const database = await open();
    const [row] = await database.knex.select({ now: database.now() });
    expect(row.now).to.be.a('number').that.is.closeTo(Date.now(), 60_000);
    expect(row.now % 1).to.equal(0);
  });

  it('reads counts and 64-bit integers as numbers', async () => {
    const database = await open();
    await database.knex.schema.createTable('sizes', (table) => table.bigInteger('size'));
    await database.knex('sizes').insert({ size: 1_790_000_000_000 });
    expect(await database.knex('sizes').first('size')).to.deep.equal({ size: 1_790_000_000_000 });
    expect(Number((await database.knex('sizes').count({ many: '*' }))[0]?.['many'])).to.equal(1);
  });

  it('stores what a machine sent in its place where it cannot be stored, in every kind of statement', async () => {
    const { knex, transaction } = await open();
    await knex.schema.createTable('texts', (table) => table.text('text'));
    const broken = 'a\0b\ud800' + '\u{1f914}';
    const stored = 'a\ufffdb\ufffd\u{1f914}';
    await knex('texts').insert([{ text: broken }, { text: 'plain' }]);
    await knex('texts').where({ text: 'plain' }).update({ text: broken });
    await knex.raw('INSERT INTO texts (text) VALUES (?)', [broken]);
    await transaction(async () => knex('texts').insert({ text: broken }));
    expect(await knex('texts').pluck('text')).to.deep.equal(Array.from({ length: 4 }, () => stored));
    expect(await knex('texts').whereIn('text', [broken, 'x']).pluck('text')).to.have.length(4);
  });

  it('knows a breach of uniqueness from other errors', async () => {
    const database = await open();
    await database.knex.schema.createTable('names', (table) => table.string('name').primary());
    await database.knex('names').insert({ name: 'one' });
    const again = await database
      .knex('names')
      .insert({ name: 'one' })
      .then(
        () => null,
        (error: unknown) => error,
      );
    expect(database.isUniqueViolation(again)).to.equal(true);
    const absent = await database
      .knex('nowhere')
      .insert({ name: 'one' })
      .then(
        () => null,
        (error: unknown) => error,
      );
    expect(database.isUniqueViolation(absent)).to.equal(false);
  });

  it('lets timers in while queries follow each other without a pause', async () => {
    const database = await open();
    let isOver = false;
    setImmediate(() => (isOver = true));
    while (!isOver) await database.knex.raw('SELECT 1');
  });
});
