import { expect } from 'chai';
import { createRowMapper } from '#plugin-api';
import type { Database } from '../../host/database/database.ts';
import { describeDialects } from '../helpers/dialects.ts';

interface Note {
  readonly id: number;
  readonly lastSeenAt: number | null;
  readonly tags: readonly string[];
  readonly source: { readonly url: string } | null;
}

const { toRow, first, all } = createRowMapper<Note>({ json: ['tags', 'source'], others: ['search_text'] });
const seen = 1_800_000_000_000;

describeDialects('rows of a table', (open) => {
  let knex: Database['knex'];

  beforeEach(async () => {
    ({ knex } = await open());
    await knex.schema.createTable('notes', (table) => {
      table.increments('id');
      table.bigInteger('last_seen_at');
      table.text('tags').notNullable();
      table.text('source');
      table.text('search_text');
    });
  });

  it('become objects, with JSON and large numbers read, and without other columns', async () => {
    const notes = () => knex('notes');
    const note = { lastSeenAt: seen, tags: ['a', 'b'], source: { url: 'https://example.com' } };
    expect(
      await first(
        notes()
          .insert({ ...toRow(note), search_text: 'x' })
          .returning('*'),
      ),
    ).to.deep.equal({ id: 1, ...note });
    await notes().insert(toRow({ lastSeenAt: null, tags: [], source: null }));
    expect(await all(notes().orderBy('id'))).to.deep.equal([
      { id: 1, ...note },
      { id: 2, lastSeenAt: null, tags: [], source: null },
    ]);
    expect(await first(notes().where({ id: 3 }))).to.equal(null);
    expect(await first(notes().where({ id: 3 }).first())).to.equal(null);
  });

  it('change only the members that are given', async () => {
    const notes = () => knex('notes');
    await notes().insert({ ...toRow({ lastSeenAt: seen, tags: ['a'], source: null }), search_text: 'x' });
    expect(toRow({ lastSeenAt: undefined, source: { url: '' } })).to.deep.equal({ source: '{"url":""}' });
    await notes().update(toRow({ lastSeenAt: undefined, tags: [] }));
    expect(await first(notes().first())).to.deep.equal({ id: 1, lastSeenAt: seen, tags: [], source: null });
  });
});
