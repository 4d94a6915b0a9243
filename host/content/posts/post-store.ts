import { randomUUID } from 'node:crypto';
import type { Knex, Post, PostQuery } from '#plugin-api';
import type { Database } from '../../database/database-contract.ts';
import { orderPosts, selectPosts, type PostQueryDependencies } from './post-query.ts';
import { postColumns, toPost, toRow, type PostData, type PostRow } from './post-row.ts';
import type { PostFacts } from '../types/meta-capabilities.ts';

export interface PostStoreDependencies extends Omit<PostQueryDependencies, 'knex'> {
  readonly database: Pick<Database, 'knex' | 'notify' | 'listen'>;
  readonly facts: FactsCache;
}

/** The SQL of posts. Every post read or written is noted for the capabilities; other nodes forget what changed. */
export interface PostStore {
  get(id: number): Promise<Post | null>;
  find(query: PostQuery): Promise<Post[]>;
  count(query: PostQuery): Promise<number>;
  insert(post: PostData, slugKey: string | null): Promise<Post>;
  update(id: number, post: PostData, slugKey: string | null): Promise<Post>;
  remove(ids: readonly number[]): Promise<void>;
  /** Ids of all posts directly below one, without its revisions. */
  childIds(postId: number): Promise<number[]>;
  /** Ids of a post's revisions, newest first. */
  revisionIds(postId: number): Promise<number[]>;
  /** Slug keys in use that begin with `prefix`, but for the post's own. */
  slugKeys(prefix: string, exceptId: number): Promise<Set<string>>;
  /** Ids of all an author wrote, without revisions. */
  authorPosts(authorId: number): Promise<number[]>;
  /** Ids of users who have published something. */
  publishedAuthors(): Promise<number[]>;
  /** Begins to hear of what other nodes change. */
  follow(): Promise<void>;
}

const channel = 'content_posts';

const isId = (id: number): boolean => Number.isInteger(id) && id > 0 && id < 2 ** 31;

export function createPostStore({ database, types, statuses, facts }: PostStoreDependencies): PostStore {
  const { knex } = database;
  const query = { knex, types, statuses };
  const noted = (post: Post): Post => {
    facts.note(post);
    return post;
  };
  /** This node knows of its own writes; to forget them when the announcement comes back would lose what it just learned. */
  const self = randomUUID();
  const announce = (id: number): Promise<void> => database.notify(channel, `${self} ${id}`);

  return {
    async get(id) {
      const row = isId(id)
        ? await knex<PostRow>('posts').where({ id }).first<PostRow | undefined>(postColumns)
        : undefined;
      return row ? noted(toPost(row)) : null;
    },
    async find(wanted) {
      const select = orderPosts(selectPosts(query, wanted).select(postColumns), query, wanted);
      const rows = (await select.limit(wanted.limit ?? 10).offset(wanted.offset ?? 0)) as PostRow[];
      return rows.map(toPost).map(noted);
    },
    async count(wanted) {
      const row = (await selectPosts(query, wanted).count({ total: '*' }).first()) as
        { total: number | string } | undefined;
      return Number(row?.total ?? 0);
    },
    async insert(post, slugKey) {
      const [inserted] = (await knex('posts').insert(toRow(post, slugKey)).returning('id')) as { id: number }[];
      return noted({ ...post, id: Number(inserted?.id) });
    },
    async update(id, post, slugKey) {
      await knex('posts').where({ id }).update(toRow(post, slugKey));
      await announce(id);
      return noted({ ...post, id });
    },
    async remove(ids) {
      for (const batch of inBatches(ids)) await knex('posts').whereIn('id', batch).delete();
      for (const id of ids) {
        facts.forget(id);
        await announce(id);
      }
    },
    childIds: (postId) =>
      idsOf(knex('posts').where({ parent_id: postId }).whereNot({ type: 'revision' }).orderBy('id')),
    async revisionIds(postId) {
      return idsOf(
        knex('posts').where({ type: 'revision', parent_id: postId }).orderBy('date', 'desc').orderBy('id', 'desc'),
      );
    },
    async slugKeys(prefix, exceptId) {
      const rows = (await knex('posts')
        .whereRaw(`slug_key like ? escape '\\'`, [`${prefix.replace(/[\\%_]/g, '\\$&')}%`])
        .whereNot('id', exceptId)
        .select('slug_key')) as { slug_key: string }[];
      return new Set(rows.map((row) => row.slug_key));
    },
    authorPosts: (authorId) =>
      idsOf(knex('posts').where({ author_id: authorId }).whereNot({ type: 'revision' }).orderBy('id')),
    async publishedAuthors() {
      const rows = (await knex('posts')
        .where({ status: 'publish' })
        .where('author_id', '>', 0)
        .distinct('author_id')) as { author_id: number }[];
      return rows.map(({ author_id }) => Number(author_id));
    },
    async follow() {
      await database.listen(
        channel,
        (payload) => {
          const [from, id] = payload.split(' ');
          if (from !== self) facts.forget(Number(id));
        },
        () => facts.clear(),
      );
    },
  };
}

async function idsOf(select: Knex.QueryBuilder): Promise<number[]> {
  return ((await select.select('id')) as { id: number }[]).map(({ id }) => Number(id));
}

/** Databases take a limited number of values in one statement. */
function inBatches(ids: readonly number[]): number[][] {
  return Array.from({ length: Math.ceil(ids.length / 500) }, (_, index) => ids.slice(index * 500, index * 500 + 500));
}

interface FactsCache {
  get(id: number): PostFacts | undefined;
  note(post: PostFacts): void;
  forget(id: number): void;
  clear(): void;
}

/**
 * What capabilities need to know of posts read lately: `user.can('edit_post', 7)` must answer at once, and the database
 * cannot. A post that is not here is refused to everybody, never granted.
 *
 * @param capacity posts kept, the ones read last.
 */
export function createFactsCache(capacity = 10_000): FactsCache {
  const facts = new Map<number, PostFacts>();
  return {
    get: (id) => facts.get(id),
    note({ id, type, status, authorId, parentId, trashedFrom }) {
      facts.delete(id);
      facts.set(id, { id, type, status, authorId, parentId, trashedFrom });
      if (facts.size > capacity) facts.delete(facts.keys().next().value ?? id);
    },
    forget: (id) => void facts.delete(id),
    clear: () => facts.clear(),
  };
}
