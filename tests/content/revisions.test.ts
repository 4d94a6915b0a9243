import { expect } from 'chai';
import { describeDialects } from '../helpers/dialects.ts';
import { openContent } from './open-content.ts';

describeDialects('revisions', (open, dialectCase) => {
  it('keep what was there and what came, and bring it back', async () => {
    const { posts, revisions, user } = await openContent(open, dialectCase);
    const { id } = await posts.create({ title: 'First', content: 'one', authorId: 1 });
    expect(await revisions.list(id)).to.deep.equal([]);
    await posts.update(id, { content: 'two' }, { as: user(2, 'administrator') });
    await posts.update(id, { menuOrder: 4 });
    const kept = await revisions.list(id);
    expect(
      kept.map(({ title, content, authorId, type, status, parentId }) => [
        title,
        content,
        authorId,
        type,
        status,
        parentId,
      ]),
    ).to.deep.equal([
      ['First', 'two', 2, 'revision', 'inherit', id],
      ['First', 'one', 1, 'revision', 'inherit', id],
    ]);
    const restored = await revisions.restore(kept[1]?.id ?? 0);
    expect([restored.id, restored.content, restored.menuOrder]).to.deep.equal([id, 'one', 4]);
    expect(await posts.count({ type: 'any', status: 'any' })).to.equal(1);
  });

  it('are limited by a setting and a filter, and go with their post', async () => {
    const { posts, revisions, options, hooks } = await openContent(open, dialectCase);
    await options.update('revisions_to_keep', 2);
    const { id } = await posts.create({ title: 'Post', content: '0' });
    for (const content of ['1', '2', '3']) await posts.update(id, { content });
    expect((await revisions.list(id)).map(({ content }) => content)).to.deep.equal(['3', '2']);
    hooks.addFilter('wp_revisions_to_keep', () => 0);
    await posts.update(id, { content: '4' });
    expect(await revisions.list(id)).to.have.length(2);
    await posts.delete(id, { force: true });
    expect(await revisions.list(id)).to.deep.equal([]);
  });
});
