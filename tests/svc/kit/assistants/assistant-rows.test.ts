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
    const shared = await rows.find(1);
    expect(() => (shared?.labels as string[]).push('for all')).to.throw(TypeError);
    expect([await rows.remove(1), await rows.remove(1), await rows.find(1)]).to.deep.equal([true, false, null]);
  });
});
