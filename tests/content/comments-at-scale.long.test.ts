import { expect } from 'chai';
import type { Comment, CommentData, CommentQuery, CommentState, Knex, Post, User } from '#plugin-api';
import { createCountCache } from '../../host/content/count-cache.ts';
import { createCommentStore, type CommentStore } from '../../host/content/comments/comment-store.ts';
import { validIds } from '../../host/content/posts/post-query.ts';
import { whereVisible } from '../../host/content/types/meta-capabilities.ts';
import { createPostStatuses } from '../../host/content/types/post-statuses.ts';
import { createPostTypes } from '../../host/content/types/post-types.ts';
import { describeSharedHosts } from '../helpers/dialects.ts';
import { shareSite } from '../helpers/share-site.ts';
import { openContentSite, type ContentSite } from './content-site.ts';

const states = ['approved', 'hold', 'spam', 'trash'] as const;
const roles = ['administrator', 'editor', 'author', 'contributor', 'subscriber'] as const;

/** The same numbers in each run. */
function createRandom(): (below: number) => number {
  let seed = 7;
  return (below) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
}

describeSharedHosts('lists of comments without a join', (dialectCase) => {
  const shared = shareSite(() => openContentSite(dialectCase));
  let site: ContentSite;
  let store: CommentStore;
  let readers: { readonly name: string; readonly user: User }[];
  let posts: Post[];
  let ids: number[];

  /** A post, whatever the rules for its status are. */
  async function makePost(fields: Readonly<Record<string, unknown>>): Promise<Post> {
    const post = await site.host.content.posts.create({ title: 'Post', status: 'publish', commentStatus: 'open' });
    await site.host.database.knex('posts').where({ id: post.id }).update(fields);
    return { ...post, password: typeof fields['password'] === 'string' ? fields['password'] : '' };
  }

  function comment(fields: Partial<CommentData>): CommentData {
    const author = { userId: 0, authorName: 'Ada', authorEmail: 'ada@example.com', authorUrl: '', authorIp: '' };
    const rest = { authorAgent: '', date: 1_000, content: 'Text', status: 'approved', statusBefore: null } as const;
    return { postId: posts[0]?.id ?? 0, parentId: 0, ...author, ...rest, ...fields };
  }

  beforeEach(async () => {
    site = shared();
    const { database } = site.host;
    store = createCommentStore({
      ...{ database, types: createPostTypes(), statuses: createPostStatuses() },
      counts: createCountCache(database),
    });
    const users = await Promise.all(roles.map(async (name) => ({ name, user: (await site.as(name)).user })));
    const visitor = await site.host.users.get(0);
    readers = [...users, { name: 'visitor', user: visitor ?? ({ id: 0, can: () => false } as unknown as User) }];
    const author = users.find(({ name }) => name === 'author')?.user.id ?? 0;
    posts = [];
    for (const fields of [
      { status: 'publish' },
      { author_id: author },
      { password: 'secret' },
      { password: 'secret', author_id: author },
      { status: 'draft' },
      { status: 'draft', author_id: author },
      { status: 'private' },
      { status: 'trash' },
      { status: 'trash', author_id: author },
      { status: 'unknown' },
      { type: 'gone', status: 'pending' },
      { type: 'page', status: 'pending' },
    ])
      posts.push(await makePost(fields));
    const [open, , , , draft] = posts;
    for (const parent of [0, open?.id, draft?.id, 2_000_000])
      posts.push(await makePost({ type: 'attachment', status: 'inherit', parent_id: parent }));
    const random = createRandom();
    const words = ['tea', 'green', '50%', '"very"', 'a_b', 'ok', "o'clock", 'back\\slash'];
    ids = [];
    for (let number = 0; number < 120; number += 1) {
      const { id } = await store.insert(
        comment({
          postId: posts[random(posts.length)]?.id ?? 0,
          parentId: number > 20 && random(3) === 0 ? (ids[random(ids.length)] ?? 0) : 0,
          userId: random(3) === 0 ? (readers[random(readers.length)]?.user.id ?? 0) : 0,
          date: random(40) * 1_000,
          content: Array.from({ length: 3 }, () => words[random(words.length)]).join(' '),
          status: states[random(4)] ?? 'hold',
        }),
      );
      ids.push(id);
    }
  });

  /** What the store must find, by reading the post of each comment. */
  async function expected(query: CommentQuery, wanted: readonly CommentState[]): Promise<number[]> {
    const { knex, dialect } = site.host.database;
    const select = knex('comments').join('posts', 'posts.id', 'comments.post_id').whereIn('comments.status', wanted);
    if (query.posts) void select.whereIn('comments.post_id', validIds(query.posts));
    if (query.parents) void select.whereIn('comments.parent_id', query.parents);
    for (const word of (query.search ?? '').split(' ').filter((text) => text !== ''))
      void select.whereRaw(`comments.search_text like ? escape '!'`, [`%${word.replace(/[!%_]/g, '!$&')}%`]);
    const user = query.visibleTo?.user;
    if (user) {
      whereVisible(select, { knex, dialect, types: createPostTypes(), statuses: createPostStatuses() } as never, user);
      wherePlain(select, user, query.visibleTo?.unlockedPost);
    }
    const column = { date: 'date', post: 'post_id', parent: 'parent_id', id: 'id', include: 'id' };
    const direction = query.order ?? 'desc';
    return (
      (await select
        .orderBy(`comments.${column[query.orderBy ?? 'date']}`, direction)
        .orderBy('comments.id', direction)
        .pluck('comments.id')) as unknown[]
    ).map(Number);
  }

  function wherePlain(select: Knex.QueryBuilder, user: User, unlocked = 0): void {
    void select.whereNot('posts.status', 'trash').where((open) => {
      void open.where('posts.password', '').orWhere('posts.id', unlocked);
      if (user.id > 0) void open.orWhere('posts.author_id', user.id);
      if (user.can('edit_others_posts')) void open.orWhereRaw('1 = 1');
    });
    if (user.can('moderate_comments')) return;
    void select.where((own) => {
      void own.where('comments.status', 'approved');
      if (user.id > 0) void own.orWhere('comments.user_id', user.id);
      if (user.can('edit_published_posts')) void own.orWhere('posts.author_id', user.id);
    });
  }

  async function compare(name: string, query: CommentQuery): Promise<number> {
    const wanted = query.status === undefined ? (['approved', 'hold'] as const) : [query.status];
    const right = await expected(query, wanted);
    const found = async (page: Partial<CommentQuery>): Promise<number[]> =>
      (await store.find({ ...query, ...page })).map(({ id }: Comment) => id);
    expect(await found({ limit: 500 }), name).to.deep.equal(right);
    expect(await found({ limit: 7, offset: 5 }), name).to.deep.equal(right.slice(5, 12));
    expect(await store.count(query), name).to.equal(right.length);
    const byState = await store.countByState(query);
    for (const state of states)
      expect(byState[state], `${name} ${state}`).to.equal((await expected(query, [state])).length);
    return right.length;
  }

  it('find and count what each reader may read, in each state and order', async () => {
    for (const { name, user } of readers)
      for (const status of [undefined, ...states])
        for (const [orderBy, order] of [
          ['date', 'desc'],
          ['date', 'asc'],
          ['post', 'desc'],
          ['parent', 'asc'],
          ['id', 'desc'],
        ] as const)
          await compare(`${name} ${status} ${orderBy} ${order}`, {
            ...{ visibleTo: { user }, orderBy, order },
            ...(status && { status }),
          });
  });

  it('find and count the comments and threads of a post, also behind its password', async () => {
    for (const { name, user } of readers)
      for (const { id, password } of posts)
        for (const parents of [undefined, [0], ids])
          for (const unlockedPost of [undefined, ...(password === '' ? [] : [id])])
            await compare(`${name} ${id} ${parents?.length} ${unlockedPost}`, {
              posts: [id],
              ...(parents && { parents }),
              visibleTo: { user, ...(unlockedPost !== undefined && { unlockedPost }) },
              order: 'asc',
            });
  });

  it('search for several words, quotes, wildcards and two characters', async () => {
    let found = 0;
    for (const search of [
      'tea',
      'tea green',
      'green ok',
      '50%',
      '%',
      '_',
      'a_b',
      '"very"',
      "o'cl",
      'k\\s',
      'ok',
      'e" OR',
      'ada',
    ])
      for (const { name, user } of readers)
        found += await compare(`${name} ${search}`, { search, visibleTo: { user } });
    expect(found).to.be.greaterThan(100);
  });

  it('neither repeat nor skip a comment on deep pages, for a moderator and a visitor', async () => {
    const { knex } = site.host.database;
    const [first] = (await knex('comments').limit(1)) as Record<string, unknown>[];
    const { id: _, ...row } = first ?? {};
    for (let part = 0; part < 22; part += 1)
      await knex('comments').insert(
        Array.from({ length: 40 }, (_item, index) => ({
          ...row,
          post_id: posts[(part + index) % posts.length]?.id,
          date: ((part * 40 + index) % 50) * 1_000,
          status: index % 3 === 0 ? 'hold' : 'approved',
        })),
      );
    const { knex: same, dialect, transaction } = site.host.database;
    const deep = createCommentStore({
      database: { knex: same, dialect, transaction },
      types: createPostTypes(),
      statuses: createPostStatuses(),
      counts: createCountCache(site.host.database),
      deepOffset: 20,
    });
    for (const { name, user } of readers.filter((reader) =>
      ['administrator', 'author', 'visitor'].includes(reader.name),
    ))
      for (const orderBy of ['date', 'post', 'parent'] as const)
        for (const order of ['asc', 'desc'] as const) {
          const query = { visibleTo: { user }, orderBy, order };
          const right = await expected(query, ['approved', 'hold']);
          for (const total of [undefined, right.length]) {
            const found: number[] = [];
            for (let offset = 0; offset <= right.length; offset += 60)
              found.push(...(await deep.find({ ...query, offset, limit: 60 }, total)).map(({ id }) => id));
            expect(found, `${name} ${orderBy} ${order}`).to.deep.equal(right);
          }
        }
  });

  it('show the tabs, the total and the last page to a moderator', async () => {
    const { user, open } = await site.host.signIn();
    const counts = await store.countByState({ visibleTo: { user } });
    const all = (await expected({ visibleTo: { user } }, ['approved', 'hold'])).length;
    const { text } = await open('comments?page=999');
    const shown = text.replace(/\s+/g, ' ');
    expect(shown).to.contain(`All (${all})`).and.to.contain(`Pending (${counts.hold})`);
    expect(shown).to.contain(`Spam (${counts.spam})`).and.to.contain(`Trash (${counts.trash})`);
    expect(new Set(text.match(/#comment-\d+/g)).size).to.equal(all % 20 || 20);
  });
});
