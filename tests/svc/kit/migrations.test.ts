import { expect } from 'chai';
import { dropDefaultMinimumMatch } from '../../../plugins/svc/kit/migrations.ts';
import { describeDialects } from '../../helpers/dialects.ts';

describeDialects('the minimum match of assistants of an earlier version', (open) => {
  it('becomes the new default where it was the former one, and stays where somebody chose it', async () => {
    const { knex } = await open();
    await knex.schema.createTable('assistants', (columns) => {
      columns.increments('id');
      columns.text('settings').notNullable();
    });
    const before = [20, 0, 35, 200].map((score) => ({ name: 'A', knowledge: { top_k: 3, min_score: score } }));
    // Text that looks like the setting.
    const odd = [{ name: '"min_score":20', knowledge: { min_score: 5 } }, { other: { min_score: 20 } }];
    for (const value of [...before, ...odd]) await knex('assistants').insert({ settings: JSON.stringify(value) });
    await dropDefaultMinimumMatch(knex, 'assistants');
    const rows = (await knex('assistants').orderBy('id')) as { readonly settings: string }[];
    expect(rows.map(({ settings }) => JSON.parse(settings) as unknown)).to.deep.equal([
      { name: 'A', knowledge: { top_k: 3, min_score: 0 } },
      ...before.slice(1),
      ...odd,
    ]);
  });
});
