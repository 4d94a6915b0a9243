import { expect } from 'chai';
import type { User } from '#plugin-api';
import { describeDialects } from '../helpers/dialects.ts';
import { failureOf } from '../helpers/failure-of.ts';
import { noon, openContent, traceHooks } from './open-content.ts';

const hour = 3_600_000;

describeDialects('posts', (open, dialectCase) => {
  it('are created as drafts, found once published, changed, and counted', async () => {
    const { posts } = await openContent(open, dialectCase);
    const draft = await posts.create({ title: 'Héllo Wörld & you', content: '<p>Text</p>' });
    expect([draft.status, draft.type, draft.slug, draft.isDateSet, draft.date]).to.deep.equal([
      'draft',
      'post',
      '',
      false,
      noon,
    ]);
    expect(await posts.find()).to.deep.equal([]);
    const published = await posts.update(draft.id, { status: 'publish' });
    expect([published.slug, published.isDateSet]).to.deep.equal(['hello-world-you', true]);
    expect(await posts.find()).to.deep.equal([published]);
    expect(await posts.get(draft.id)).to.deep.equal(published);
    expect([
      await posts.count(),
      await posts.count({ status: 'any' }),
      await posts.count({ status: 'draft' }),
    ]).to.deep.equal([1, 1, 0]);
  });

  it('refuse what cannot be: no text, no such type, status or parent', async () => {
    const { posts } = await openContent(open, dialectCase);
    const page = await posts.create({ type: 'page', title: 'Above', status: 'publish' });
    const below = await posts.create({ type: 'page', title: 'Below', status: 'publish', parentId: page.id });
    const codes = [];
    for (const attempt of [
      () => posts.create({ title: '' }),
      () => posts.create({ type: 'book', title: 'x' }),
      () => posts.create({ title: 'x', status: 'gone' }),
      () => posts.update(99, { title: 'x' }),
      () => posts.create({ title: 'x', parentId: 99 }),
      () => posts.update(page.id, { parentId: below.id }),
      () => posts.update(page.id, { parentId: page.id }),
    ])
      codes.push(((await failureOf(attempt())) as { code?: string }).code);
    expect(codes).to.deep.equal([
      'empty_content',
      'invalid_post_type',
      'invalid_post_status',
      'rest_post_invalid_id',
      'rest_post_invalid_id',
      'rest_post_invalid_id',
      'rest_post_invalid_id',
    ]);
    expect(await posts.get(2 ** 40)).to.equal(null);
  });

  it('are as long as every reader of theirs can wait for', async () => {
    const { posts } = await openContent(open, dialectCase);
    const longest = 'a'.repeat(1_048_576);
    const { id } = await posts.create({ title: 'Long', content: longest, excerpt: 'a'.repeat(65_535) });
    expect((await posts.update(id, { title: 'Longer' })).content).to.equal(longest);
    const tooLong = { content: `${longest}a`, excerpt: 'a'.repeat(65_536) };
    for (const [field, text] of Object.entries(tooLong))
      expect(await failureOf(posts.update(id, { [field]: text }))).to.include({
        code: `${field}_too_long`,
        status: 400,
      });
    // An author's `&` is stored as five characters.
    const author = { id: 1, can: () => false } as unknown as User;
    expect(await failureOf(posts.create({ content: '&'.repeat(300_000) }, { as: author }))).to.include({
      code: 'content_too_long',
    });
  });

  it('have slugs of their own within a type, and pages below one parent', async () => {
    const { posts } = await openContent(open, dialectCase);
    const slugs = [];
    for (const type of ['post', 'post', 'page', 'page'])
      slugs.push((await posts.create({ type, title: 'Same', status: 'publish' })).slug);
    expect(slugs).to.deep.equal(['same', 'same-2', 'same', 'same-2']);
    const parent = await posts.create({ type: 'page', title: 'Parent', status: 'publish' });
    expect((await posts.create({ type: 'page', title: 'Same', status: 'publish', parentId: parent.id })).slug).to.equal(
      'same',
    );
    expect((await posts.create({ type: 'page', title: 'Feed', status: 'publish' })).slug).to.equal('feed-2');
    for (const path of ['admin', 'wp-json', 'uploads', 'assets', 'healthz', 'readyz', 'metrics', 'search', 'embed'])
      expect((await posts.create({ type: 'page', title: path, status: 'publish' })).slug).to.equal(`${path}-2`);
    expect((await posts.create({ type: 'page', title: '2026', status: 'publish' })).slug).to.equal('2026-2');
    const nameless = await posts.create({ content: 'Without a title', status: 'publish' });
    expect(nameless.slug).to.equal(String(nameless.id));
    expect((await posts.create({ title: 'Straße in 東京', status: 'publish' })).slug).to.equal('strasse-in-東京');
    expect((await posts.create({ title: 'x'.repeat(300), status: 'publish' })).slug).to.have.length(200);
    expect((await posts.create({ title: 'x'.repeat(300), status: 'publish' })).slug).to.equal(`${'x'.repeat(198)}-2`);
  });

  it('written at once by two nodes never share a slug', async () => {
    const [one, other] = [await openContent(open, dialectCase), await openContent(open, dialectCase)];
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        (index % 2 === 0 ? one : other).posts.create({ title: 'Race', status: 'publish' }),
      ),
    );
    expect(new Set(made.map(({ slug }) => slug)).size).to.equal(12);
  });

  it("run WordPress's hooks in its order", async () => {
    const { posts, hooks } = await openContent(open, dialectCase);
    const trace = traceHooks(hooks, /^(?!.*option).*(post|publish|draft|insert|revision)/);
    const { id } = await posts.create({ title: 'One', content: 'a', status: 'draft' });
    expect(trace.splice(0)).to.deep.equal([
      'wp_insert_post_empty_content',
      'wp_insert_post_data',
      'transition_post_status',
      'new_to_draft',
      'draft_post',
      'save_post_post',
      'save_post',
      'wp_insert_post',
      'wp_after_insert_post',
    ]);
    await posts.update(id, { content: 'b', status: 'publish' });
    expect(trace.splice(0)).to.deep.equal([
      'wp_insert_post_empty_content',
      'wp_insert_post_data',
      'pre_post_update',
      'wp_unique_post_slug',
      'wp_revisions_to_keep',
      'transition_post_status',
      'draft_to_publish',
      'publish_post',
      'edit_post_post',
      'edit_post',
      'post_updated',
      'save_post_post',
      'save_post',
      'wp_insert_post',
      'wp_after_insert_post',
      '_wp_put_post_revision',
      '_wp_put_post_revision',
    ]);
    await posts.delete(id);
    expect(trace.splice(0).filter((name) => /trash/.test(name))).to.deep.equal([
      'pre_trash_post',
      'wp_trash_post',
      'publish_to_trash',
      'trash_post',
      'trashed_post',
    ]);
    await posts.delete(id);
    expect(trace.splice(0)).to.deep.equal([
      'pre_delete_post',
      'before_delete_post',
      'delete_post_post',
      'delete_post',
      'deleted_post_post',
      'deleted_post',
      'after_delete_post',
    ]);
  });

  it('hand hooks the arguments that WordPress does', async () => {
    const { posts, hooks } = await openContent(open, dialectCase);
    const seen: unknown[] = [];
    hooks.addAction('transition_post_status', (next, old, post) => seen.push([next, old, post.title]));
    hooks.addAction('publish_post', (id: number, post: { title: string }, old: string) =>
      seen.push([id, post.title, old]),
    );
    hooks.addAction('save_post', (id, post, update) => seen.push([id, post.title, update]));
    hooks.addFilter('wp_insert_post_data', (data) => ({ ...data, title: data.title.toUpperCase() }));
    const { id } = await posts.create({ title: 'one', status: 'publish' });
    expect(seen).to.deep.equal([
      ['publish', 'new', 'ONE'],
      [id, 'ONE', 'new'],
      [id, 'ONE', false],
    ]);
  });

  it('have HTML that plugins can sanitize as it is stored of authors, and as comments are', async () => {
    const { posts, sanitize } = await openContent(open, dialectCase);
    const html = '<h2 onclick="x()">Hi</h2><script>alert(1)</script><a href="https://a.example/">a</a>';
    const author = { id: 0, can: () => false } as unknown as User;
    expect(await sanitize(html)).to.equal((await posts.create({ title: 'x', content: html }, { as: author })).content);
    expect(await sanitize(html, 'comment')).to.equal('Hi<a href="https://a.example/" rel="nofollow ugc">a</a>');
    expect(await failureOf(sanitize('<b>'.repeat(100_001)))).to.include({ status: 400 });
  });

  it('roll back with the transaction around them', async () => {
    const { posts, database } = await openContent(open, dialectCase);
    const failure = await failureOf(
      database.transaction(async () => {
        await posts.create({ title: 'Gone', status: 'publish', meta: { colour: 'red' } });
        throw new Error('undone');
      }),
    );
    expect([String(failure), await posts.count({ status: 'any' })]).to.deep.equal(['Error: undone', 0]);
  });

  it('wait in the status future, and cron publishes them when their time has come', async () => {
    const { posts, cron, clock } = await openContent(open, dialectCase);
    const { id, status, date } = await posts.create({ title: 'Later', status: 'publish', date: noon + hour });
    expect([status, await cron.next('publish_future_post', [id])]).to.deep.equal(['future', date]);
    await posts.update(id, { date: noon + 2 * hour });
    expect((await cron.list()).map(({ nextRun }) => nextRun)).to.deep.equal([noon + 2 * hour]);
    clock.jump(hour + 1);
    await cron.runDue();
    expect((await posts.get(id))?.status).to.equal('future');
    clock.jump(hour);
    await cron.runDue();
    const published = await posts.get(id);
    expect([published?.status, published?.date]).to.deep.equal(['publish', noon + 2 * hour]);
    expect(await cron.next('publish_future_post', [id])).to.equal(false);
    expect((await posts.update(id, { date: noon + 9 * hour })).status).to.equal('future');
    await posts.delete(id);
    expect(await cron.next('publish_future_post', [id])).to.equal(false);
  });

  it('go to the trash, come back as drafts, and leave it for good after a month', async () => {
    const { posts, cron, clock } = await openContent(open, dialectCase);
    const first = await posts.create({ title: 'Same', status: 'publish' });
    const trashed = await posts.delete(first.id);
    expect([trashed?.status, trashed?.trashedFrom, trashed?.slug]).to.deep.equal(['trash', 'publish', 'same__trashed']);
    expect((await posts.create({ title: 'Same', status: 'publish' })).slug).to.equal('same');
    const back = await posts.untrash(first.id);
    expect([back.status, back.trashedFrom, back.slug]).to.deep.equal(['draft', null, 'same']);
    expect((await posts.update(first.id, { status: 'publish' })).slug).to.equal('same-2');
    await posts.delete(first.id);
    clock.jump(31 * 24 * hour);
    await cron.runDue();
    expect(await posts.get(first.id)).to.equal(null);
    expect(await posts.delete(first.id)).to.equal(null);
  });

  it('move up when what they stand below is deleted', async () => {
    const { posts } = await openContent(open, dialectCase);
    const top = await posts.create({ type: 'page', title: 'Top', status: 'publish' });
    const middle = await posts.create({ type: 'page', title: 'Middle', status: 'publish', parentId: top.id });
    await posts.create({ type: 'page', title: 'Leaf', status: 'publish', parentId: top.id });
    const leaf = await posts.create({ type: 'page', title: 'Leaf', status: 'publish', parentId: middle.id });
    await posts.delete(middle.id, { force: true });
    const moved = await posts.get(leaf.id);
    expect([moved?.parentId, moved?.slug]).to.deep.equal([top.id, 'leaf-2']);
  });

  it('are found by words without regard to case and accents, by ids, authors, times, and in any order', async () => {
    const { posts } = await openContent(open, dialectCase);
    const write = (title: string, date: number, authorId: number) =>
      posts.create({
        title,
        content: `<p class="secret">About <b>100%</b> ${title}</p>`,
        status: 'publish',
        date,
        authorId,
      });
    const café = await write('Café_Größe', noon - 3 * hour, 1);
    const tea = await write('Tea', noon - 2 * hour, 2);
    const milk = await write('Milk', noon - hour, 1);
    const ids = async (query: Parameters<typeof posts.find>[0]) => (await posts.find(query)).map(({ id }) => id);
    expect(await ids({})).to.deep.equal([milk.id, tea.id, café.id]);
    expect(await ids({ search: 'CAFE about' })).to.deep.equal([café.id]);
    expect(await ids({ search: 'grÖße' })).to.deep.equal([café.id]);
    expect(await ids({ search: '100%' })).to.have.length(3);
    expect(await ids({ search: '1%0' })).to.deep.equal([]);
    expect(await ids({ search: 'secret' })).to.deep.equal([]);
    expect(await ids({ authors: [1], order: 'asc' })).to.deep.equal([café.id, milk.id]);
    expect(await ids({ include: [tea.id, café.id, 2 ** 40], orderBy: 'include' })).to.deep.equal([tea.id, café.id]);
    expect(await ids({ exclude: [tea.id], orderBy: 'title', order: 'asc' })).to.deep.equal([café.id, milk.id]);
    expect(await ids({ after: café.date, before: milk.date })).to.deep.equal([tea.id]);
    expect(await ids({ limit: 1, offset: 1 })).to.deep.equal([tea.id]);
  });

  it('of a deleted user go to the trash, or to another user', async () => {
    const { posts, hooks, user } = await openContent(open, dialectCase);
    const one = await posts.create({ title: 'One', status: 'publish', authorId: 5 });
    const two = await posts.create({ title: 'Two', status: 'publish', authorId: 6 });
    await hooks.doActionAsync('delete_user', 5, 7, user(5));
    await hooks.doActionAsync('delete_user', 6, null, user(6));
    expect([(await posts.get(one.id))?.authorId, (await posts.get(two.id))?.status]).to.deep.equal([7, 'trash']);
  });
});
