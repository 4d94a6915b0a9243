import { expect } from 'chai';
import type { PostQuery } from '#plugin-api';
import { migrations } from '../../host/content/content.ts';
import { describeDialects } from '../helpers/dialects.ts';
import { openContent, type OpenedContent } from './open-content.ts';

/** Repeatable numbers from 0 up to, and without, `below`. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
}

describeDialects('long lists of posts', (open, dialectCase) => {
  let content: OpenedContent;

  beforeEach(async () => {
    content = await openContent(open, dialectCase);
  });

  const store = () => content.content.parts.store;
  const titles = async (query: PostQuery): Promise<string[]> =>
    (await content.posts.find(query)).map(({ title }) => title);

  it('are sorted by title without regard to case and accents, equal ones by id', async () => {
    for (const title of ['banana', 'Éclair', 'apple', 'Banana', 'eclairs', 'Apple pie', ''])
      await content.posts.create({ title, content: 'x', status: 'publish' });
    expect(await titles({ orderBy: 'title', order: 'asc' })).to.deep.equal([
      '',
      'apple',
      'Apple pie',
      'banana',
      'Banana',
      'Éclair',
      'eclairs',
    ]);
    expect((await titles({ orderBy: 'title' })).slice(0, 4)).to.deep.equal(['eclairs', 'Éclair', 'Banana', 'banana']);
    const [last] = await content.posts.find({ search: 'apple pie' });
    await content.posts.update(last?.id ?? 0, { title: 'Zebra' });
    expect((await titles({ orderBy: 'title' }))[0]).to.equal('Zebra');
  });

  /** Rows as 1,300 posts of some statuses would have, of which several share a date and a title. */
  async function addMany(): Promise<void> {
    const { id } = await content.posts.create({ title: 'First', status: 'publish' });
    const {
      id: _,
      slug_key: __,
      ...row
    } = (await content.database.knex('posts').where({ id }).first()) as {
      id: number;
      slug_key: string;
    };
    const random = createRandom(7);
    const rows = Array.from({ length: 1_300 }, () => {
      const title = `title ${String(random(40))}`;
      const status = ['publish', 'publish', 'publish', 'draft', 'pending', 'private', 'trash', 'gone'][random(8)];
      const times = { date: 1_000 + random(300), modified: 1_000 + random(300) };
      return { ...row, ...times, title, title_key: title, search_text: title, status, author_id: random(3) };
    });
    for (let start = 0; start < rows.length; start += 50)
      await content.database.knex('posts').insert(rows.slice(start, start + 50));
  }

  it('have the same pages from both ends, without a repeated or missing post', async () => {
    await addMany();
    const administrator = content.user(1, 'administrator');
    for (const orderBy of ['date', 'modified', 'title', 'author', 'id'] as const)
      for (const order of ['asc', 'desc'] as const)
        for (const status of ['any', 'publish']) {
          const query = { orderBy, order, status, visibleTo: administrator };
          const total = await store().count(query);
          const all = (await store().find({ ...query, limit: total })).map(({ id }) => id);
          expect(new Set(all).size, orderBy).to.equal(total);
          const known = status === 'any' ? ['publish', 'draft', 'pending', 'private'] : ['publish'];
          const { count } = (await content.database
            .knex('posts')
            .whereIn('status', known)
            .count({ count: '*' })
            .first()) as {
            count: number;
          };
          expect(total).to.equal(Number(count));
          for (const offset of [0, 20, 400, 990, 1_000, 1_020, total - 7, total - 1, total, total + 20].filter(
            (at) => at >= 0,
          )) {
            const wanted = all.slice(offset, offset + 20);
            const page = { ...query, limit: 20, offset };
            for (const found of [await store().find(page), await store().find(page, total)])
              expect(
                found.map(({ id }) => id),
                `${orderBy} ${order} ${status} ${String(offset)}`,
              ).to.deep.equal(wanted);
          }
        }
  });

  it('are counted by status for each reader as one by one', async () => {
    await addMany();
    const readers = ['administrator', 'editor', 'author', 'contributor', 'subscriber'].map((role) =>
      content.user(1, role),
    );
    const statuses = content.content.parts.statuses.all().map(({ name }) => name);
    for (const visibleTo of [...readers, undefined])
      for (const search of [undefined, 'title 3', 'e 3', '99999']) {
        const query = { ...(visibleTo && { visibleTo }), ...(search !== undefined && { search }) };
        const counted = await store().countByStatus(query);
        const single = await Promise.all(
          statuses.map(async (status) => [status, await store().count({ ...query, status })] as const),
        );
        expect([...counted].sort()).to.deep.equal(single.filter(([, count]) => count > 0).sort());
      }
  });

  it('know the authors of published posts', async () => {
    await addMany();
    const row = { type: 'page', title: '', content: '', excerpt: '', parent_id: 0, menu_order: 0, is_date_set: 1 };
    for (const [author_id, status] of [
      [7, 'draft'],
      [9, 'publish'],
      [2 ** 31 - 1, 'private'],
    ] as const)
      await content.database.knex('posts').insert({
        ...{ ...row, author_id, status, slug: '', date: 1, modified: 1, mime_type: '', featured_media_id: 0 },
        search_text: '',
      });
    expect(await store().publishedAuthors()).to.have.members([1, 2, 9]);
  });

  it('find each part of a word, and no sign of a query', async () => {
    for (const title of ['Green "tea" 100%', 'Crème_brûlée', 'A\\B {col} : x*', 'ab'])
      await content.posts.create({ title, content: '<p>Some text</p>', status: 'publish' });
    for (const [search, found] of [
      ['"tea"', ['Green "tea" 100%']],
      ['een tea', ['Green "tea" 100%']],
      ['0%', ['Green "tea" 100%']],
      ['100_', []],
      ['CREME_', ['Crème_brûlée']],
      ['\\b {c', ['A\\B {col} : x*']],
      ['x*', ['A\\B {col} : x*']],
      ['ab', ['ab']],
      ['tea OR ab', []],
      ['some ext ab', ['ab']],
    ] as const)
      expect(await titles({ search }), search).to.deep.equal(found);
  });
});

describeDialects('the posts of terms', (open, dialectCase) => {
  it('are counted and listed as their posts say, whatever happens to them', async () => {
    const content = await openContent(open, dialectCase);
    const { posts, terms, database } = content;
    const random = createRandom(11);
    const names = ['a', 'b', 'c', 'd'];
    const tags = await Promise.all(names.map(async (name) => (await terms.create('post_tag', { name })).id));
    const parent = (await terms.create('category', { name: 'parent' })).id;
    const child = (await terms.create('category', { name: 'child', parentId: parent })).id;
    const some = (ids: readonly number[]): number[] => ids.filter(() => random(2) === 1);
    const known: number[] = [];
    const post = (): number => known[random(known.length)] ?? 0;
    const steps: (() => Promise<unknown>)[] = [
      async () =>
        known.push((await posts.create({ title: 'x', status: 'publish', terms: { post_tag: some(tags) } })).id),
      async () => known.push((await posts.create({ title: 'x', terms: { category: some([parent, child]) } })).id),
      () => posts.update(post(), { status: ['publish', 'draft', 'private'][random(3)] ?? '' }),
      () => posts.update(post(), { status: 'publish', date: 1_000_000 + random(1_000) }),
      () => posts.update(post(), { title: 'y', terms: { post_tag: some(tags), category: some([parent, child]) } }),
      () => terms.set(post(), 'post_tag', some(tags)),
      () => posts.delete(post()),
      () => posts.untrash(post()),
      async () => posts.delete(known.shift() ?? 0, { force: true }),
    ];
    for (let count = 0; count < 120; count += 1)
      await steps[known.length < 4 ? random(2) : random(steps.length)]?.().catch((error: unknown) => {
        // A post that is not in the trash, say.
        if (!(error instanceof Error && 'code' in error)) throw error;
      });
    await terms.delete(child);
    const [uncategorized] = await terms.find({ taxonomy: 'category', slugs: ['uncategorized'] });
    const all = [...tags, parent, uncategorized?.id ?? 0];
    for (const id of all) {
      const expected = (await database
        .knex('term_posts')
        .join('posts', 'posts.id', 'term_posts.post_id')
        .where({ term_id: id, status: 'publish' })
        .orderBy([
          { column: 'date', order: 'desc' },
          { column: 'posts.id', order: 'desc' },
        ])
        .pluck('posts.id')) as number[];
      const filter = { terms: [{ ids: [id] }] };
      expect((await terms.get(id))?.count).to.equal(expected.length);
      expect(await posts.count(filter)).to.equal(expected.length);
      expect((await posts.find({ ...filter, limit: 100 })).map((found) => found.id)).to.deep.equal(expected);
      expect((await posts.find({ ...filter, limit: 2, offset: 1 })).map((found) => found.id)).to.deep.equal(
        expected.slice(1, 3),
      );
    }
    const counts = (await terms.find({ taxonomy: 'post_tag', orderBy: 'count', order: 'desc' })).map(
      ({ count }) => count,
    );
    expect(counts).to.deep.equal([...counts].sort((a, b) => b - a));
    expect(counts.some((count) => count > 0)).to.equal(true);
  });

  it('with several of the terms are listed once, by each filter as by all of its conditions', async () => {
    const content = await openContent(open, dialectCase);
    const { posts, terms } = content;
    const parent = (await terms.create('category', { name: 'parent' })).id;
    const child = (await terms.create('category', { name: 'child', parentId: parent })).id;
    const both = (await posts.create({ title: 'both', status: 'publish', terms: { category: [parent, child] } })).id;
    const below = (await posts.create({ title: 'below', status: 'publish', terms: { category: [child] } })).id;
    await posts.create({ title: 'draft', terms: { category: [child] } });
    await posts.create({ title: 'other', status: 'publish' });
    const ids = async (query: PostQuery): Promise<number[]> => (await posts.find(query)).map(({ id }) => id);
    const filters = [{ ids: [parent], includeChildren: true }, { ids: [parent, child] }];
    for (const filter of filters)
      // With and without a condition that the index of the terms lacks.
      for (const more of [{}, { exclude: [999] }]) {
        expect(await ids({ terms: [filter], ...more })).to.deep.equal([below, both]);
        expect(await posts.count({ terms: [filter], ...more })).to.equal(2);
        expect(await ids({ terms: [filter], order: 'asc', limit: 1, ...more })).to.deep.equal([both]);
        expect(await ids({ terms: [filter], type: ['page'], ...more })).to.deep.equal([]);
        expect(await ids({ terms: [filter], status: 'draft', ...more })).to.have.length(1);
      }
    expect(await ids({ terms: [{ ids: [] }] })).to.deep.equal([]);
    expect(await posts.count({ terms: [{ ids: [-1, 2 ** 40] }] })).to.equal(0);
    expect(
      await ids({ terms: [{ ids: [parent], operator: 'NOT IN' }], orderBy: 'title', order: 'asc' }),
    ).to.have.length(2);
  });
});

describeDialects('slugs', (open, dialectCase) => {
  it('take the first free number among many', async () => {
    const { posts, terms } = await openContent(open, dialectCase);
    const slugs: string[] = [];
    for (let count = 0; count < 23; count += 1)
      slugs.push((await posts.create({ title: 'Same', status: 'publish' })).slug);
    expect(slugs).to.deep.equal(['same', ...Array.from({ length: 22 }, (_, index) => `same-${String(index + 2)}`)]);
    const [freed] = await posts.find({ slugs: ['same-9'] });
    await posts.delete(freed?.id ?? 0, { force: true });
    expect((await posts.create({ title: 'Same', status: 'publish' })).slug).to.equal('same-9');
    const parent = await terms.create('category', { name: 'Parent' });
    const names = ['News', 'News', 'News'].map((name, index) => ({
      name: `${name}${'!'.repeat(index)}`,
      parentId: parent.id,
    }));
    const created: string[] = [];
    for (const input of names) created.push((await terms.create('category', input)).slug);
    expect(created).to.deep.equal(['news', 'news-parent', 'news-parent-2']);
  });
});

describeDialects('content of an earlier version', (open, dialectCase) => {
  it('is sorted, found and counted after the upgrade', async () => {
    const before = await open({});
    await before.migrate(
      'host',
      migrations.filter(({ id }) => id < '0242'),
    );
    const long = 'É'.repeat(150);
    const columns = {
      content: '',
      excerpt: '',
      author_id: 1,
      parent_id: 0,
      menu_order: 0,
      is_date_set: 1,
      mime_type: '',
    };
    for (const [id, title, type, status] of [
      [1, 'Zebra', 'post', 'publish'],
      [2, long, 'post', 'publish'],
      [3, 'Émile', 'post', 'draft'],
      [4, 'Zebra', 'revision', 'inherit'],
    ] as const)
      await before.knex('posts').insert({
        ...{
          ...columns,
          id,
          title,
          type,
          status,
          slug: `s${String(id)}`,
          date: id,
          modified: id,
          featured_media_id: 0,
        },
        search_text: type === 'revision' ? '' : `${title.replaceAll('É', 'e').toLowerCase()}\nsome text`,
      });
    await before.knex('term_posts').insert([1, 2, 3].map((id) => ({ term_id: 1, post_id: id })));
    const { posts, terms, database } = await openContent(open, dialectCase);
    const query = { status: 'any', orderBy: 'title', order: 'asc' } as const;
    expect((await posts.find(query)).map(({ id }) => id)).to.deep.equal([2, 3, 1]);
    expect((await posts.find({ ...query, search: 'ebr' })).map(({ id }) => id)).to.deep.equal([1]);
    expect((await terms.get(1))?.count).to.equal(2);
    expect((await posts.find({ terms: [{ ids: [1] }] })).map(({ id }) => id)).to.deep.equal([2, 1]);
    expect(await database.knex('posts').where({ id: 4 }).pluck('title_key')).to.deep.equal(['']);
    expect(await posts.update(3, { status: 'publish' })).to.include({ status: 'publish' });
    expect((await terms.get(1))?.count).to.equal(3);
  });
});
