import { expect } from 'chai';
import type { MetaFilter, PostQuery } from '#plugin-api';
import { describeDialects } from '../helpers/dialects.ts';
import { failureOf } from '../helpers/failure-of.ts';
import { openContent, traceHooks } from './open-content.ts';

describeDialects('meta of posts', (open, dialectCase) => {
  it('keeps JSON values, answers defaults, and lists of what may have several', async () => {
    const { posts, meta, registerMeta } = await openContent(open, dialectCase);
    registerMeta('post', 'rating', { schema: { type: 'integer', minimum: 1 }, default: 3 });
    registerMeta('', 'tag', { schema: { type: 'string' }, single: false });
    const { id } = await posts.create({ title: 'x', meta: { colour: { hex: '#fff' }, tag: ['a', 'b'] } });
    expect([
      await meta.get(id, 'colour'),
      await meta.get(id, 'rating'),
      await meta.get(id, 'tag'),
      await meta.get(id, 'none'),
    ]).to.deep.equal([{ hex: '#fff' }, 3, ['a', 'b'], null]);
    expect([
      await meta.update(id, 'rating', '5'),
      await meta.update(id, 'rating', 5),
      await meta.get(id, 'rating'),
    ]).to.deep.equal([true, false, 5]);
    await meta.update(id, 'tag', ['c']);
    expect(await meta.all(id)).to.deep.equal({ colour: [{ hex: '#fff' }], rating: [5], tag: ['c'] });
    await posts.update(id, { meta: { rating: null } });
    expect([await meta.get(id, 'rating'), await meta.delete(id, 'rating'), await meta.delete(id, 'tag')]).to.deep.equal(
      [3, false, true],
    );
  });

  it('orders and compares posts by numbers and texts of a key, with those without it last', async () => {
    const { posts } = await openContent(open, dialectCase);
    const prices = [9, 10, 100, -1.5, 'free', 'none', { hex: 1 }, true, null];
    for (const price of prices) await posts.create({ title: String(price), status: 'publish', meta: { price } });
    const found = async (query: PostQuery): Promise<string[]> => (await posts.find(query)).map(({ title }) => title);
    const numbers: MetaFilter = { key: 'price', compare: { operator: '>=', value: -10 } };
    for (const [order, titles] of [
      ['asc', ['-1.5', '9', '10', '100']],
      ['desc', ['100', '10', '9', '-1.5']],
    ] as const) {
      expect(await found({ orderByMeta: 'price', order, meta: [numbers] })).to.deep.equal(titles);
      expect((await found({ orderByMeta: 'price', order })).at(-1), order).to.equal('null');
      expect(await found({ orderByMeta: 'price', order, meta: [numbers], limit: 1, offset: 3 })).to.deep.equal([
        titles[3],
      ]);
    }
    for (const [operator, value, titles] of [
      ['<', 10, ['-1.5', '9']],
      ['<=', 10, ['-1.5', '9', '10']],
      ['>', 10, ['100']],
      ['>', 'g', ['none']],
      ['<', 'zzz', ['free', 'none']],
    ] as const)
      expect(
        await found({ orderByMeta: 'price', order: 'asc', meta: [{ key: 'price', compare: { operator, value } }] }),
        `${operator} ${String(value)}`,
      ).to.deep.equal(titles);
    const range = (['>', '<='] as const).map((operator, at) => ({
      ...{ key: 'price', compare: { operator, value: [9, 100][at] ?? 0 } },
    }));
    expect(await posts.count({ meta: range })).to.equal(2);
    const wrong = [{ key: 'price', compare: { operator: '; drop', value: 1 } }] as never;
    expect(String(await failureOf(posts.find({ meta: wrong })))).to.contain('Use <, <=, >, >= or LIKE');
  });

  it('finds the posts whose text of a key contains another, in any case of any alphabet', async () => {
    const { posts } = await openContent(open, dialectCase);
    const names = ['Große Übung', '100 % [a]*?', "a_b\\c 'd'", '.^$(){}|+', 'ΑΘΗΝΑ', 100, ['Übung']];
    for (const name of names) await posts.create({ title: String(name), status: 'publish', meta: { name } });
    const found = async (value: string): Promise<readonly string[]> =>
      (await posts.find({ meta: [{ key: 'name', compare: { operator: 'LIKE', value } }] })).map(({ title }) => title);
    for (const [value, title] of [
      ['übUNG', 'Große Übung'],
      ['SSE', null],
      ['% [A]*?', '100 % [a]*?'],
      ['a%b', null],
      ["A_B\\C '", "a_b\\c 'd'"],
      ['aab', null],
      ['.^$(){}|+', '.^$(){}|+'],
      ['αθηνα', 'ΑΘΗΝΑ'],
    ] as const)
      expect(await found(value), value).to.deep.equal(title === null ? [] : [title]);
    expect(await found('')).to.have.length(5);
  });

  it('adds to a number without losing any, in turns', async () => {
    const { posts, meta, registerMeta } = await openContent(open, dialectCase);
    registerMeta('post', 'views', { schema: { type: 'integer', maximum: 40 } });
    const { id } = await posts.create({ title: 'x' });
    await Promise.all(Array.from({ length: 20 }, () => meta.increment(id, 'views')));
    expect(await meta.increment(id, 'views', 19)).to.equal(39);
    expect(await failureOf(meta.increment(id, 'views', 2))).to.include({ status: 400 });
    await meta.update(id, 'words', 'none');
    expect([await meta.get(id, 'views'), await meta.increment(id, 'words', -1)]).to.deep.equal([39, -1]);
  });

  it('refuses what the schema does not allow, before anything is written', async () => {
    const { posts, meta, registerMeta } = await openContent(open, dialectCase);
    registerMeta('post', 'rating', { schema: { type: 'integer', minimum: 1 } });
    const failure = await failureOf(posts.create({ title: 'x', meta: { rating: 0 } }));
    expect(failure).to.include({ code: 'rest_invalid_param', status: 400 });
    expect(await posts.count({ status: 'any' })).to.equal(0);
    expect(await failureOf(meta.update(99, 'rating', 1))).to.include({ code: 'rest_post_invalid_id', status: 404 });
  });

  it('find posts with or without a value, or a key', async () => {
    const { posts, registerMeta } = await openContent(open, dialectCase);
    registerMeta('', 'tag', { schema: { type: 'string' }, single: false });
    const create = async (title: string, meta: Readonly<Record<string, unknown>>): Promise<void> =>
      void (await posts.create({ title, status: 'publish', meta }));
    await create('both', { size: 3, tag: ['a', 'b'] });
    await create('size', { size: 4 });
    await create('none', {});
    const find = async (...meta: readonly MetaFilter[]): Promise<string> =>
      (await posts.find({ meta, orderBy: 'id', order: 'asc' })).map(({ title }) => title).join(' ');
    expect(await find({ key: 'size' })).to.equal('both size');
    expect(await find({ key: 'size', values: [4, 5] })).to.equal('size');
    expect(await find({ key: 'size', values: ['4'] })).to.equal('');
    expect(await find({ key: 'tag', values: ['b'] }, { key: 'size', values: [3] })).to.equal('both');
    expect(await find({ key: 'size', values: [4], has: false })).to.equal('both none');
    expect(await find({ key: 'size', has: false })).to.equal('none');
    expect(await posts.count({ meta: [{ key: 'size' }] })).to.equal(2);
  });

  it("runs WordPress's hooks", async () => {
    const { posts, meta, hooks } = await openContent(open, dialectCase);
    const { id } = await posts.create({ title: 'x' });
    const trace = traceHooks(hooks, /post_meta/);
    await meta.update(id, 'a', 1);
    await meta.update(id, 'a', 2);
    await meta.delete(id, 'a');
    expect(trace).to.deep.equal([
      'add_post_meta',
      'added_post_meta',
      'update_post_meta',
      'updated_post_meta',
      'delete_post_meta',
      'deleted_post_meta',
    ]);
  });
});
