import type { Knex, PostQuery, TermFilter } from '#plugin-api';
import type { Database } from '../../database/database-contract.ts';
import type { PostRow } from '../posts/post-row.ts';

export type TermsDatabase = Pick<Database, 'knex' | 'dialect' | 'lock'>;

const largestId = 2 ** 31 - 1;

/** Removes numbers that cannot be ids, which PostgreSQL would reject. */
export function validTermIds(ids: readonly number[]): number[] {
  return ids.filter((id) => Number.isInteger(id) && id > 0 && id <= largestId);
}

export interface PostTermRow {
  readonly term_id: number;
  readonly published_at: number | string | null;
}

export type ListedPost = Pick<PostRow, 'type' | 'status' | 'date'>;

export const isPublished = ({ published_at: at }: PostTermRow): boolean => at !== null;

export function toListed({ type, status, date }: ListedPost): {
  readonly post_type: string;
  readonly published_at: number | null;
} {
  return { post_type: type, published_at: status === 'publish' ? Number(date) : null };
}

/** Inside a transaction: what the terms of a saved post know of it. */
export async function updateTermsOf(
  database: TermsDatabase,
  post: ListedPost & { readonly id: number },
): Promise<void> {
  const rows = (): Knex.QueryBuilder => database.knex('term_posts').where({ post_id: post.id });
  const listed = toListed(post);
  const before = (await rows().select('term_id', 'post_type', 'published_at')) as (PostTermRow & {
    post_type: string;
  })[];
  const isSame = (row: PostTermRow & { readonly post_type: string }): boolean =>
    row.post_type === listed.post_type && (isPublished(row) ? Number(row.published_at) : null) === listed.published_at;
  if (before.every(isSame)) return;
  await rows().update(listed);
  const is = listed.published_at !== null;
  await addToCounts(
    database,
    before.filter((row) => isPublished(row) !== is).map(({ term_id: id }) => ({ id: Number(id), by: is ? 1 : -1 })),
  );
}

/** Inside a transaction, before the posts are deleted. */
export async function forgetPosts(database: TermsDatabase, postIds: readonly number[]): Promise<void> {
  const rows = (await database
    .knex('term_posts')
    .whereIn('post_id', postIds)
    .whereNotNull('published_at')
    .groupBy('term_id')
    .select({ id: 'term_id' })
    .count({ count: '*' })) as { id: number; count: number | string }[];
  await addToCounts(
    database,
    rows.map(({ id, count }) => ({ id: Number(id), by: -Number(count) })),
  );
}

/** With a lock, because transactions that update the counts of several terms in different orders block each other. */
export async function addToCounts(
  database: TermsDatabase,
  changes: readonly { readonly id: number; readonly by: number }[],
): Promise<void> {
  if (changes.length === 0) return;
  await database.lock('content_term_counts');
  for (const { id, by } of changes) await database.knex('terms').where({ id }).increment('post_count', by);
}

/** Conditions that `findListed` knows, and those of the page. */
const listedConditions = new Set(['type', 'status', 'terms', 'visibleTo', 'orderBy', 'order', 'limit', 'offset']);

export interface ListedPosts {
  count(): Promise<number>;
  /** Ids of the page. */
  ids(): Promise<number[]>;
}

/**
 * The published posts that have a term, read from the index of the terms alone; null if the query has other conditions. To list
 * or to count a million posts, the database would have to read them otherwise.
 *
 * @param query of `withChildTerms`.
 */
export function findListed(
  { knex }: Pick<Database, 'knex'>,
  { type = 'post', status = 'publish', orderBy = 'date', terms: filters = [], ...query }: PostQuery,
): ListedPosts | null {
  const [[filter], types] = [filters, [type].flat()];
  const isOther = Object.entries(query).some(([name, value]) => value !== undefined && !listedConditions.has(name));
  if (isOther || String(status) !== 'publish' || orderBy !== 'date' || types.includes('any')) return null;
  if (filter === undefined || filters.length > 1 || (filter.operator ?? 'IN') !== 'IN') return null;
  const ids = validTermIds(filter.ids);
  const select = (): Knex.QueryBuilder =>
    knex('term_posts').whereIn('term_id', ids).whereIn('post_type', types).whereNotNull('published_at');
  const { order = 'desc', limit = 10, offset = 0 } = query;
  return {
    async count() {
      const stored = await storedCount(knex, ids, types);
      if (stored !== null) return stored;
      const rows = ids.length === 1 ? select().count({ total: '*' }) : select().countDistinct({ total: 'post_id' });
      return Number(((await rows.first()) as { total: number | string }).total);
    },
    async ids() {
      const rows = select().orderBy('published_at', order).orderBy('post_id', order).limit(limit).offset(offset);
      // A post may have several of the terms.
      if (ids.length > 1) void rows.groupBy('post_id', 'published_at');
      return ((await rows.select('post_id')) as { post_id: number }[]).map(({ post_id: id }) => Number(id));
    },
  };
}

/** The count of a term, if all of its posts are of the type; null if they must be counted. */
async function storedCount(
  knex: Knex,
  [id, ...others]: readonly number[],
  types: readonly string[],
): Promise<number | null> {
  if (id === undefined || others.length > 0) return null;
  const end = (order: 'asc' | 'desc'): Promise<string | undefined> =>
    knex('term_posts')
      .where({ term_id: id })
      .orderBy('post_type', order)
      .limit(1)
      .pluck('post_type')
      .then(([type]) => type as string);
  const ends = [await end('asc'), await end('desc')];
  if (ends.some((type) => type !== undefined && type !== types[0])) return null;
  return Number(
    ((await knex('terms').where({ id }).first('post_count')) as { post_count: number } | undefined)?.post_count ?? 0,
  );
}

/** The query with the ids of all terms below those whose children are included. */
export async function withChildTerms({ knex }: Pick<Database, 'knex'>, query: PostQuery): Promise<PostQuery> {
  if (!query.terms?.some(({ includeChildren }) => includeChildren)) return query;
  const expand = async (filter: TermFilter): Promise<TermFilter> => {
    if (filter.includeChildren !== true) return filter;
    const ids = new Set(validTermIds(filter.ids));
    for (let above = [...ids]; above.length > 0;) {
      // Level by level: for a recursive query PostgreSQL expects each term to be the parent of most.
      const below = (await knex('terms').whereIn('parent_id', above).pluck('id')) as number[];
      above = below.filter((id) => !ids.has(id));
      for (const id of above) ids.add(id);
    }
    return { ...filter, ids: [...ids] };
  };
  return { ...query, terms: await Promise.all(query.terms.map(expand)) };
}

/** Narrows a selection of posts to those with the wanted terms. */
export function whereHasTerms(select: Knex.QueryBuilder, knex: Knex, query: PostQuery): void {
  const { terms = [], termsRelation = 'AND' } = query;
  const wanted = terms.filter(({ operator }) => operator !== 'NOT IN');
  for (const filter of terms)
    if (filter.operator === 'NOT IN') void select.whereNotIn('posts.id', postsWith(knex, filter.ids));
  if (wanted.length === 0) return;
  void select.where((all) => {
    for (const filter of wanted) {
      const one = (rows: Knex.QueryBuilder): void => {
        const groups = filter.operator === 'AND' ? filter.ids.map((id) => [id]) : [filter.ids];
        for (const ids of groups) void rows.whereIn('posts.id', postsWith(knex, ids));
      };
      void (termsRelation === 'OR' ? all.orWhere(one) : all.where(one));
    }
  });
}

function postsWith(knex: Knex, ids: readonly number[]): Knex.QueryBuilder {
  return knex('term_posts').select('term_posts.post_id').whereIn('term_posts.term_id', validTermIds(ids));
}
