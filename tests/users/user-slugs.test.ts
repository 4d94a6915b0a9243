import { expect } from 'chai';
import { describeDialects } from '../helpers/dialects.ts';
import { ada, insertUsers, openNode, type Member } from './helper.ts';

describeDialects('slugs of new users', (open) => {
  const taken = (slugs: readonly string[]): Member[] => slugs.map((name) => ({ name }));
  const numbered = (from: number, to: number): string[] =>
    Array.from({ length: to - from + 1 }, (_, index) => `tea-${from + index}`);

  it('get the smallest free number, whatever else begins so', async () => {
    const { users, database } = await openNode(open);
    await insertUsers(database, taken(['tea', 'tea-3', 'tea-2', 'tea-5', 'tea-4x', 'tea-x', 'tea_-4', 'teas']));
    const slugs: unknown[] = [];
    for (const login of ['n1', 'n2', 'n3'])
      slugs.push(
        (await users.create({ ...ada, login, email: `${login}@example.com`, displayName: 'Tea' })).profile?.slug,
      );
    expect(slugs).to.deep.equal(['tea-4', 'tea-6', 'tea-7']);
    expect((await users.create({ ...ada, login: 'n4', displayName: 'T_a' })).profile?.slug).to.equal('t_a');
  });

  it('get a free number after very many', async () => {
    for (const [slugs, free] of [
      [['tea', ...numbered(2, 101)], 'tea-102'],
      [['tea', ...numbered(2, 5_000)], 'tea-5001'],
      [['tea', ...numbered(2, 403)], 'tea-404'],
      [['tea', ...numbered(2, 60), ...numbered(62, 900)], 'tea-61'],
    ] as const) {
      const { users, database } = await openNode(open);
      await database.knex('users').delete();
      await insertUsers(database, taken(slugs));
      expect((await users.create({ ...ada, displayName: 'Tea' })).profile?.slug).to.equal(free);
    }
  });

  it('are free after a number in use if more than a hundred are in use', async () => {
    const { users, database } = await openNode(open);
    await insertUsers(database, taken(['tea', ...numbered(2, 150), ...numbered(160, 300), ...numbered(1_000, 1_100)]));
    const slug = (await users.create({ ...ada, displayName: 'Tea' })).profile?.slug;
    expect(slug).to.be.oneOf(['tea-151', 'tea-301', 'tea-1101']);
  });
});
