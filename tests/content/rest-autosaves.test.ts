import { expect } from 'chai';
import { describeHosts } from '../helpers/dialects.ts';
import { openContentSite, type Answer, type Call, type ContentSite } from './content-site.ts';

describeHosts('autosaves in REST', (dialectCase) => {
  let site: ContentSite;
  beforeEach(async () => {
    site = await openContentSite(dialectCase);
  });
  afterEach(() => site.host.stop());

  const make = async (call: Call, json: Record<string, unknown>): Promise<number> => {
    const { status, body } = await call('/posts', { method: 'POST', json });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.id as number;
  };
  const codeOf = ({ status, body }: Answer): unknown[] => [status, body?.code];

  it('are one revision for each user, the own draft itself, nothing without a change', async () => {
    const author = await site.as('author');
    const other = await site.as('editor');
    const id = await make(author.call, { title: 'Tea', content: 'Green', status: 'publish' });
    const at = `/posts/${id}/autosaves`;
    const save = (call: Call, json: Record<string, unknown>) => call(at, { method: 'POST', json });
    const first = await save(author.call, { content: 'Green <script>x</script>tea', id: 7 });
    expect([first.status, first.body.parent, first.body.author, first.body.slug]).to.deep.equal([
      ...[200, id, author.user.id, `${id}-autosave-v1`],
    ]);
    expect(first.body.content.raw).to.equal('Green tea');
    expect(first.body.title.raw).to.equal('Tea');
    expect(first.body.preview_link).to.equal(`${site.host.url}/?p=${id}&preview=true`);
    const second = await save(author.call, { content: 'Black tea', status: 'draft' });
    expect([second.status, second.body.id]).to.deep.equal([200, first.body.id]);
    const theirs = await save(other.call, { title: 'Coffee' });
    expect(theirs.body.id).not.to.equal(first.body.id);
    expect((await author.call(`/posts/${id}?context=edit`)).body.content.raw).to.equal('Green');
    expect((await author.call(`/posts/${id}`)).body.status).to.equal('publish');

    const list = await author.call(`${at}?context=edit`);
    expect(list.status).to.equal(200);
    expect(
      list.body.map(({ content, title }: { content: { raw: string }; title: { raw: string } }) => [
        title.raw,
        content.raw,
      ]),
    ).to.have.deep.members([
      ['Tea', 'Black tea'],
      ['Coffee', 'Green'],
    ]);
    expect(list.body[0]._links.parent[0].href).to.equal(`${site.host.url}/wp-json/wp/v2/posts/${id}`);
    const view = (await author.call(`${at}/${first.body.id}`)).body;
    expect([view.content.rendered, 'preview_link' in view, view.content.raw]).to.deep.equal([
      '<p>Black tea</p>\n',
      false,
      undefined,
    ]);

    expect(codeOf(await save(author.call, { content: 'Green', title: 'Tea' }))).to.deep.equal([
      400,
      'rest_autosave_no_changes',
    ]);
    expect((await author.call(at)).body).to.have.length(1);
    expect(codeOf(await author.call(`${at}/${first.body.id}`))).to.deep.equal([404, 'rest_post_no_autosave']);

    const draft = await make(author.call, { title: 'Draft' });
    const updated = await author.call(`/posts/${draft}/autosaves`, { method: 'POST', json: { title: 'Changed' } });
    expect([updated.status, updated.body.id]).to.deep.equal([200, draft]);
    expect((await author.call(`/posts/${draft}?context=edit`)).body.title.raw).to.equal('Changed');
    expect((await author.call(`/posts/${draft}/autosaves`)).body).to.deep.equal([]);

    const stranger = (await site.as('contributor')).call;
    expect(codeOf(await stranger(at))).to.deep.equal([403, 'rest_cannot_read']);
    expect(codeOf(await save(stranger, { title: 'x' }))).to.deep.equal([403, 'rest_cannot_edit']);
    expect(codeOf(await site.call(at))).to.deep.equal([401, 'rest_cannot_read']);
    expect(codeOf(await site.call(at, { method: 'POST', json: { title: 'x' } }))).to.deep.equal([
      401,
      'rest_cannot_edit',
    ]);
    expect(codeOf(await author.call('/posts/99999/autosaves'))).to.deep.equal([404, 'rest_post_invalid_parent']);
    expect(codeOf(await author.call(`/pages/${id}/autosaves`))).to.deep.equal([404, 'rest_post_invalid_parent']);
    expect((await other.call('/pages', { method: 'POST', json: { title: 'P' } })).status).to.equal(201);

    await site.host.options.update('revisions_to_keep', 1);
    await author.call(`/posts/${id}`, { method: 'POST', json: { content: 'One' } });
    await author.call(`/posts/${id}`, { method: 'POST', json: { content: 'Two' } });
    expect((await author.call(at)).body, 'not counted as revisions').to.have.length(1);
    await site.host.content.posts.delete(id, { force: true });
    expect(await site.host.database.knex('posts').where({ parent_id: id })).to.deep.equal([]);
  });
});
