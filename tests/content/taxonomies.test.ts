import { expect } from 'chai';
import { describeDialects } from '../helpers/dialects.ts';
import { failureOf } from '../helpers/failure-of.ts';
import { openContent, traceHooks } from './open-content.ts';

describeDialects('taxonomies', (open, dialectCase) => {
  const codeOf = async (attempt: Promise<unknown>): Promise<unknown> =>
    ((await failureOf(attempt)) as { code?: string }).code;

  it('of plugins have terms, which posts have, and stay stored without their plugin', async () => {
    const content = await openContent(open, dialectCase);
    const { posts, terms, hooks } = content;
    const genre = { label: 'Genres', singularLabel: 'Genre', types: ['post'], hierarchical: true };
    const undo = content.registerTaxonomy('genre', genre);
    const trace = traceHooks(hooks, /term|genre/);
    const jazz = await terms.create('genre', { name: 'Jazz <b>&</b> Blues' });
    const bebop = await terms.create('genre', {
      name: 'Bebop',
      parentId: jazz.id,
      description: '<script>x</script>Fast',
    });
    expect([jazz.name, jazz.slug, bebop.description]).to.deep.equal(['Jazz & Blues', 'jazz-blues', 'Fast']);
    expect(await terms.link(bebop)).to.equal('http://site.test/genre/jazz-blues/bebop/');
    const post = await posts.create({
      title: 'One',
      status: 'publish',
      terms: { genre: [bebop.id, 999], unknown: [1] },
    });
    expect([...(await terms.ofPosts([post.id])).values()].flat().map(({ name }) => name)).to.deep.equal([
      'Bebop',
      'Uncategorized',
    ]);
    expect((await terms.get(bebop.id))?.count).to.equal(1);
    const find = async (filter: object) => (await posts.find({ terms: [{ ids: [jazz.id], ...filter }] })).length;
    expect([await find({}), await find({ includeChildren: true }), await find({ operator: 'NOT IN' })]).to.deep.equal([
      0, 1, 1,
    ]);
    await terms.delete(jazz.id);
    expect((await terms.get(bebop.id))?.parentId).to.equal(0);
    expect(trace.filter((name) => name.startsWith('created') || name.startsWith('delete'))).to.deep.equal([
      'created_term',
      'created_genre',
      'created_term',
      'created_genre',
      'delete_term',
      'delete_genre',
    ]);
    undo();
    expect(content.taxonomy('genre')).to.equal(undefined);
    expect(await codeOf(terms.create('genre', { name: 'Other' }))).to.equal('rest_taxonomy_invalid');
    expect(await terms.count({ taxonomy: 'genre' })).to.equal(1);
    content.registerTaxonomy('genre', genre);
    expect(await terms.set(post.id, 'genre', [])).to.deep.equal([]);
    expect((await terms.get(bebop.id))?.count).to.equal(0);
  });

  it('keep a category on every post, the default one when nothing else is left', async () => {
    const { posts, terms, options } = await openContent(open, dialectCase);
    const names = async (id: number) => (await terms.ofPosts([id], 'category')).get(id)?.map(({ name }) => name) ?? [];
    const news = await terms.create('category', { name: 'News' });
    const post = await posts.create({ title: 'One', terms: { category: [news.id] } });
    const page = await posts.create({ type: 'page', title: 'Page' });
    expect([await names(post.id), await names(page.id)]).to.deep.equal([['News'], []]);
    await terms.delete(news.id);
    expect(await names(post.id)).to.deep.equal(['Uncategorized']);
    const other = await terms.create('category', { name: 'Other' });
    expect(await codeOf(terms.delete(1))).to.equal('rest_cannot_delete_default_term');
    await options.update('default_category', other.id);
    await terms.delete(1);
    expect(await names(post.id)).to.deep.equal(['Other']);
    await posts.delete(post.id, { force: true });
    expect((await terms.find({ postId: post.id })).length).to.equal(0);
  });

  it('refuse what cannot be', async () => {
    const content = await openContent(open, dialectCase);
    const { terms } = content;
    const one = await terms.create('category', { name: 'One' });
    const two = await terms.create('category', { name: 'Two', parentId: one.id });
    const codes = [];
    for (const attempt of [
      () => terms.create('category', { name: ' ' }),
      () => terms.create('category', { name: 'ONE' }),
      () => terms.create('category', { name: 'x', parentId: 999 }),
      () => terms.create('post_tag', { name: 'x', parentId: one.id }),
      () => terms.update(one.id, { parentId: two.id }),
      () => terms.update(one.id, { slug: 'two' }),
      () => terms.update(999, { name: 'x' }),
    ])
      codes.push(await codeOf(attempt()));
    expect(codes).to.deep.equal([
      'empty_term_name',
      'term_exists',
      'rest_term_invalid',
      'rest_taxonomy_not_hierarchical',
      'rest_term_invalid_parent',
      'duplicate_term_slug',
      'rest_term_invalid',
    ]);
    expect(() => content.registerTaxonomy('Bad Name', { label: '', singularLabel: '', types: [] })).to.throw('valid');
    expect(() => content.registerTaxonomy('category', { label: '', singularLabel: '', types: [] })).to.throw('exists');
  });
});
