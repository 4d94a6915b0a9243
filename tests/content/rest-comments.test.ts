import { expect } from 'chai';
import type { Post } from '#plugin-api';
import { describeSharedHosts } from '../helpers/dialects.ts';
import { shareSite } from '../helpers/share-site.ts';
import { openContentSite, type Answer, type Call, type ContentSite } from './content-site.ts';

describeSharedHosts('comments in REST', (dialectCase) => {
  const shared = shareSite(() => openContentSite(dialectCase));
  let site: ContentSite;
  let post: Post;
  beforeEach(async () => {
    site = shared();
    post = await site.host.content.posts.create({ title: 'Open', status: 'publish', commentStatus: 'open' });
  });

  const say = (call: Call, content: string, more: Readonly<Record<string, unknown>> = {}): Promise<Answer> =>
    call('/comments', { method: 'POST', json: { post: post.id, content, ...more } });
  const outcome = ({ status, body }: Answer): unknown[] => [status, body.code ?? body.status];
  const ids = async (call: Call, query = ''): Promise<number[]> =>
    (await call(`/comments${query}`)).body.map(({ id }: { id: number }) => id);
  const guest = { author_name: 'Ada', author_email: 'ada@example.com' };

  it('are closed until an administrator opens them, for new posts and for each post', async () => {
    const { call } = await site.as('administrator');
    const created = await call('/posts', { method: 'POST', json: { title: 'New', status: 'publish' } });
    expect(created.body.comment_status).to.equal('closed');
    const refused = await say(call, 'Hello', { post: created.body.id });
    expect([refused.status, refused.body.code, refused.body.message]).to.deep.equal([
      403,
      'rest_comment_closed',
      'Sorry, comments are closed for this item.',
    ]);
    const opened = await call(`/posts/${created.body.id}`, { method: 'POST', json: { comment_status: 'open' } });
    expect(opened.body.comment_status).to.equal('open');
    expect((await say(call, 'Hello', { post: created.body.id })).status).to.equal(201);
    await call('/settings', { method: 'POST', json: { default_comment_status: 'open' } });
    const next = await call('/posts', { method: 'POST', json: { title: 'Next' } });
    expect(next.body.comment_status).to.equal('open');
    expect(outcome(await say(call, 'Hello', { post: next.body.id }))).to.deep.equal([403, 'rest_comment_draft_post']);
    expect(outcome(await say(call, 'Hello', { post: 0 }))).to.deep.equal([403, 'rest_comment_invalid_post_id']);
  });

  it('have the shape of WordPress, with email, address and agent for moderators only', async () => {
    const admin = await site.as('administrator');
    const made = await say(admin.call, 'A <b>bold</b> word<script>alert(1)</script>\n\n<img src=x> [svc_form id=1]', {
      author_url: 'https://ada.example',
    });
    const { id } = made.body;
    expect([made.status, made.headers.get('location')?.endsWith(`/wp/v2/comments/${id}`)]).to.deep.equal([201, true]);
    const shown = (await site.call(`/comments/${id}`)).body;
    expect(Object.keys(shown).sort()).to.deep.equal(
      [
        ...['_links', 'author', 'author_avatar_urls', 'author_name', 'author_url', 'content', 'date', 'date_gmt', 'id'],
        ...['link', 'meta', 'parent', 'post', 'status', 'type'],
      ].sort(),
    );
    expect(shown).to.deep.include({
      author: admin.user.id,
      author_name: admin.user.displayName,
      author_url: 'https://ada.example',
      content: { rendered: '<p>A <b>bold</b> word</p>\n<p> [svc_form id=1]</p>\n'.replace('<p> ', '<p>') },
      parent: 0,
      post: post.id,
      status: 'approved',
      type: 'comment',
    });
    expect(Object.keys(shown.author_avatar_urls)).to.deep.equal(['24', '48', '96']);
    expect(shown.link).to.match(new RegExp(`#comment-${id}$`));
    expect(Object.keys(shown._links)).to.include.members(['self', 'collection', 'author', 'up']);
    const edited = (await admin.call(`/comments/${id}?context=edit`)).body;
    expect(edited.author_email).to.equal(admin.user.email);
    expect(edited.author_ip).to.match(/127\.0\.0\.1|::1/);
    expect(outcome(await site.call(`/comments/${id}?context=edit`))).to.deep.equal([401, 'rest_forbidden_context']);
    expect((await site.call(`/posts/${post.id}`)).body._links.replies[0].href).to.contain(`comments?post=${post.id}`);
  });

  it('of first-time authors are held until a moderator approves one', async () => {
    const [author, other, editor] = [await site.as('subscriber'), await site.as('subscriber'), await site.as('editor')];
    const first = await say(author.call, 'First', { author_name: 'The administrator' });
    expect([first.status, first.body.status, first.body.author_name]).to.deep.equal([
      201,
      'hold',
      author.user.displayName,
    ]);
    const { id } = first.body;
    expect(await ids(site.call)).to.deep.equal([]);
    expect(outcome(await site.call(`/comments/${id}`))).to.deep.equal([401, 'rest_cannot_read']);
    expect(outcome(await other.call(`/comments/${id}`))).to.deep.equal([403, 'rest_cannot_read']);
    expect((await author.call(`/comments/${id}`)).status).to.equal(200);
    const approve = { method: 'POST', json: { status: 'approved' } };
    expect(outcome(await author.call(`/comments/${id}`, approve))).to.deep.equal([403, 'rest_cannot_edit']);
    expect(await ids(editor.call, '?status=hold')).to.deep.equal([id]);
    expect((await editor.call(`/comments/${id}`, approve)).body.status).to.equal('approved');
    expect(await ids(site.call)).to.deep.equal([id]);
    expect((await say(author.call, 'Second')).body.status).to.equal('approved');
    await site.host.options.update('comment_moderation', true);
    expect((await say(author.call, 'Third')).body.status).to.equal('hold');
    await site.host.options.update('comment_moderation', false);
    await site.host.options.update('comment_previously_approved', false);
    expect((await say(other.call, 'Fourth')).body.status).to.equal('approved');
    expect(outcome(await say(other.call, 'Fourth'))).to.deep.equal([409, 'comment_duplicate']);
  });

  it('of guests need the setting, a name and an address, and are held', async () => {
    expect(outcome(await say(site.call, 'Hi', guest))).to.deep.equal([401, 'rest_comment_login_required']);
    await site.host.options.update('comment_registration', false);
    expect(outcome(await say(site.call, 'Hi'))).to.deep.equal([400, 'rest_comment_author_data_required']);
    expect(outcome(await say(site.call, '<script>1</script>', guest))).to.deep.equal([
      400,
      'rest_comment_content_invalid',
    ]);
    expect(outcome(await say(site.call, 'Hi', { ...guest, author_url: 'javascript:alert(1)' }))).to.deep.equal([
      400,
      'rest_invalid_param',
    ]);
    const made = await say(site.call, 'Hi', guest);
    expect([...outcome(made), made.body.author, made.body.author_email]).to.deep.equal([201, 'hold', 0, undefined]);
    const status = await say(site.call, 'Hi again', { ...guest, status: 'approved' });
    expect(outcome(status)).to.deep.equal([401, 'rest_comment_invalid_status']);
    const author = await say(site.call, 'Hi again', { ...guest, author: 1 });
    expect(outcome(author)).to.deep.equal([401, 'rest_comment_invalid_author']);
  });

  it('are limited to ten in 15 minutes and address', async () => {
    await site.host.options.update('comment_registration', false);
    for (let number = 1; number <= 10; number += 1)
      expect((await say(site.call, `Text ${number}`, guest)).status).to.equal(201);
    const refused = await say(site.call, 'Text 11', guest);
    expect([...outcome(refused), Number(refused.headers.get('retry-after')) > 0]).to.deep.equal([
      429,
      'comment_flood',
      true,
    ]);
  });

  it('go to spam and trash and return to what they were, or are deleted', async () => {
    const { call } = await site.as('administrator');
    const { id } = (await say(call, 'Text')).body;
    const reply = (await say(call, 'Reply', { parent: id })).body;
    expect(reply.parent).to.equal(id);
    const set = async (status: string): Promise<string> =>
      (await call(`/comments/${id}`, { method: 'POST', json: { status } })).body.status;
    expect(await set('spam')).to.equal('spam');
    expect(await ids(site.call)).to.deep.equal([reply.id]);
    expect(await set('unspam')).to.equal('approved');
    expect((await call(`/comments/${id}`, { method: 'DELETE' })).body.status).to.equal('trash');
    const again = await call(`/comments/${id}`, { method: 'DELETE' });
    expect(outcome(again)).to.deep.equal([410, 'rest_already_trashed']);
    expect(await ids(call, '?status=trash')).to.deep.equal([id]);
    expect(await set('untrash')).to.equal('approved');
    expect((await call(`/comments/${id}?force=true`, { method: 'DELETE' })).body).to.deep.include({ deleted: true });
    expect((await call(`/comments/${reply.id}`)).body.parent).to.equal(0);
    expect(outcome(await call(`/comments/${id}`))).to.deep.equal([404, 'rest_comment_invalid_id']);
    expect(outcome(await say(call, 'Lost', { parent: id }))).to.deep.equal([400, 'rest_comment_invalid_parent']);
  });

  it('are listed with pages, search and filters, some for editors only', async () => {
    const { call } = await site.as('administrator');
    const made: number[] = [];
    for (const text of ['Alpha', 'Beta', 'Gamma']) made.push((await say(call, text)).body.id);
    const page = await site.call(`/comments?post=${post.id}&per_page=2&order=asc&orderby=id`);
    expect([page.headers.get('x-wp-total'), page.headers.get('x-wp-totalpages')]).to.deep.equal(['3', '2']);
    expect(page.body.map(({ id }: { id: number }) => id)).to.deep.equal(made.slice(0, 2));
    expect(await ids(site.call, '?search=bétA')).to.deep.equal([made[1]]);
    expect(await ids(site.call, `?include=${made[2]},${made[0]}&orderby=include`)).to.deep.equal([made[2], made[0]]);
    expect(await ids(site.call, `?exclude=${made[0]}&order=asc`)).to.deep.equal(made.slice(1));
    expect(await ids(site.call, '?search=example.com')).to.deep.equal([]);
    for (const query of ['status=hold', 'author_email=a@example.com', 'author=1', 'type=pingback'])
      expect(outcome(await site.call(`/comments?${query}`))).to.deep.equal([401, 'rest_forbidden_param']);
  });

  it('of drafts, private posts and posts with a password stay with those who read the post', async () => {
    const [admin, subscriber] = [await site.as('administrator'), await site.as('subscriber')];
    const { id } = (await say(admin.call, 'The treasure')).body;
    const { posts } = site.host.content;
    await posts.update(post.id, { password: 'sesame' });
    for (const call of [site.call, subscriber.call]) {
      expect(await ids(call)).to.deep.equal([]);
      expect((await call(`/comments?post=${post.id}`)).body.code).to.equal('rest_cannot_read_post');
      expect((await call(`/comments/${id}`)).body.code).to.equal('rest_cannot_read_post');
    }
    expect((await say(subscriber.call, 'Guess')).body.code).to.equal('rest_cannot_read_post');
    expect(await ids(site.call, `?post=${post.id}&password=sesame`)).to.deep.equal([id]);
    expect((await site.call(`/comments/${id}?password=sesame`)).status).to.equal(200);
    expect((await site.call(`/comments/${id}?password=wrong`)).status).to.equal(401);
    for (const status of ['private', 'draft', 'trash']) {
      await posts.update(post.id, { password: '', status });
      expect(await ids(site.call), status).to.deep.equal([]);
      expect((await subscriber.call(`/comments/${id}`)).status, status).to.equal(403);
    }
    await site.host.content.posts.delete(post.id, { force: true });
    expect(outcome(await admin.call(`/comments/${id}`))).to.deep.equal([404, 'rest_comment_invalid_id']);
  });

  it('of a deleted user stay without personal data', async () => {
    const [admin, author] = [await site.as('administrator'), await site.as('author')];
    const { id } = (await say(author.call, 'Text')).body;
    await site.host.users.delete(author.user.id, { reassignTo: admin.user.id });
    const left = (await admin.call(`/comments/${id}?context=edit`)).body;
    expect([left.author, left.author_name, left.author_email, left.author_ip, left.content.raw]).to.deep.equal([
      ...[0, 'Anonymous', '', '', 'Text'],
    ]);
  });

  it('of a person are exported and stay without personal data once they are erased, guest or user', async () => {
    const [admin, author] = [await site.as('administrator'), await site.as('author')];
    await admin.call('/settings', { method: 'POST', json: {} });
    await site.host.options.update('comment_registration', false);
    await say(site.call, 'As a guest', { ...guest, author_email: 'Ada@Example.com' });
    await say(author.call, 'As a user');
    await say(site.call, 'Of another', { author_name: 'Bob', author_email: 'bob@example.com' });
    const person = { userId: author.user.id, emails: ['ada@example.com', ''] };
    const exported = await site.host.hooks.applyFiltersAsync('personal_data_export', [], person);
    expect(exported.map(({ type, data }) => [type, data['content'], data['author_email']])).to.deep.equal([
      ['comment', 'As a guest', 'Ada@Example.com'],
      ['comment', 'As a user', author.user.email],
    ]);
    const none = { userId: null, emails: [] };
    expect(await site.host.hooks.applyFiltersAsync('personal_data_export', [], none)).to.deep.equal([]);
    expect(await site.host.hooks.applyFiltersAsync('personal_data_erase', { a: 1 }, none)).to.deep.equal({ a: 1 });
    const erased = await site.host.hooks.applyFiltersAsync('personal_data_erase', { a: 1 }, person);
    expect(erased).to.deep.equal({ a: 1, comments: 2 });
    const left = JSON.stringify(await site.host.database.knex('comments').select('*'));
    expect(left)
      .to.contain('As a guest')
      .and.contain('bob@example.com')
      .and.not.match(/ada@example\.com/i);
    expect(left).not.to.contain(author.user.email);
  });
});
