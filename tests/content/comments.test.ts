import { expect } from 'chai';
import { describeDialects } from '../helpers/dialects.ts';
import { failureOf } from '../helpers/failure-of.ts';
import { openContent, traceHooks } from './open-content.ts';

describeDialects('comments of the plugin API', (open, dialectCase) => {
  it('are created by users and guests, found, counted, changed and deleted, with the hooks of WordPress', async () => {
    const { comments, posts, hooks, options, user } = await openContent(open, dialectCase);
    const { id: postId } = await posts.create({ title: 'x', status: 'publish', commentStatus: 'open' });
    expect([await comments.isOpen(postId), await comments.isOpen(postId + 1)]).to.deep.equal([true, false]);
    const trace = traceHooks(hooks, /comment/);
    const author = user(7, 'administrator');
    const own = await comments.create({ postId, content: '<b>Yes</b><script>1</script>' }, author);
    const { displayName: authorName, email: authorEmail } = author;
    expect(own).to.include({ userId: 7, status: 'approved', content: '<b>Yes</b>', authorName, authorEmail });
    const guest = await comments.create({ postId, content: 'No', authorName: 'Ada', parentId: own.id });
    expect(guest).to.include({ userId: 0, status: 'hold', authorName: 'Ada', parentId: own.id });
    await options.update('comment_previously_approved', false);
    expect(await comments.create({ postId, content: 'Free', status: 'spam' })).to.include({ status: 'spam' });
    const query = { posts: [postId], orderBy: 'id', order: 'asc' } as const;
    expect((await comments.find(query)).map(({ id }) => id)).to.deep.equal([own.id, guest.id]);
    expect([await comments.count(query), await comments.count({ status: 'spam' })]).to.deep.equal([2, 1]);
    expect(await comments.update(guest.id, { status: 'approved' })).to.include({ status: 'approved' });
    expect(await comments.delete(guest.id)).to.include({ status: 'trash', statusBefore: 'approved' });
    expect(await comments.delete(guest.id)).to.include({ id: guest.id });
    expect([await comments.get(guest.id), await comments.delete(guest.id)]).to.deep.equal([null, null]);
    await comments.delete(own.id, { force: true });
    expect(await comments.get(own.id)).to.equal(null);
    expect(new Set(trace)).to.include.keys('comment_post', 'edit_comment', 'deleted_comment');
  });

  it('are refused without a post, a comment, a text, or with a parent of another post', async () => {
    const { comments, posts } = await openContent(open, dialectCase);
    const [first, second] = [await posts.create({ title: 'x' }), await posts.create({ title: 'y' })];
    const { id: parentId } = await comments.create({ postId: first.id, content: 'a', status: 'approved' });
    for (const [work, code] of [
      [() => comments.create({ postId: 99, content: 'a' }), 'rest_post_invalid_id'],
      [() => comments.create({ postId: first.id, content: '<script>1</script>' }), 'rest_comment_content_invalid'],
      [() => comments.create({ postId: second.id, content: 'a', parentId }), 'rest_comment_invalid_parent'],
      [() => comments.create({ postId: first.id, content: 'a' }), 'comment_duplicate'],
      [() => comments.update(99, { content: 'a' }), 'rest_comment_invalid_id'],
    ] as const)
      expect(await failureOf(work()), code).to.include({ code });
  });
});
