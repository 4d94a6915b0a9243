import { randomUUID } from 'node:crypto';
import { argumentBounds, type Knex, type Post, type PostQuery } from '#plugin-api';
import type { Database } from '../../database/database-contract.ts';
import type { CountCache } from '../count-cache.ts';
import {
  fromNearerEnd,
  isPlain,
  selectPage,
  selectPosts,
  wantedStatuses,
  wantedTypes,
  type PostQueryDependencies,
} from './post-query.ts';
import { findListed, forgetPosts, updateTermsOf, withChildTerms } from '../taxonomies/posts-of-terms.ts';
import { contentErrors } from '../errors.ts';
import { postColumns, shortColumns, textColumns, toPost, toRow, type PostData, type PostRow } from './post-row.ts';
import type { PostFacts } from '../types/meta-capabilities.ts';

export interface PostStoreDependencies extends Omit<PostQueryDependencies, 'knex' | 'dialect'> {
  readonly database: Pick<Database, 'knex' | 'dialect' | 'lock' | 'notify' | 'listen' | 'readNumbers'>;
  readonly facts: FactsCache;
  readonly counts: CountCache;
}

/** How much text a list reads (D46). */
export interface ReadTexts {
  /** Bytes of the contents of a list of more than ten posts. Default: no limit. */
  readonly most?: number;
  /** Whether `content` and `excerpt` are read. Without them they are ''. Default: true. */
  readonly read?: boolean;
}

/** The SQL of posts. Caches the facts of every post read or written; other nodes drop changed posts from their caches. */
export interface PostStore {
  get(id: number): Promise<Post | null>;
  /** Inside a transaction: reads the post, which no other transaction changes until the end of this one. */
  getLocked(id: number): Promise<Post | null>;
  /**
   * A search runs beside the event loop on SQLite.
   *
   * @param total of the query, if known: pages of the second half are then read from the end.
   * @throws rest_list_too_large before more than ten posts are read whose texts exceed `most`.
   */
  find(query: PostQuery, total?: number, texts?: ReadTexts): Promise<Post[]>;
  count(query: PostQuery): Promise<number>;
  /** Numbers by status, without those of which there are none. */
  countByStatus(query: Omit<PostQuery, 'status'>): Promise<ReadonlyMap<string, number>>;
  insert(post: PostData, slugKey: string | null): Promise<Post>;
  /** Inside a transaction, as `remove`. */
  update(id: number, post: PostData, slugKey: string | null): Promise<Post>;
  remove(ids: readonly number[]): Promise<void>;
  /** Ids of child posts, without revisions. */
  childIds(postId: number): Promise<number[]>;
  /** Ids of the revisions of a post without autosaves, newest first. */
  revisionIds(postId: number): Promise<number[]>;
  /** Ids of the autosaves of a post, newest first. They are revisions, one for each user. */
  autosaveIds(postId: number): Promise<number[]>;
  /** Which of the slug keys other posts have. */
  takenSlugKeys(keys: readonly string[], exceptId: number): Promise<Set<string>>;
  /** Ids of the posts of an author, without revisions. */
  authorPosts(authorId: number): Promise<number[]>;
  /** Ids of users with published posts. */
  publishedAuthors(): Promise<number[]>;
  /** Starts listening for changes of other nodes. */
  follow(): Promise<void>;
}

const channel = 'content_posts';
/** From here on, the ids of a page are read first: an index has them, and the rows before the page are not read. */
const deepOffset = 1_000;
/** Posts of a page by default. So many may be as long as a post can be. */
const usualPage = 10;
/** Bytes of the contents of a list that REST reads (D46). */
export const longestList = usualPage * argumentBounds.document.maxLength;

/** Slug of the autosaves of a post, as in WordPress. */
export function autosaveSlug(postId: number): string {
  return `${postId}-autosave-v1`;
}

const isId = (id: number): boolean => Number.isInteger(id) && id > 0 && id < 2 ** 31;

export function createPostStore({ database, types, statuses, facts, counts }: PostStoreDependencies): PostStore {
  const { knex, dialect } = database;
  const query = { knex, dialect, types, statuses };
  const cached = (post: Post): Post => {
    facts.set(post);
    return post;
  };
  const revisionsOf = (postId: number): Knex.QueryBuilder =>
    knex('posts').where({ type: 'revision', parent_id: postId }).orderBy('date', 'desc').orderBy('id', 'desc');
  async function rowsOf(ids: readonly number[], { read = true, most = Infinity }: ReadTexts = {}): Promise<PostRow[]> {
    if (read && most < Infinity && ids.length > usualPage) {
      const bytes = await knex('posts')
        .whereIn('id', ids)
        .sum({ total: knex.raw('octet_length(content)') })
        .first();
      if (Number(bytes?.['total'] ?? 0) > most) throw contentErrors.rest_list_too_large();
    }
    const columns = read ? postColumns : [...shortColumns, ...textColumns.map((name) => knex.raw(`'' as ${name}`))];
    const rows = await knex<PostRow>('posts').whereIn('id', ids).select<PostRow[]>(columns);
    const byId = new Map(rows.map((row) => [Number(row.id), row]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  }
  /** Runs beside the event loop: a search reads the texts of all that is found. */
  async function searchNumbers(select: Knex.QueryBuilder): Promise<number[]> {
    const { sql, bindings } = select.toSQL().toNative();
    return [...(await database.readNumbers({ sqlite: sql, postgresql: sql }, bindings as (string | number)[]))];
  }
  async function count(asked: PostQuery): Promise<number> {
    if (isPlain(query, asked)) return countPlain(query, asked, counts);
    const wanted = await withChildTerms(database, asked);
    const listed = findListed(database, wanted);
    if (listed !== null) return listed.count();
    const counted = selectPosts(query, wanted).count({ total: '*' });
    if (isSearch(asked)) return (await searchNumbers(counted))[0] ?? 0;
    const row = (await counted.first()) as { total: number | string };
    return Number(row.total);
  }
  /** Identifies this node, so that it ignores its own notifications and keeps its cache. */
  const self = randomUUID();
  const notifyNodes = (id: number): Promise<void> => database.notify(channel, `${self} ${id}`);

  return {
    async get(id) {
      const row = isId(id)
        ? await knex<PostRow>('posts').where({ id }).first<PostRow | undefined>(postColumns)
        : undefined;
      return row ? cached(toPost(row)) : null;
    },
    async getLocked(id) {
      const select = knex('posts').where({ id }).first(postColumns);
      const row = (await (database.dialect === 'postgresql' ? select.forUpdate() : select)) as PostRow | undefined;
      return row ? toPost(row) : null;
    },
    async find(asked, total = 0, texts = {}) {
      const { query: wanted, isReversed } = fromNearerEnd(await withChildTerms(database, asked), total);
      const listed = findListed(database, wanted);
      const select = selectPage(query, wanted);
      const isWhole = texts.read !== false && texts.most === undefined;
      const findIds = (): Promise<number[]> =>
        isSearch(asked) ? searchNumbers(select.select('posts.id')) : selectIds(select);
      const rows =
        listed !== null || isSearch(asked) || !isWhole || (wanted.offset ?? 0) >= deepOffset
          ? await rowsOf(await (listed?.ids() ?? findIds()), texts)
          : ((await select.select(postColumns)) as PostRow[]);
      const posts = (isReversed ? rows.reverse() : rows).map(toPost);
      return texts.read === false ? posts : posts.map(cached);
    },
    async countByStatus(wanted) {
      const known = statuses.all().map(({ name }) => name);
      const all = { ...(await withChildTerms(database, wanted)), status: known };
      if (isPlain(query, all)) {
        const counted = await Promise.all(
          known.map(async (status) => [status, await count({ ...all, status })] as const),
        );
        return new Map(counted.filter(([, number]) => number > 0));
      }
      const rows = (await selectPosts(query, all)
        .groupBy('posts.status')
        .select('posts.status')
        .count({ total: '*' })) as { status: string; total: number | string }[];
      return new Map(rows.map(({ status, total }) => [status, Number(total)]));
    },
    count,
    async insert(post, slugKey) {
      const [inserted] = (await knex('posts').insert(toRow(post, slugKey)).returning('id')) as { id: number }[];
      if (post.type !== 'revision') await counts.changed('posts');
      return cached({ ...post, id: Number(inserted?.id) });
    },
    async update(id, post, slugKey) {
      await knex('posts').where({ id }).update(toRow(post, slugKey));
      if (post.type !== 'revision') {
        await updateTermsOf(database, { ...post, id });
        await counts.changed('posts');
      }
      await notifyNodes(id);
      return cached({ ...post, id });
    },
    async remove(ids) {
      for (const batch of inBatches(ids)) {
        await forgetPosts(database, batch);
        await knex('posts').whereIn('id', batch).delete();
      }
      await counts.changed('posts');
      // Theirs are deleted too.
      await counts.changed('comments');
      for (const id of ids) {
        facts.forget(id);
        await notifyNodes(id);
      }
    },
    childIds: (postId) =>
      selectIds(knex('posts').where({ parent_id: postId }).whereNot({ type: 'revision' }).orderBy('id')),
    revisionIds: (postId) => selectIds(revisionsOf(postId).whereNot({ slug: autosaveSlug(postId) })),
    autosaveIds: (postId) => selectIds(revisionsOf(postId).where({ slug: autosaveSlug(postId) })),
    async takenSlugKeys(keys, exceptId) {
      const rows = (await knex('posts').whereIn('slug_key', keys).whereNot('id', exceptId).select('slug_key')) as {
        slug_key: string;
      }[];
      return new Set(rows.map((row) => row.slug_key));
    },
    authorPosts: (authorId) =>
      selectIds(knex('posts').where({ author_id: authorId }).whereNot({ type: 'revision' }).orderBy('id')),
    async publishedAuthors() {
      // From one author to the next in an index, because there are far fewer authors than posts.
      const next = 'select min(author_id) from posts where author_id >';
      const authors = knex
        .withRecursive(
          'authors',
          ['id'],
          knex.raw(`${next} 0 union all select (${next} authors.id) from authors where id > 0`),
        )
        .from('authors')
        .where('id', '>', 0)
        .whereExists(knex('posts').select('posts.id').whereRaw('author_id = authors.id').where({ status: 'publish' }));
      return ((await authors.pluck('id')) as number[]).map(Number);
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

const isSearch = ({ search = '' }: PostQuery): boolean => search.trim() !== '';

async function selectIds(select: Knex.QueryBuilder): Promise<number[]> {
  return ((await select.select('posts.id')) as { id: number }[]).map(({ id }) => Number(id));
}

/** Databases limit the number of values in one statement. */
function inBatches(ids: readonly number[]): number[][] {
  return Array.from({ length: Math.ceil(ids.length / 500) }, (_, index) => ids.slice(index * 500, index * 500 + 500));
}

/** The number of posts of a query with no other conditions than types and statuses. */
async function countPlain(given: PostQueryDependencies, query: PostQuery, counts: CountCache): Promise<number> {
  const read = async (type: string): Promise<ReadonlyMap<string, number>> => {
    const rows = given.knex('posts').where({ type }).groupBy('status').select('status').count({ total: '*' });
    const found = (await rows) as { status: string; total: number | string }[];
    return new Map(found.map(({ status, total }) => [status, Number(total)]));
  };
  const status = wantedStatuses(given, query);
  let count = 0;
  for (const type of new Set(wantedTypes(given, query)))
    for (const [name, total] of await counts.get('posts', type, () => read(type)))
      if ('in' in status ? status.in.includes(name) : !status.notIn.includes(name)) count += total;
  return count;
}

interface FactsCache {
  get(id: number): PostFacts | undefined;
  set(post: PostFacts): void;
  forget(id: number): void;
  clear(): void;
}

/**
 * Caches facts of recently read posts, because `user.can('edit_post', 7)` is synchronous. Access to a post that is not
 * cached is denied.
 *
 * @param capacity number of most recently read posts.
 */
export function createFactsCache(capacity = 10_000): FactsCache {
  const facts = new Map<number, PostFacts>();
  return {
    get: (id) => facts.get(id),
    set({ id, type, status, authorId, parentId, trashedFrom }) {
      facts.delete(id);
      facts.set(id, { id, type, status, authorId, parentId, trashedFrom });
      if (facts.size > capacity) facts.delete(facts.keys().next().value ?? id);
    },
    forget: (id) => void facts.delete(id),
    clear: () => facts.clear(),
  };
}
