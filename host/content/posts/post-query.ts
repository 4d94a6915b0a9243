import { escapeLike, whereContains, type Knex, type PostQuery } from '#plugin-api';
import { orderByMeta, whereMeta } from './meta-query.ts';
import type { Database } from '../../database/database-contract.ts';
import { foldText } from '../html/text.ts';
import { postTextIndex } from '../migrations.ts';
import { whereHasTerms } from '../taxonomies/posts-of-terms.ts';
import { whereVisible } from '../types/meta-capabilities.ts';
import type { PostStatuses } from '../types/post-statuses.ts';
import type { PostTypes } from '../types/post-types.ts';

export interface PostQueryDependencies {
  readonly knex: Knex;
  readonly dialect: Database['dialect'];
  readonly types: PostTypes;
  readonly statuses: PostStatuses;
}

type WalkedColumn = 'type' | 'status' | 'mime_type';

/** The largest id that the key columns can store. */
const largestId = 2 ** 31 - 1;

/**
 * Selects the rows of a query, without order and limit.
 *
 * @param walked columns whose conditions use no index on SQLite, because that of the order is better.
 */
export function selectPosts(
  given: PostQueryDependencies,
  query: PostQuery,
  walked: readonly WalkedColumn[] = [],
): Knex.QueryBuilder {
  const select = given.knex('posts');
  // SQLite would rather read all posts of the type than those that an index of the search finds.
  const isFound = whereSearch(select, given, query);
  const column = (name: WalkedColumn): string => {
    const isPlain = given.dialect !== 'sqlite' || (!isFound && !walked.includes(name));
    return isPlain ? `posts.${name}` : (given.knex.raw(`+posts.${name}`) as unknown as string);
  };
  void select.whereIn(column('type'), wantedTypes(given, query));
  const status = wantedStatuses(given, query);
  if ('in' in status) void select.whereIn(column('status'), status.in);
  else void select.whereNotIn(column('status'), status.notIn);
  whereIds(select, query);
  whereTime(select, query);
  if (query.hasPassword !== undefined) void select.where('posts.password', query.hasPassword ? '<>' : '=', '');
  if (query.slugs) void select.whereIn('posts.slug', query.slugs);
  if (query.menuOrder !== undefined) void select.where('posts.menu_order', query.menuOrder);
  if (query.mimeType !== undefined)
    whereMimeType(select, given, { mimeType: query.mimeType, column: column('mime_type') });
  if (query.terms && query.terms.length > 0) whereHasTerms(select, given.knex, query);
  for (const filter of query.meta ?? []) whereMeta(select, given, filter);
  if (query.visibleTo && !isPublic(given, query) && !seesAll(given, query))
    whereVisible(select, given, query.visibleTo);
  return select;
}

/** Whether everyone may read the posts, by their status. */
function isPublic({ statuses }: PostQueryDependencies, { status = 'publish' }: PostQuery): boolean {
  return toList(status).every((name) => statuses.get(name)?.public === true);
}

/** Members of a query on which its number does not depend, and those by which posts are counted. */
const plainMembers = new Set(['type', 'status', 'visibleTo', 'orderBy', 'order', 'limit', 'offset']);

/** Whether types and statuses are the only conditions of a query, so that its posts are known by these. */
export function isPlain(given: PostQueryDependencies, query: PostQuery): boolean {
  const isOther = Object.entries(query).some(([name, value]) => value !== undefined && !plainMembers.has(name));
  return !isOther && (query.visibleTo === undefined || isPublic(given, query) || seesAll(given, query));
}

/** Selects a page of a query: `limit` rows of the order from `offset` on. */
export function selectPage(given: PostQueryDependencies, query: PostQuery): Knex.QueryBuilder {
  const { status = 'publish', orderBy = 'date', limit = 10, offset = 0 } = query;
  const isByTime = orderBy === 'date' || orderBy === 'modified';
  // An index has the order of one status by time, and that of a type by the rest: SQLite would sort a million rows instead.
  const walked: WalkedColumn[] = toList(status).length === 1 && isByTime ? ['mime_type'] : ['mime_type', 'status'];
  return orderPosts(selectPosts(given, query, walked), given, query)
    .limit(limit)
    .offset(offset);
}

/** The same page counted from the end, if it is nearer. Its rows then come in reverse. */
export function fromNearerEnd<
  Query extends Pick<PostQuery, 'order' | 'limit' | 'offset' | 'orderByMeta'> & { readonly orderBy?: string },
>(query: Query, total: number): { readonly query: Query; readonly isReversed: boolean } {
  const { order = 'desc', limit = 10, offset = 0 } = query;
  const after = total - offset - limit;
  if (after >= offset || offset >= total || hasOwnOrder(query)) return { query, isReversed: false };
  const page = { limit: Math.min(limit, total - offset), offset: Math.max(0, after) };
  return { query: { ...query, ...page, order: order === 'asc' ? 'desc' : 'asc' }, isReversed: true };
}

/** Whether the reverse of an order is another one. */
function hasOwnOrder({
  orderBy,
  orderByMeta: key,
}: {
  readonly orderBy?: string;
  readonly orderByMeta?: string;
}): boolean {
  return orderBy === 'include' || orderBy === 'relevance' || key !== undefined;
}

/** Whether the user may read each post of the types, whatever its status. */
function seesAll({ types }: PostQueryDependencies, { type = 'post', visibleTo: user }: PostQuery): boolean {
  return toList(type).every((name) => {
    const found = types.all().find((one) => one.name === name);
    if (found === undefined || user === undefined) return false;
    const { read_private_posts: readPrivate, edit_others_posts: editOthers } = found.capabilities;
    return user.can(readPrivate) && user.can(editOthers) && user.can('edit_others_posts');
  });
}

const columns: Readonly<Record<Exclude<NonNullable<PostQuery['orderBy']>, 'include' | 'relevance'>, string>> = {
  date: 'posts.date',
  modified: 'posts.modified',
  id: 'posts.id',
  title: 'posts.title_key',
  slug: 'posts.slug',
  author: 'posts.author_id',
  parent: 'posts.parent_id',
  menuOrder: 'posts.menu_order',
};

/** Sorts equal values by id, so that pages neither repeat nor skip a post. */
function orderPosts(select: Knex.QueryBuilder, given: PostQueryDependencies, query: PostQuery): Knex.QueryBuilder {
  const { knex } = given;
  const direction = query.order ?? 'desc';
  if (query.orderByMeta !== undefined) orderByMeta(select, given, { key: query.orderByMeta, direction });
  if (query.orderBy === 'include') {
    const ids = validIds(query.include ?? []);
    if (ids.length > 0)
      void select.orderByRaw(
        knex.raw(`case posts.id ${ids.map(() => 'when ? then ?').join(' ')} else ? end`, [
          ...ids.flatMap((id, index) => [id, index]),
          ids.length,
        ]),
      );
    return select;
  }
  if (query.orderBy === 'relevance') orderByRelevance(select, query);
  const column = columns[query.orderBy === 'relevance' ? 'date' : (query.orderBy ?? 'date')];
  return column === 'posts.id'
    ? select.orderBy(column, direction)
    : select.orderBy([
        { column, order: direction },
        { column: 'posts.id', order: direction },
      ]);
}

export function wantedTypes({ types }: PostQueryDependencies, { type = 'post' }: PostQuery): readonly string[] {
  const names = toList(type);
  const known = types.all().map(({ name }) => name);
  return names.includes('any') ? without(known, ['revision']) : names;
}

/** The statuses of a query. A user who sees all does not see posts of statuses that are no longer registered. */
export function wantedStatuses(
  given: PostQueryDependencies,
  query: PostQuery,
): { readonly in: readonly string[] } | { readonly notIn: readonly string[] } {
  const [names, hidden] = [toList(query.status ?? 'publish'), ['trash', 'auto-draft']];
  const known = given.statuses.all().map(({ name }) => name);
  const isKnown = query.visibleTo !== undefined && seesAll(given, query);
  if (names.includes('any')) return isKnown ? { in: without(known, hidden) } : { notIn: hidden };
  return { in: isKnown ? names.filter((name) => known.includes(name)) : names };
}

function without(names: readonly string[], others: readonly string[]): string[] {
  return names.filter((name) => !others.includes(name));
}

function whereIds(select: Knex.QueryBuilder, query: PostQuery): void {
  const rules = [
    ['posts.id', query.include, query.exclude],
    ['posts.author_id', query.authors, query.authorsExclude],
    ['posts.parent_id', query.parents, query.parentsExclude],
  ] as const;
  for (const [column, wanted, unwanted] of rules) {
    if (wanted) void select.whereIn(column, validIds(wanted));
    if (unwanted && unwanted.length > 0) void select.whereNotIn(column, validIds(unwanted));
  }
}

function whereTime(select: Knex.QueryBuilder, { before, after, modifiedBefore, modifiedAfter }: PostQuery): void {
  if (before !== undefined) void select.where('posts.date', '<', before);
  if (after !== undefined) void select.where('posts.date', '>', after);
  if (modifiedBefore !== undefined) void select.where('posts.modified', '<', modifiedBefore);
  if (modifiedAfter !== undefined) void select.where('posts.modified', '>', modifiedAfter);
}

/** What a search finds says what a text contains, so it leaves out posts whose password protects the text. */
function whereReadable(select: Knex.QueryBuilder, { visibleTo: user, hasPassword }: PostQuery): void {
  if (hasPassword !== undefined || user?.can('edit_others_posts') === true) return;
  void select.where((rows) => {
    void rows.where('posts.password', '');
    if (user !== undefined && user.id > 0) void rows.orWhere('posts.author_id', user.id);
  });
}

function searchTerms({ search = '' }: PostQuery): string[] {
  return foldText(search)
    .split(/\s+/)
    .filter((term) => term !== '')
    .slice(0, 20);
}

/** For `like ? escape '\\'`. */
function containing(text: string): string {
  return `%${escapeLike(text)}%`;
}

/** Whether an index finds the posts. */
function whereSearch(select: Knex.QueryBuilder, { dialect }: PostQueryDependencies, query: PostQuery): boolean {
  const texts = searchTerms(query);
  if (texts.length > 0) whereReadable(select, query);
  return whereContains(select, dialect, { ...postTextIndex, texts });
}

/** Bytes of a text in which the order of a search looks for the phrase: it reads the texts of all that is found (D46). */
const rankedText = 20_000;

/** As in WordPress: the phrase in the title, all words in the title, one of them, then the phrase in the text. */
function orderByRelevance(select: Knex.QueryBuilder, query: PostQuery): void {
  const terms = searchTerms(query);
  if (terms.length === 0) return;
  const title = `posts.title_key like ? escape '\\'`;
  const phrase = containing(terms.join(' '));
  const words = terms.map(containing);
  // All that is found contains a single word.
  const isRanked = terms.length > 1;
  const text = `when octet_length(posts.search_text) <= ${String(rankedText)} and posts.search_text like ? escape '\\' then 4`;
  void select.orderByRaw(
    `case when ${title} then 1 when ${words.map(() => title).join(' and ')} then 2 ` +
      `when ${words.map(() => title).join(' or ')} then 3 ${isRanked ? text : ''} else 5 end`,
    [phrase, ...words, ...words, ...(isRanked ? [phrase] : [])],
  );
}

function whereMimeType(
  select: Knex.QueryBuilder,
  { dialect }: PostQueryDependencies,
  { mimeType, column }: { readonly mimeType: string; readonly column: string },
): void {
  if (mimeType.includes('/')) void select.where(column, mimeType);
  // `0` follows `/`. PostgreSQL compares by language, where that may not hold.
  else if (dialect === 'sqlite') void select.where(column, '>=', `${mimeType}/`).where(column, '<', `${mimeType}0`);
  else void select.where(column, 'like', `${escapeLike(mimeType)}/%`);
}

function toList(value: string | readonly string[]): readonly string[] {
  return typeof value === 'string' ? [value] : value;
}

/** Removes numbers that cannot be ids, which PostgreSQL would reject. */
export function validIds(ids: readonly number[]): number[] {
  return ids.filter((id) => Number.isInteger(id) && id >= 0 && id <= largestId);
}
