import { expect } from 'chai';
import { describeSharedHosts } from '../helpers/dialects.ts';
import { shareSite } from '../helpers/share-site.ts';
import { openContentSite, type Answer, type Call, type ContentSite } from './content-site.ts';

describeSharedHosts('/wp/v2/posts', (dialectCase) => {
  const shared = shareSite(() => openContentSite(dialectCase));
  let site: ContentSite;
  let editor: Call;
  beforeEach(async () => {
    site = shared();
    editor = (await site.as('editor')).call;
  });

  const make = async (call: Call, json: Record<string, unknown>): Promise<number> => {
    const { status, body } = await call('/posts', { method: 'POST', json });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.id as number;
  };
  const codeOf = ({ status, body }: Answer): unknown[] => [status, body?.code];

  it('creates, reads, changes and deletes', async () => {
    const created = await editor('/posts', {
      method: 'POST',
      json: { title: 'A & B', content: { raw: '<p>Hello</p>' }, status: 'publish', slug: 'My Slug' },
    });
    const { body } = created;
    expect([created.status, created.headers.get('location')]).to.deep.equal([
      201,
      `${site.host.url}/wp-json/wp/v2/posts/${body.id}`,
    ]);
    expect(body).to.deep.include({
      slug: 'my-slug',
      status: 'publish',
      type: 'post',
      date: '2026-01-01T00:00:00',
      link: `${site.host.url}/2026/01/my-slug/`,
      meta: {},
    });
    expect(body.title).to.deep.equal({ raw: 'A & B', rendered: 'A &amp; B' });
    expect(body.content).to.deep.equal({ raw: '<p>Hello</p>', rendered: '<p>Hello</p>', protected: false });
    expect(body.permalink_template).to.equal(`${site.host.url}/2026/01/%postname%/`);

    const read = await site.call(`/posts/${body.id}`);
    expect(read.status).to.equal(200);
    expect(read.body.title).to.deep.equal({ rendered: 'A &amp; B' });
    expect(read.body).not.to.have.any.keys('permalink_template', 'generated_slug');
    expect(read.body._links).to.include.keys(
      'self',
      'collection',
      'about',
      'author',
      'version-history',
      'wp:attachment',
      'curies',
    );

    const changed = await editor(`/posts/${body.id}`, { method: 'PUT', json: { content: '<p>Other</p>' } });
    expect(changed.body.content.raw).to.equal('<p>Other</p>');
    const trashed = await editor(`/posts/${body.id}`, { method: 'DELETE' });
    expect([trashed.status, trashed.body.status]).to.deep.equal([200, 'trash']);
    expect(codeOf(await editor(`/posts/${body.id}`, { method: 'DELETE' }))).to.deep.equal([
      410,
      'rest_already_trashed',
    ]);
    const deleted = await editor(`/posts/${body.id}?force=true`, { method: 'DELETE' });
    expect([deleted.body.deleted, deleted.body.previous.id]).to.deep.equal([true, body.id]);
    expect(codeOf(await editor(`/posts/${body.id}`))).to.deep.equal([404, 'rest_post_invalid_id']);
  });

  it("refuses with WordPress's codes", async () => {
    const [subscriber, author, contributor] = [
      (await site.as('subscriber')).call,
      await site.as('author'),
      await site.as('contributor'),
    ];
    const own = await make(author.call, { title: 'Own', status: 'publish' });
    const draft = await make(editor, { title: 'Draft' });
    const post = (call: Call, path: string, json: unknown): Promise<Answer> => call(path, { method: 'POST', json });
    const rows: [string, Promise<Answer>, number, string][] = [
      ['visitor creates', post(site.call, '/posts', { title: 'x' }), 401, 'rest_cannot_create'],
      ['subscriber creates', post(subscriber, '/posts', { title: 'x' }), 403, 'rest_cannot_create'],
      [
        'contributor publishes',
        post(contributor.call, '/posts', { title: 'x', status: 'publish' }),
        403,
        'rest_cannot_publish',
      ],
      [
        'contributor makes private',
        post(contributor.call, '/posts', { title: 'x', status: 'private' }),
        403,
        'rest_cannot_publish',
      ],
      ['author for another', post(author.call, '/posts', { title: 'x', author: 1 }), 403, 'rest_cannot_edit_others'],
      ['editor for nobody', post(editor, '/posts', { title: 'x', author: 99 }), 400, 'rest_invalid_author'],
      ['unknown status', post(editor, '/posts', { title: 'x', status: 'inherit' }), 400, 'rest_invalid_param'],
      ['no text', post(editor, '/posts', {}), 400, 'empty_content'],
      ['with an id', post(editor, '/posts?id=3', { title: 'x' }), 400, 'rest_post_exists'],
      ['bad date', post(editor, '/posts', { title: 'x', date: 'soon' }), 400, 'rest_invalid_param'],
      ['bad media', post(editor, '/posts', { title: 'x', featured_media: 9 }), 400, 'rest_invalid_featured_media'],
      ["author edits another's", post(author.call, `/posts/${draft}`, { title: 'x' }), 403, 'rest_cannot_edit'],
      ["author reads another's draft", author.call(`/posts/${draft}`), 403, 'rest_forbidden'],
      ['visitor reads a draft', site.call(`/posts/${draft}`), 401, 'rest_forbidden'],
      ['visitor reads to edit', site.call(`/posts/${own}?context=edit`), 401, 'rest_forbidden_context'],
      ['visitor lists to edit', site.call('/posts?context=edit'), 401, 'rest_forbidden_context'],
      ['visitor deletes', site.call(`/posts/${own}`, { method: 'DELETE' }), 401, 'rest_cannot_delete'],
      [
        "contributor deletes another's",
        contributor.call(`/posts/${own}`, { method: 'DELETE' }),
        403,
        'rest_cannot_delete',
      ],
      ['nothing there', site.call('/posts/9999'), 404, 'rest_post_invalid_id'],
      ['a page as a post', editor(`/pages/${own}`), 404, 'rest_post_invalid_id'],
      ['page past the end', site.call('/posts?page=2'), 400, 'rest_post_invalid_page_number'],
      ['too many', site.call('/posts?per_page=101'), 400, 'rest_invalid_param'],
      ['drafts for visitors', site.call('/posts?status=draft'), 400, 'rest_invalid_param'],
      ['relevance without words', site.call('/posts?orderby=relevance'), 400, 'rest_no_search_term_defined'],
      ['include order without ids', site.call('/posts?orderby=include'), 400, 'rest_orderby_include_missing_include'],
    ];
    for (const [name, answer, status, code] of rows) expect(codeOf(await answer), name).to.deep.equal([status, code]);
    expect((await site.call('/posts?status=draft')).body.data.details.status.code).to.equal('rest_forbidden_status');
  });

  it('lists what may be read, with totals, paging, filters and order', async () => {
    for (const [title, date] of [
      ['Apple', '2025-01-01T10:00:00'],
      ['Banana', '2025-02-01T10:00:00'],
      ['Cherry', '2025-03-01T10:00:00'],
    ])
      await make(editor, { title, date, status: 'publish' });
    await make(editor, { title: 'Draft' });
    await make(editor, { title: 'Private', status: 'private' });
    const titles = async (call: Call, query: string) =>
      ((await call(`/posts${query}`)).body as { title: { rendered: string } }[]).map(({ title }) => title.rendered);
    expect(await titles(site.call, '')).to.deep.equal(['Cherry', 'Banana', 'Apple']);
    const second = await site.call('/posts?per_page=2&page=2');
    expect([
      second.headers.get('x-wp-total'),
      second.headers.get('x-wp-totalpages'),
      second.headers.get('link')?.split(', ')[0],
    ]).to.deep.equal(['3', '2', `<${site.host.url}/wp-json/wp/v2/posts?per_page=2&page=1>; rel="prev"`]);
    expect(await titles(site.call, '?search=aNaN')).to.deep.equal(['Banana']);
    expect(await titles(site.call, '?slug=apple,cherry&order=asc')).to.deep.equal(['Apple', 'Cherry']);
    expect(await titles(site.call, '?after=2025-01-15T00:00:00&before=2025-02-15T00:00:00')).to.deep.equal(['Banana']);
    expect(await titles(site.call, '?orderby=title&order=asc&offset=1')).to.deep.equal(['Banana', 'Cherry']);
    expect((await titles(editor, '?status=any')).sort()).to.deep.equal([
      'Apple',
      'Banana',
      'Cherry',
      'Draft',
      'Private',
    ]);
    expect(await titles(editor, '?status=draft,private&orderby=title&order=asc')).to.deep.equal(['Draft', 'Private']);
    expect(await titles((await site.as('author')).call, '?status=any')).to.deep.equal(['Cherry', 'Banana', 'Apple']);
    const [item] = (await site.call('/posts?_fields=id,_links&per_page=1')).body;
    expect(Object.keys(item)).to.deep.equal(['id', '_links']);
    expect(item._links['wp:attachment'][0].href).to.equal(`${site.host.url}/wp-json/wp/v2/media?parent=${item.id}`);
    expect(item._links.curies).to.deep.equal([{ name: 'wp', href: 'https://api.w.org/{rel}', templated: true }]);
  });

  it('embeds the author, and reads dates in the zone of the site', async () => {
    await site.host.options.update('timezone_string', 'America/New_York');
    const id = await make(editor, { title: 'x', status: 'publish', date: '2025-07-01T10:00:00' });
    const { body } = await site.call(`/posts/${id}?_embed`);
    expect([body.date, body.date_gmt]).to.deep.equal(['2025-07-01T10:00:00', '2025-07-01T14:00:00']);
    expect(body._embedded.author[0].name).to.match(/^editor/);
    const moved = await editor(`/posts/${id}`, { method: 'POST', json: { date_gmt: '2025-01-01T03:00:00' } });
    expect([moved.body.date, moved.body.link]).to.deep.equal(['2024-12-31T22:00:00', `${site.host.url}/2024/12/x/`]);
  });

  it('keeps scripts out of what authors, editors and programs of administrators write', async () => {
    const html =
      '<p onclick="x()" data-load="/admin/">Hi<script>alert(1)</script> <a href="javascript:x()">a</a> [b]</p><form>y</form>';
    for (const role of ['author', 'editor', 'administrator']) {
      const { body } = await (
        await site.as(role)
      ).call('/posts', { method: 'POST', json: { title: 'x', content: html } });
      expect(body.content.raw, role).to.equal('<p>Hi <a>a</a> [b]</p>y');
    }
    const administrator = await site.host.signIn();
    const draft = await site.host.content.posts.create({ title: 'x', content: html }, { as: administrator.user });
    expect(draft.content, 'an administrator').to.equal(html);
    const { user } = administrator;
    const made = (await site.host.abilities.run('host/create-draft', { title: 'x', content: html }, { user })) as {
      readonly id: number;
    };
    expect((await site.host.content.posts.get(made.id))?.content, 'an ability').to.equal('<p>Hi <a>a</a> [b]</p>y');
  });

  it('shows and sets meta that is registered for it', async () => {
    const { content } = site.host;
    const undo = [
      content.registerMeta('post', 'rating', { schema: { type: 'integer', minimum: 1 }, default: 3, showInRest: true }),
      content.registerMeta('post', '_inner', { schema: { type: 'string' }, showInRest: true }),
    ];
    const { body } = await editor('/posts', { method: 'POST', json: { title: 'x', meta: { rating: 5, other: 1 } } });
    expect(body.meta).to.deep.equal({ rating: 5, _inner: null });
    expect(await content.meta.get(body.id, 'other')).to.equal(null);
    expect(
      (await editor(`/posts/${body.id}`, { method: 'POST', json: { meta: { rating: null } } })).body.meta.rating,
    ).to.equal(3);
    expect(codeOf(await editor(`/posts/${body.id}`, { method: 'POST', json: { meta: { rating: 0 } } }))).to.deep.equal([
      400,
      'rest_invalid_param',
    ]);
    expect(
      codeOf(await editor(`/posts/${body.id}`, { method: 'POST', json: { meta: { _inner: 'x' } } })),
    ).to.deep.equal([403, 'rest_cannot_update']);
    for (const remove of undo) remove();
  });

  it('names every invalid value with its reason, as parameters of other routes', async () => {
    const post = (json: unknown) => editor('/posts', { method: 'POST', json });
    const status = 'status is not one of publish, future, draft, pending, and private.';
    expect((await post({ title: 'x', status: 'nope', date: 'soon' })).body).to.deep.equal({
      code: 'rest_invalid_param',
      message: 'Invalid parameter(s): status, date',
      data: {
        status: 400,
        params: { status, date: 'Invalid date.' },
        details: {
          status: { code: 'rest_not_in_enum', message: status, data: null },
          date: { code: 'rest_invalid_date', message: 'Invalid date.', data: null },
        },
      },
    });
    for (const [name, value, code, message] of [
      ['author', 99, 'rest_invalid_author', 'Invalid author ID.'],
      ['featured_media', 99, 'rest_invalid_featured_media', 'Invalid featured media ID.'],
    ] as const)
      expect((await post({ title: 'x', [name]: value })).body).to.deep.equal({
        code,
        message,
        data: { status: 400, params: { [name]: message }, details: { [name]: { code, message, data: null } } },
      });
    const draft = await site.host.content.posts.create({ title: 'x', status: 'auto-draft' });
    const repeated = await editor(`/posts/${draft.id}`, { method: 'POST', json: { status: 'auto-draft', title: 'y' } });
    expect([repeated.status, repeated.body.title?.raw]).to.deep.equal([200, 'y']);
    const { call: admin } = await site.as('administrator');
    const { body } = await admin('/users', {
      method: 'POST',
      json: { username: 'x', email: 'x@example.com', password: 'short' },
    });
    expect(body.data.details).to.deep.equal({
      password: { code: 'rest_invalid_param', message: body.data.params.password, data: null },
    });
  });

  it('creates nothing of a batch when one part is not valid and all must be', async () => {
    const { user, call } = await site.as('editor');
    expect(user.id).to.be.greaterThan(0);
    const count = () => site.host.content.posts.count({ status: 'any' });
    const before = await count();
    const batch = (validation: string, parts: readonly unknown[]) =>
      call('/../../batch/v1', {
        method: 'POST',
        json: { validation, requests: parts.map((body) => ({ path: '/wp/v2/posts', body })) },
      });
    for (const wrong of [{ status: 'nope' }, { author: 99 }, { featured_media: 99 }, { date: 'soon' }]) {
      const { status, body } = await batch('require-all-validate', [{ title: 'Fine' }, { title: 'x', ...wrong }]);
      expect([status, body.failed, body.responses[0], body.responses[1].status]).to.deep.equal([
        207,
        'validation',
        null,
        400,
      ]);
      expect(body.responses[1].body.data.params).to.have.keys(...Object.keys(wrong));
      expect(await count(), JSON.stringify(wrong)).to.equal(before);
    }
    const { body } = await batch('require-all-validate', [{ title: 'One' }, { title: 'Two' }]);
    expect(body.responses.map((one: { status: number }) => one.status)).to.deep.equal([201, 201]);
    expect(await count()).to.equal(before + 2);
  });

  it('has revisions for those who may edit', async () => {
    const id = await make(editor, { title: 'x', content: 'one', status: 'publish' });
    await editor(`/posts/${id}`, { method: 'PUT', json: { content: 'two' } });
    const list = await editor(`/posts/${id}/revisions`);
    expect(
      list.body.map(({ content, parent }: { content: { rendered: string }; parent: number }) => [
        content.rendered,
        parent,
      ]),
    ).to.deep.equal([
      ['<p>two</p>\n', id],
      ['<p>one</p>\n', id],
    ]);
    const [newest] = list.body;
    expect(codeOf(await site.call(`/posts/${id}/revisions`))).to.deep.equal([401, 'rest_cannot_read']);
    expect(codeOf(await editor(`/posts/999/revisions`))).to.deep.equal([404, 'rest_post_invalid_parent']);
    expect(codeOf(await editor(`/posts/${id}/revisions/${newest.id}`, { method: 'DELETE' }))).to.deep.equal([
      501,
      'rest_trash_not_supported',
    ]);
    expect(
      (await editor(`/posts/${id}/revisions/${newest.id}?force=true`, { method: 'DELETE' })).body.deleted,
    ).to.equal(true);
    expect(codeOf(await editor(`/posts/${id}/revisions/${newest.id}`))).to.deep.equal([404, 'rest_post_invalid_id']);
  });

  it('runs the hooks of REST, and registers routes of new types until they go', async () => {
    const { hooks, content } = site.host;
    const seen: unknown[] = [];
    hooks.addFilter('rest_pre_insert_post', (input: { title: string }) => ({ ...input, title: `${input.title}!` }));
    hooks.addFilter('rest_prepare_post', (response: { body: Record<string, unknown> }) => {
      response.body['extra'] = 1;
      return response;
    });
    hooks.addAction('rest_after_insert_post', (post: { title: string }, _request: unknown, creating: boolean) =>
      seen.push([post.title, creating]),
    );
    const { body } = await editor('/posts', { method: 'POST', json: { title: 'x' } });
    expect([body.title.raw, body.extra, seen]).to.deep.equal(['x!', 1, [['x!', true]]]);

    const undo = content.registerPostType('book', {
      label: 'Books',
      singularLabel: 'Book',
      public: true,
      showInRest: true,
      restBase: 'books',
      supports: ['title', 'editor'],
    });
    expect((await editor('/books', { method: 'POST', json: { title: 'Moby', status: 'publish' } })).body.link).to.equal(
      `${site.host.url}/book/moby/`,
    );
    expect((await site.call('/types')).body.book.rest_base).to.equal('books');
    undo();
    expect(codeOf(await site.call('/books'))).to.deep.equal([404, 'rest_no_route']);
  });

  it('answers types and statuses', async () => {
    expect(Object.keys((await site.call('/types')).body)).to.deep.equal(['post', 'page', 'attachment']);
    expect((await site.call('/types/page')).body).to.deep.include({
      slug: 'page',
      rest_base: 'pages',
      hierarchical: true,
    });
    expect((await editor('/types/post?context=edit')).body.capabilities.edit_posts).to.equal('edit_posts');
    expect(codeOf(await site.call('/types/none'))).to.deep.equal([404, 'rest_type_invalid']);
    expect(codeOf(await site.call('/types?context=edit'))).to.deep.equal([401, 'rest_cannot_view']);
    expect(Object.keys((await site.call('/statuses')).body)).to.deep.equal(['publish']);
    expect(Object.keys((await editor('/statuses')).body)).to.deep.equal([
      'publish',
      'future',
      'draft',
      'pending',
      'private',
      'trash',
    ]);
    expect(codeOf(await site.call('/statuses/draft'))).to.deep.equal([401, 'rest_cannot_read_status']);
    expect(codeOf(await site.call('/statuses/none'))).to.deep.equal([404, 'rest_status_invalid']);
  });
});
