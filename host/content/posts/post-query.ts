import { escapeLike, type Knex, type MetaFilter, type PostQuery, type User } from '#plugin-api';
import { foldText } from '../html/text.ts';
import { whereHasTerms } from '../taxonomies/term-store.ts';
import type { PostStatuses } from '../types/post-statuses.ts';
import type { PostTypes } from '../types/post-types.ts';

export interface PostQueryDependencies {
  readonly knex: Knex;
  readonly types: PostTypes;
  readonly statuses: PostStatuses;
}

/** The largest id that the key columns can store. */
const largestId = 2 ** 31 - 1;

/** Selects the rows of a query, without order and limit. */
export function selectPosts(given: PostQueryDependencies, query: PostQuery): Knex.QueryBuilder {
  const select = given.knex('posts');
  whereType(select, given, query);
  whereStatus(select, query);
  whereIds(select, query);
  whereTime(select, query);
  whereSearch(select, query);
  if (query.hasPassword !== undefined) void select.where('posts.password', query.hasPassword ? '<>' : '=', '');
  if (query.slugs) void select.whereIn('posts.slug', query.slugs);
  if (query.menuOrder !== undefined) void select.where('posts.menu_order', query.menuOrder);
  if (query.mimeType !== undefined) whereMimeType(select, query.mimeType);
  if (query.terms && query.terms.length > 0) whereHasTerms(select, given.knex, query);
  for (const filter of query.meta ?? []) whereMeta(select, given, filter);
  if (query.visibleTo) {
    if (seesAll(given, query)) whereKnownStatus(select, given, query);
    else whereVisible(select, given, query.visibleTo);
  }
  return select;
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

/** As an expression, so that databases do not choose an index by it: nearly every post has a known status. */
function whereKnownStatus(
  select: Knex.QueryBuilder,
  { statuses }: PostQueryDependencies,
  { status = 'publish' }: PostQuery,
): void {
  const names = statuses.all().map(({ name }) => name);
  if (toList(status).every((name) => names.includes(name))) return;
  void select.whereRaw(`posts.status || '' in (${names.map(() => '?').join(', ')})`, names);
}

const columns: Readonly<Record<Exclude<NonNullable<PostQuery['orderBy']>, 'include' | 'relevance'>, string>> = {
  date: 'posts.date',
  modified: 'posts.modified',
  id: 'posts.id',
  title: 'posts.title',
  slug: 'posts.slug',
  author: 'posts.author_id',
  parent: 'posts.parent_id',
  menuOrder: 'posts.menu_order',
};

/** Sorts equal values by id, so that pages neither repeat nor skip a post. */
export function orderPosts(
  select: Knex.QueryBuilder,
  { knex }: PostQueryDependencies,
  query: PostQuery,
): Knex.QueryBuilder {
  const direction = query.order ?? 'desc';
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

function whereType(select: Knex.QueryBuilder, { types }: PostQueryDependencies, { type = 'post' }: PostQuery): void {
  const names = toList(type);
  if (names.includes('any'))
    void select.whereIn(
      'posts.type',
      types
        .all()
        .map(({ name }) => name)
        .filter((name) => name !== 'revision'),
    );
  else void select.whereIn('posts.type', names);
}

function whereStatus(select: Knex.QueryBuilder, { status = 'publish' }: PostQuery): void {
  const names = toList(status);
  if (names.includes('any')) void select.whereNotIn('posts.status', ['trash', 'auto-draft']);
  else void select.whereIn('posts.status', names);
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

function whereSearch(select: Knex.QueryBuilder, query: PostQuery): void {
  const terms = searchTerms(query);
  if (terms.length > 0) whereReadable(select, query);
  for (const term of terms) void select.whereRaw(`posts.search_text like ? escape '\\'`, [containing(term)]);
}

/** As in WordPress: the phrase in the title, all words in the title, one of them, then the phrase in the text. */
function orderByRelevance(select: Knex.QueryBuilder, query: PostQuery): void {
  const terms = searchTerms(query);
  if (terms.length === 0) return;
  // The folded text begins with the title.
  const title = `substr(posts.search_text, 1, length(posts.title)) like ? escape '\\'`;
  const phrase = containing(terms.join(' '));
  const words = terms.map(containing);
  void select.orderByRaw(
    `case when ${title} then 1 when ${words.map(() => title).join(' and ')} then 2 ` +
      `when ${words.map(() => title).join(' or ')} then 3 when posts.search_text like ? escape '\\' then 4 else 5 end`,
    [phrase, ...words, ...words, phrase],
  );
}

function whereMeta(
  select: Knex.QueryBuilder,
  { knex }: PostQueryDependencies,
  { key, values, has = true }: MetaFilter,
): void {
  const found = knex('post_meta').select('post_meta.id').whereRaw('post_meta.post_id = posts.id').where({ key });
  if (values)
    void found.whereIn(
      'value',
      values.map((value) => JSON.stringify(value)),
    );
  void (has ? select.whereExists(found) : select.whereNotExists(found));
}

function whereMimeType(select: Knex.QueryBuilder, mimeType: string): void {
  if (mimeType.includes('/')) void select.where('posts.mime_type', mimeType);
  else void select.whereRaw(`posts.mime_type like ? escape '\\'`, [`${escapeLike(mimeType)}/%`]);
}

/** The rules of `read_post` as a condition over many posts. */
export function whereVisible(
  select: Knex.QueryBuilder,
  { knex, types, statuses }: PostQueryDependencies,
  user: User,
): void {
  const open = statuses
    .all()
    .filter((status) => status.public)
    .map(({ name }) => name);
  const hidden = statuses
    .all()
    .filter((status) => status.private)
    .map(({ name }) => name);
  const others = statuses
    .all()
    .filter((status) => !status.public && !status.private && status.name !== 'inherit')
    .map(({ name }) => name);
  void select.where((visible) => {
    void visible.whereIn('posts.status', open);
    // An attachment is visible together with its parent post.
    void visible.orWhere((rows) => {
      void rows.where('posts.status', 'inherit');
      if (user.can('edit_others_posts')) return;
      void rows.where(
        (free) =>
          void free
            .where('posts.parent_id', 0)
            .orWhereIn('posts.parent_id', knex('posts as above').select('above.id').whereIn('above.status', open)),
      );
    });
    if (user.id > 0) void visible.orWhere('posts.author_id', user.id);
    for (const { name, capabilities } of types.all()) {
      if (user.can(capabilities.read_private_posts))
        void visible.orWhere((rows) => void rows.where('posts.type', name).whereIn('posts.status', hidden));
      if (user.can(capabilities.edit_others_posts))
        void visible.orWhere((rows) => void rows.where('posts.type', name).whereIn('posts.status', others));
    }
  });
}

function toList(value: string | readonly string[]): readonly string[] {
  return typeof value === 'string' ? [value] : value;
}

/** Removes numbers that cannot be ids, which PostgreSQL would reject. */
export function validIds(ids: readonly number[]): number[] {
  return ids.filter((id) => Number.isInteger(id) && id >= 0 && id <= largestId);
}
