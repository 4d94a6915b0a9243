import { expect } from 'chai';
import { describeDialects } from '../helpers/dialects.ts';
import { openContent } from './open-content.ts';

describeDialects('capabilities of single posts', (open, dialectCase) => {
  it("follow WordPress's rules: own or others', published, private, trash", async () => {
    const { posts, user } = await openContent(open, dialectCase);
    const rows: [status: string, role: string, own: string, others: string][] = [
      ['draft', 'contributor', 'edit delete read', ''],
      ['publish', 'contributor', 'read', 'read'],
      ['publish', 'author', 'edit delete read', 'read'],
      ['draft', 'author', 'edit delete read', ''],
      ['private', 'author', 'edit delete read', ''],
      ['private', 'editor', 'edit delete read', 'edit delete read'],
      ['publish', 'subscriber', 'read', 'read'],
      ['draft', 'editor', 'edit delete read', 'edit delete read'],
      ['pending', 'administrator', 'edit delete read', 'edit delete read'],
    ];
    for (const [status, role, own, others] of rows) {
      const can = async (authorId: number): Promise<string> => {
        const post = await posts.create({ title: 'x', status, authorId });
        const who = user(7, role);
        return ['edit', 'delete', 'read'].filter((act) => who.can(`${act}_post`, post.id)).join(' ');
      };
      expect([await can(7), await can(8)], `${status} ${role}`).to.deep.equal([own, others]);
    }
  });

  it('of trashed posts and revisions are those of what they were or belong to', async () => {
    const { posts, revisions, user, can } = await openContent(open, dialectCase);
    const post = await posts.create({ title: 'x', status: 'publish', authorId: 7 });
    await posts.update(post.id, { title: 'y' });
    const [revision] = await revisions.list(post.id);
    expect([
      user(7, 'author').can('edit_post', revision),
      user(8, 'author').can('edit_post', revision),
      user(8, 'author').can('read_post', revision),
    ]).to.deep.equal([true, false, false]);
    await posts.delete(post.id);
    expect([
      await can(user(7, 'contributor'), 'edit_post', post.id),
      await can(user(7, 'author'), 'edit_post', post.id),
    ]).to.deep.equal([false, true]);
  });

  it('of pages and other types ask for their own capabilities', async () => {
    const { posts, user, registerPostType } = await openContent(open, dialectCase);
    registerPostType('book', { label: 'Books', singularLabel: 'Book', capabilityType: 'book', public: true });
    const page = await posts.create({ type: 'page', title: 'x', status: 'publish', authorId: 7 });
    const book = await posts.create({ type: 'book', title: 'x', status: 'publish', authorId: 7 });
    expect(['author', 'editor'].map((role) => user(7, role).can('edit_page', page.id))).to.deep.equal([false, true]);
    expect([user(7, 'editor').can('edit_book', book), user(7, 'editor').can('read_book', book)]).to.deep.equal([
      false,
      true,
    ]);
  });

  it('are refused for posts that do not exist, and known on other nodes once they read them', async () => {
    const [one, other] = [await openContent(open, dialectCase), await openContent(open, dialectCase)];
    const post = await one.posts.create({ title: 'x', authorId: 7 });
    const admin = other.user(1, 'administrator');
    expect([
      admin.can('edit_post', 99),
      admin.can('edit_post', post.id),
      await other.can(admin, 'edit_post', post.id),
      admin.can('edit_post', post.id),
    ]).to.deep.equal([false, false, true, true]);
    expect(await other.can(admin, 'edit_post', 99)).to.equal(false);
    expect(admin.can('edit_posts')).to.equal(true);
  });

  it('hide what a user may not read from lists', async () => {
    const { posts, user } = await openContent(open, dialectCase);
    for (const authorId of [7, 8])
      for (const status of ['publish', 'private', 'draft'])
        await posts.create({ title: `${status} of ${authorId}`, status, authorId });
    const titles = async (...visitor: Parameters<typeof user>) =>
      (await posts.find({ status: 'any', visibleTo: user(...visitor), orderBy: 'id', order: 'asc' })).map(
        ({ title }) => title,
      );
    expect(await titles(0)).to.deep.equal(['publish of 7', 'publish of 8']);
    expect(await titles(7, 'author')).to.deep.equal(['publish of 7', 'private of 7', 'draft of 7', 'publish of 8']);
    expect(await titles(9, 'editor')).to.have.length(6);
  });
});
