import { expect } from 'chai';
import { createFakeClock } from '#testing';
import { createAssistantRows } from '../../../../plugins/svc/kit/assistants/assistant-rows.ts';
import { describeDialects } from '../../../helpers/dialects.ts';

const schema = {
  type: 'object',
  properties: {
    name: { type: 'string', default: 'Nameless' },
    labels: { type: 'array', items: { type: 'string' }, default: [] },
  },
} as const;

interface Cup {
  readonly name: string;
  readonly labels: readonly string[];
}

describeDialects('rows of what answers', (open) => {
  it('store settings with an id, times and counters from 0', async () => {
    const database = await open();
    const clock = createFakeClock();
    await database.knex.schema.createTable('cups', (columns) => {
      columns.increments('id');
      columns.text('settings').notNullable();
      for (const name of ['filled', 'created_at', 'updated_at']) columns.bigInteger(name).notNullable();
    });
    const rows = createAssistantRows<Cup, 'filled'>({
      host: { database, clock },
      table: 'cups',
      schema,
      counters: ['filled'],
    });
    const made = await rows.insert({ name: 'Blue', labels: ['sea'] });
    const then = clock.now();
    expect(made).to.deep.equal({ id: 1, name: 'Blue', labels: ['sea'], filled: 0, created_at: then, updated_at: then });
    expect([await rows.count(1, 'filled'), await rows.count(1, 'filled'), await rows.count(2, 'filled')]).to.deep.equal(
      [1, 2, 0],
    );
    await clock.advance(1_000);
    expect(await rows.replace(made, { name: 'Red', labels: [] })).to.include({
      id: 1,
      name: 'Red',
      created_at: then,
      updated_at: then + 1_000,
    });
    const found = { id: 1, name: 'Red', labels: [], filled: 2, created_at: then, updated_at: then + 1_000 };
    expect([await rows.find(1), await rows.list()]).to.deep.equal([found, [found]]);
    const [red] = await rows.summaries([1, 2, 2 ** 40]);
    const { labels: _labels, ...named } = found;
    expect(red).to.deep.equal({ ...named, status: '', provider: '', model: '' });
    const old = [{ labels: ['\0'], model: 'm-1' }, { name: 'a\0b' + '\ud800' }, { name: 'a\\u0000 "{😀\n' }];
    const times = { filled: 0, created_at: 0, updated_at: 0 };
    for (const settings of old) await database.knex('cups').insert({ ...times, settings: JSON.stringify(settings) });
    expect((await rows.summaries()).map(({ id, name, model }) => [id, name, model])).to.deep.equal([
      [1, 'Red', ''],
      [2, 'Nameless', 'm-1'],
      [3, 'a\ufffdb\ufffd', ''],
      [4, 'a\\u0000 "{😀\n', ''],
    ]);
    expect(await rows.isEmpty()).to.equal(false);
    await database.knex('cups').where('id', '>', 1).delete();
    const shared = await rows.find(1);
    expect(() => (shared?.labels as string[]).push('for all')).to.throw(TypeError);
    expect([await rows.remove(1), await rows.remove(1), await rows.find(1)]).to.deep.equal([true, false, null]);
    expect(await rows.isEmpty()).to.equal(true);
  });
});
