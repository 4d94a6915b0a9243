import { expect } from 'chai';
import type { Post } from '#plugin-api';
import { describeSharedHosts } from '../helpers/dialects.ts';
import { shareSite } from '../helpers/share-site.ts';
import { openPages, type AdminBrowser, type PageAnswer, type PagesSite } from '../pages/pages-site.ts';

describeSharedHosts('comments below a post', (dialectCase) => {
  const shared = shareSite(() => openPages(dialectCase));
  let site: PagesSite;
  let post: Post;
  let path: string;
  let guest: AdminBrowser;
  beforeEach(async () => {
    site = shared();
    await site.create({ login: 'mona', displayName: 'Mona <b>M</b>', role: 'editor' });
    await site.host.options.update('comment_registration', false);
    post = await site.host.content.posts.create({
      title: 'Tea',
      content: 'Green',
      status: 'publish',
      commentStatus: 'open',
    });
    path = new URL(await site.host.content.permalink(post)).pathname;
    guest = site.open();
  });

  const values = (html: string): Record<string, string> => {
    const form = html.split('action="/post-comment"')[1] ?? '';
    return Object.fromEntries(
      [...form.matchAll(/<input[^>]*\sname="([^"]+)"(?:\s+value="([^"]*)")?/g)].map(([, name = '', value = '']) => [
        name,
        value,
      ]),
    );
  };
  const typed = { author: 'Ada', email: 'ada@example.com' };
  /** Opens the page, fills in the form and sends it. */
  async function send(
    browser: AdminBrowser,
    comment: string,
    { fields = typed as Readonly<Record<string, string>>, at = path, headers = {} } = {},
  ): Promise<PageAnswer> {
    const form = values((await browser.get(at)).html);
    return browser.post('/post-comment', { ...form, ...fields, comment }, headers);
  }
  const rows = (): Promise<Record<string, unknown>[]> => site.host.database.knex('comments').select('*').orderBy('id');
  const approve = (id: number) => site.host.database.knex('comments').where({ id }).update({ status: 'approved' });

  it('wait for a moderator, and are then shown with their text escaped, to everyone', async () => {
    const text = 'Nice <b>tea</b><script>alert(1)</script><img src=x onerror=alert(2)> [svc_form id=1]\n\nTwo';
    const answer = await send(guest, text, {
      fields: { author: '"><img src=x onerror=alert(3)>', email: 'ada@example.com' },
    });
    expect([answer.status, answer.location]).to.deep.equal([303, `${site.host.url}${path}?comment=held#respond`]);
    expect((await guest.get(`${path}?comment=held`)).text).to.contain('Your comment appears once a moderator');
    expect((await guest.get(path)).html).not.to.contain('Nice');
    const [row] = await rows();
    expect(row).to.deep.include({
      status: 'hold',
      author_email: 'ada@example.com',
      author_ip: '127.0.0.1',
      user_id: 0,
    });
    const moderator = await site.signIn('mona');
    expect((await moderator.get(path)).text).to.contain('Waits for a moderator');
    await moderator.submit('/admin/comments?status=hold', 'approve', { id: String(row?.['id']) });
    const { html, text: shown } = await guest.get(path);
    expect(shown).to.contain('1 comment').and.contain('Nice tea').and.contain('[svc_form id=1]');
    expect(html).to.contain('<p>Nice <b>tea</b>').and.contain('<p>Two</p>');
    expect(html).to.match(/<strong>&quot;&gt;&lt;img src&#x3D;x onerror&#x3D;alert\(3\)&gt;<\/strong>/);
    for (const danger of ['<script>alert', '<img src=x', 'ada@example.com', '127.0.0.1</'])
      expect(html, danger).not.to.contain(danger);
  });

  it('form threads: a reply stands below its comment, on the page of the thread', async () => {
    await site.host.options.update('comment_previously_approved', false);
    await send(guest, 'Comment 1.');
    const [first] = await rows();
    const { id: _id, ...row } = first ?? {};
    await site.host.database.knex('comments').where({ id: first?.['id'] }).update({ date: 1000 });
    for (let number = 2; number <= 51; number += 1)
      await site.host.database
        .knex('comments')
        .insert({ ...row, content: `Comment ${String(number)}.`, date: number * 1000 });
    const last = await send(guest, 'The newest');
    expect(last.location).to.match(/\?cpage=2#comment-\d+$/);
    const reply = await send(guest, 'A reply', { at: `${path}?replytocom=${String(first?.['id'])}` });
    expect(reply.location).to.match(new RegExp(`${path}#comment-\\d+$`));
    const one = (await guest.get(path)).text;
    expect(one).to.match(/Comment 1\. Reply Ada .* In reply to Ada A reply Reply Ada .* Comment 2\./);
    expect(one).to.contain('53 comments').and.contain('Page 1 of 2').and.not.contain('The newest');
    const two = await guest.get(`${path}?cpage=2`);
    expect(two.text).to.contain('Comment 51.').and.contain('The newest').and.not.contain('Comment 1.');
    for (const page of ['0', '-1', '9', 'x', '99999999999'])
      expect((await guest.get(`${path}?cpage=${page}`)).status, page).to.equal(200);
    expect((await send(guest, 'To none', { fields: { ...typed, comment_parent: '99999' } })).status).to.equal(400);
  });
  it('are refused with the reason and what was typed, without a nonce, name, address or text', async () => {
    const cases: readonly (readonly [Record<string, string>, number, string])[] = [
      [{ ...typed, _nonce: '' }, 403, 'This form has expired.'],
      [{ ...typed, _nonce: 'abcdefghij' }, 403, 'This form has expired.'],
      [{ ...typed, author: '' }, 400, 'Enter your name'],
      [{ ...typed, email: 'ada' }, 400, 'Enter a valid email address.'],
      [{ ...typed, author: 'a'.repeat(246) }, 400, 'at most 245 characters'],
    ];
    for (const [fields, status, reason] of cases) {
      const answer = await send(guest, 'Keep "this" text', { fields });
      expect([answer.status, answer.text.includes(reason)], reason).to.deep.equal([status, true]);
      expect(answer.html).to.contain('Keep &quot;this&quot; text</textarea>');
      expect(answer.html).to.contain(`value="${fields['email'] ?? ''}"`);
    }
    expect((await send(guest, ' ')).text).to.contain('Enter a comment.');
    expect((await send(guest, 'a'.repeat(20_001))).text).to.contain('Shorten the comment');
    expect((await send(guest, 'a'.repeat(300_000))).status).to.be.within(400, 499);
    for (const site_ of ['cross-site', 'same-site'])
      expect((await send(guest, 'x', { headers: { 'sec-fetch-site': site_ } })).status, site_).to.equal(404);
    for (const id of ['', '0', '99999', '1 or 1=1', '-1'])
      expect((await send(guest, 'x', { fields: { ...typed, comment_post_ID: id } })).status, id).to.equal(404);
    expect(await rows()).to.deep.equal([]);
    expect((await send(guest, 'Twice')).status).to.equal(303);
    expect((await send(guest, 'Twice')).status).to.equal(409);
  });

  it('are spam if they fill in the field that people do not see, and limited to ten in 15 minutes', async () => {
    const trapped = await send(guest, 'Buy', { fields: { ...typed, url: 'https://spam.example' } });
    expect(trapped.location).to.equal(`${site.host.url}${path}?comment=held#respond`);
    expect((await rows())[0]).to.deep.include({ status: 'spam' });
    for (let number = 0; number < 9; number += 1) await send(guest, `Text ${String(number)}`);
    const refused = await send(guest, 'One more');
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).to.deep.equal([429, true]);
    expect(refused.text).to.contain('You are posting comments too quickly.');
    expect(refused.html).to.contain('One more</textarea>');
    expect(await rows()).to.have.length(10);
  });

  it('are closed by the post, by the site, and for guests by the setting', async () => {
    await send(guest, 'Before');
    await approve(Number((await rows())[0]?.['id']));
    const form = values((await guest.get(path)).html);
    await site.host.options.update('close_comments', true);
    const shown = await guest.get(path);
    expect(shown.text).to.contain('Before').and.contain('Comments are closed.');
    expect(shown.html).not.to.contain('/post-comment');
    const refused = await guest.post('/post-comment', { ...form, ...typed, comment: 'After' });
    expect([refused.status, refused.text.includes('Comments are closed.')]).to.deep.equal([403, true]);
    await site.host.options.update('close_comments', false);
    await site.host.options.update('comment_registration', true);
    const asked = await guest.get(path);
    expect(asked.text).to.contain('Sign in to comment.');
    expect(asked.html).not.to.contain('/post-comment');
    expect((await guest.post('/post-comment', { ...form, ...typed, comment: 'After' })).status).to.equal(403);
    await site.host.content.posts.update(post.id, { commentStatus: 'closed' });
    expect((await guest.get(path)).text).to.contain('Comments are closed.');
    expect(await rows()).to.have.length(1);
    const quiet = await site.host.content.posts.create({ title: 'Quiet', status: 'publish' });
    expect((await guest.get(new URL(await site.host.content.permalink(quiet)).pathname)).html).not.to.contain(
      'comment',
    );
  });

  it('of users carry their own name, need the nonce of their session, and moderators need not wait', async () => {
    const mona = await site.signIn('mona');
    const { html } = await mona.get(path);
    expect(html).to.contain('You comment as Mona &lt;b&gt;M&lt;/b&gt;.').and.not.contain('name="author"');
    const others = values((await guest.get(path)).html);
    expect((await mona.post('/post-comment', { ...others, comment: 'Forged' })).status).to.equal(403);
    const sent = await send(mona, 'Welcome', { fields: { author: 'Eve', email: 'eve@example.com' } });
    expect(sent.location).to.match(/#comment-\d+$/);
    expect((await rows())[0]).to.deep.include({ author_name: 'Mona <b>M</b>', author_email: 'mona@example.com' });
    await site.create({ login: 'sue', role: 'subscriber' });
    const sue = await site.signIn('sue');
    await send(sue, 'Mine waits', { fields: {} });
    expect((await sue.get(path)).text).to.contain('Mine waits');
    expect((await guest.get(path)).text).not.to.contain('Mine waits');
  });

  it('of a post with a password are for those who know it, and of a draft for no visitor', async () => {
    await send(guest, 'Secret talk');
    await approve(Number((await rows())[0]?.['id']));
    const form = values((await guest.get(path)).html);
    await site.host.content.posts.update(post.id, { password: 'sesame' });
    expect((await guest.get(path)).html)
      .not.to.contain('Secret talk')
      .and.not.contain('/post-comment');
    expect((await guest.post('/post-comment', { ...form, ...typed, comment: 'x' })).status).to.equal(403);
    await guest.post('/post-password', { post: String(post.id), post_password: 'sesame' });
    expect((await guest.get(path)).text).to.contain('Secret talk');
    expect((await send(guest, 'Me too')).status).to.equal(303);
    await site.host.content.posts.update(post.id, { password: '', status: 'draft' });
    expect((await guest.post('/post-comment', { ...form, ...typed, comment: 'y' })).status).to.equal(404);
    expect(await rows()).to.have.length(2);
  });
});
