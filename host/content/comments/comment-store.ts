import { whereContains, type Knex } from '#plugin-api';
import type { Database } from '../../database/database-contract.ts';
import type { CountCache } from '../count-cache.ts';
import { foldText } from '../html/text.ts';
import { commentTextIndex } from '../migrations.ts';
import { fromNearerEnd, validIds, type PostQueryDependencies } from '../posts/post-query.ts';
import { whereVisible } from '../types/meta-capabilities.ts';
import {
  commentStates,
  isNarrow,
  isUnfiltered,
  toComment,
  toCommentRow,
  type CommentRow,
  type PersonOfComments,
  wantedStates,
} from './comment-row.ts';
import type { Comment, CommentData, CommentQuery, CommentReader, CommentState } from '#plugin-api';

/** The SQL of comments. */
export interface CommentStore {
  get(id: number): Promise<Comment | null>;
  /** @param total of the query, if known: pages of the second half are then read from the end. */
  find(query: CommentQuery, total?: number): Promise<Comment[]>;
  count(query: CommentQuery): Promise<number>;
  /** The comments of the query in each state, whatever its status. */
  countByState(query: CommentQuery): Promise<Readonly<Record<CommentState, number>>>;
  insert(comment: CommentData): Promise<Comment>;
  update(comment: Comment): Promise<void>;
  /** Deletes a comment; its replies move to its parent. */
  remove(comment: Comment): Promise<void>;
  /** Whether a comment of the user was approved before. */
  hasApproved(userId: number): Promise<boolean>;
  /** Whether the author sent the same text to the post before. */
  hasDuplicate(comment: CommentData): Promise<boolean>;
  /** Comments of a person in every state, oldest first. */
  ofPerson(person: PersonOfComments): Promise<Comment[]>;
  /** Removes name, addresses and user agent from the comments of a person. Returns their number. */
  forget(person: PersonOfComments): Promise<number>;
}

export interface CommentStoreDependencies extends Omit<PostQueryDependencies, 'knex' | 'dialect'> {
  readonly database: Pick<Database, 'knex' | 'dialect' | 'transaction'>;
  readonly counts: CountCache;
  /** From this offset on, a page is found in steps. Default 2000. */
  readonly deepOffset?: number;
}

type CommentRules = PostQueryDependencies & { readonly deepOffset: number; readonly counts: CountCache };

const columns = { date: 'comments.date', id: 'comments.id', post: 'comments.post_id', parent: 'comments.parent_id' };

export function createCommentStore({ database, ...given }: CommentStoreDependencies): CommentStore {
  const { knex, dialect } = database;
  const rules = { deepOffset: 2_000, ...given, knex, dialect };
  const table = (): Knex.QueryBuilder => knex('comments');
  /** For `hiddenPosts`. The flag stays when the last comment is deleted. */
  const flagPost = ({ postId }: CommentData): Promise<number> =>
    knex('posts').where({ id: postId, has_comments: 0 }).update({ has_comments: 1 });
  async function ofPerson({ userId, emails }: PersonOfComments): Promise<Comment[]> {
    const rows = (await table()
      .where((own) => {
        void own.whereIn('user_id', userId === null || userId === 0 ? [] : [userId]);
        for (const email of emails) if (email !== '') void own.orWhereRaw('lower(author_email) = lower(?)', [email]);
      })
      .orderBy('id')) as CommentRow[];
    return rows.map(toComment);
  }
  return {
    async get(id) {
      const [row] = (await table().whereIn('id', validIds([id]))) as CommentRow[];
      return row ? toComment(row) : null;
    },
    async find(query, total = 0) {
      const page = fromNearerEnd(query, total);
      const ids = await findIds(rules, page.query);
      if (page.isReversed) ids.reverse();
      const rows = ids.length === 0 ? [] : ((await table().whereIn('id', ids)) as CommentRow[]);
      const found = new Map(rows.map((row) => [Number(row.id), toComment(row)]));
      return ids.flatMap((id) => found.get(id) ?? []);
    },
    async count(query) {
      const counts = await countStates(rules, query, wantedStates(query));
      return [...counts.values()].reduce((total, count) => total + count, 0);
    },
    async countByState(query) {
      const found = await countStates(rules, query, commentStates);
      const count = (state: CommentState): number => found.get(state) ?? 0;
      return { approved: count('approved'), hold: count('hold'), spam: count('spam'), trash: count('trash') };
    },
    async insert(comment) {
      await flagPost(comment);
      const [row] = (await table().insert(toCommentRow(comment)).returning('id')) as { id: number }[];
      await given.counts.changed('comments');
      return { ...comment, id: Number(row?.id) };
    },
    async update(comment) {
      await flagPost(comment);
      await table().where({ id: comment.id }).update(toCommentRow(comment));
      await given.counts.changed('comments');
    },
    remove: ({ id, parentId }) =>
      database.transaction(async () => {
        await table().where({ parent_id: id }).update({ parent_id: parentId });
        await table().where({ id }).delete();
        await given.counts.changed('comments');
      }),
    async hasApproved(userId) {
      return (await table().where({ user_id: userId, status: 'approved' }).first('id')) !== undefined;
    },
    async hasDuplicate({ postId, parentId, userId, authorName, authorEmail, content }) {
      const same = { post_id: postId, parent_id: parentId, user_id: userId, author_name: authorName };
      const found: unknown = await table()
        .where({ ...same, author_email: authorEmail, content })
        .whereNot({ status: 'trash' })
        .first('id');
      return found !== undefined;
    },
    ofPerson,
    async forget(person) {
      const comments = await ofPerson(person);
      const forgotten = { userId: 0, authorName: 'Anonymous', authorEmail: '', authorUrl: '', authorIp: '' };
      for (const comment of comments)
        await table()
          .where({ id: comment.id })
          .update(toCommentRow({ ...comment, ...forgotten, authorAgent: '' }));
      return comments.length;
    },
  };
}

/** From an index alone, whatever the offset, so that only the rows of the page are read. */
async function findIds(rules: CommentRules, query: CommentQuery): Promise<number[]> {
  const { orderBy = 'date', order: direction = 'desc', limit = 10, offset = 0 } = query;
  const filter = { wanted: wantedStates(query), ...(orderBy !== 'date' && { isIndexed: false }) };
  const ordered = (): Knex.QueryBuilder => order(filterComments(rules, query, filter), query);
  const hidden = await hiddenPosts(rules, query);
  const select = ordered().limit(limit);
  let skipped = offset;
  if (hidden && orderBy !== 'include' && offset >= rules.deepOffset) {
    // Skips comments without looking for their posts, then those that stand in for the hidden ones among them.
    const key = [columns[orderBy], 'comments.id'];
    const first = (await ordered().offset(offset).first(key)) as Readonly<Record<string, number>> | undefined;
    if (first === undefined) return [];
    const values = key.map((column) => first[column.replace('comments.', '')] ?? 0);
    const earlier = `(${key.join(', ')}) ${direction === 'desc' ? '>' : '<'} (?, ?)`;
    const before = filterComments(rules, query, { ...filter, isIndexed: false }).whereRaw(earlier, values);
    skipped = await countRows(before.whereIn('comments.post_id', hidden()));
    void select.whereRaw(`(${key.join(', ')}) ${direction === 'desc' ? '<=' : '>='} (?, ?)`, values);
  }
  if (hidden) void select.whereNotIn('comments.post_id', hidden());
  return ((await select.offset(skipped).pluck('comments.id')) as (number | string)[]).map(Number);
}

async function countRows(select: Knex.QueryBuilder): Promise<number> {
  return Number(((await select.count({ total: '*' }).first()) as { total: number | string }).total);
}

/**
 * Counts comments by state without their posts, then subtracts those of posts that the reader may not read, which are
 * few: a join would read each post.
 */
async function countStates(
  rules: CommentRules,
  query: CommentQuery,
  wanted: readonly CommentState[],
): Promise<ReadonlyMap<string, number>> {
  const group = async (posts?: Knex.QueryBuilder): Promise<Iterable<readonly [string, number]>> => {
    const select = filterComments(rules, query, { wanted, isIndexed: false })
      .groupBy('comments.status')
      .select('comments.status');
    if (posts) void select.whereIn('comments.post_id', posts);
    const rows = (await select.count({ total: '*' })) as { status: string; total: number | string }[];
    return rows.map(({ status, total }) => [status, Number(total)]);
  };
  const hidden = await hiddenPosts(rules, query);
  // Grouping all comments takes twice as long as counting them.
  const count = async (state: CommentState) => [state, await countState(rules, query, state)] as const;
  const [found, unread] = await Promise.all([
    isNarrow(query) ? group() : Promise.all(wanted.map(count)),
    hidden ? group(hidden()) : [],
  ]);
  const counts = new Map(found);
  for (const [state, total] of unread) counts.set(state, (counts.get(state) ?? 0) - total);
  return counts;
}

async function countState(rules: CommentRules, query: CommentQuery, state: CommentState): Promise<number> {
  const user = query.visibleTo?.user;
  const readsAll = state === 'approved' || user === undefined || user.can('moderate_comments');
  const read = (): Promise<number> => countRows(filterComments(rules, query, { wanted: [state] }));
  return isUnfiltered(query) && readsAll ? rules.counts.get('comments', state, read) : read();
}

interface StateFilter {
  readonly wanted: readonly CommentState[];
  /** Whether SQLite may choose an index by the status. Default: if no other filter finds fewer comments. */
  readonly isIndexed?: boolean;
}

/** Comments of the states that the reader may read if they may read the post. */
function filterComments(
  rules: CommentRules,
  query: CommentQuery,
  { wanted, isIndexed = wanted.length < 2 && !isNarrow(query) }: StateFilter,
): Knex.QueryBuilder {
  const select = rules.knex('comments');
  whereState(select, rules, { ...query, wanted, isIndexed });
  const lists = [
    ['comments.id', query.include, query.exclude],
    ['comments.post_id', query.posts, undefined],
    ['comments.parent_id', query.parents, query.parentsExclude],
    ['comments.user_id', query.authors, query.authorsExclude],
  ] as const;
  const isReply = query.parents?.includes(0) === false;
  for (const [column, included, excluded] of lists) {
    // Most comments reply to none, so SQLite must not choose the index of the parent for them.
    if (included && column === 'comments.parent_id' && !isReply && rules.dialect === 'sqlite')
      void select.whereRaw(`+${column} in (${validIds(included).join(', ')})`);
    else if (included) void select.whereIn(column, validIds(included));
    if (excluded) void select.whereNotIn(column, validIds(excluded));
  }
  if (query.authorEmail !== undefined) void select.where('comments.author_email', query.authorEmail);
  if (query.before !== undefined) void select.where('comments.date', '<', query.before);
  if (query.after !== undefined) void select.where('comments.date', '>', query.after);
  const words = foldText(query.search ?? '').split(/\s+/);
  const texts = words.filter((word) => word !== '').slice(0, 20);
  whereContains(select, rules.dialect, { ...commentTextIndex, texts });
  return select;
}

/** Moderators read every state, others approved comments, their own, and those of the posts that they may moderate. */
function whereState(
  select: Knex.QueryBuilder,
  { knex, dialect }: CommentRules,
  { visibleTo, wanted, isIndexed = false }: StateFilter & Pick<CommentQuery, 'visibleTo'>,
): void {
  const user = visibleTo?.user;
  const isModerator = user === undefined || user.can('moderate_comments');
  const shown = isModerator || user.id > 0 ? wanted : wanted.filter((state) => state === 'approved');
  const column = dialect === 'sqlite' && !isIndexed ? '+comments.status' : 'comments.status';
  void select.whereRaw(shown.length === 0 ? '1 = 0' : `${column} in (${shown.map(() => '?').join(', ')})`, [...shown]);
  if (isModerator || shown.every((state) => state === 'approved')) return;
  void select.where((readable) => {
    void readable.whereRaw(`${column} = 'approved'`).orWhere('comments.user_id', user.id);
    if (user.can('edit_published_posts'))
      void readable.orWhereIn(
        'comments.post_id',
        knex('posts').select('posts.id').where({ author_id: user.id, has_comments: 1 }),
      );
  });
}

/**
 * Selects the posts with comments that the reader may not read: those in the trash, those that are not visible, and those
 * with a password. Null: there is none. The condition is that of the index `posts_of_hidden_comments`.
 */
async function hiddenPosts(
  rules: CommentRules,
  { posts, visibleTo }: CommentQuery,
): Promise<(() => Knex.QueryBuilder) | null> {
  if (visibleTo === undefined) return null;
  const select = (): Knex.QueryBuilder => {
    const hidden = rules
      .knex('posts')
      .select('posts.id')
      .whereRaw(`has_comments = 1 and (status <> 'publish' or password <> '')`);
    if (posts) void hidden.whereIn('posts.id', validIds(posts));
    return hidden.whereNot((readable) => whereReadable(readable, rules, visibleTo));
  };
  return (await select().first()) === undefined ? null : select;
}

/** Posts whose comments the reader can read. */
function whereReadable(
  select: Knex.QueryBuilder,
  rules: PostQueryDependencies,
  { user, unlockedPost }: CommentReader,
): void {
  whereVisible(select, rules, user);
  void select.whereNot('posts.status', 'trash');
  const editsOthers = user.can('edit_others_posts');
  void select.where((readable) => {
    void readable.where('posts.password', '');
    if (unlockedPost !== undefined) void readable.orWhere('posts.id', unlockedPost);
    if (editsOthers) void readable.orWhereRaw('1 = 1');
    else if (user.id > 0) void readable.orWhere('posts.author_id', user.id);
  });
}

/** Sorts equal values by id, so that pages neither repeat nor skip a comment. */
function order(
  select: Knex.QueryBuilder,
  { orderBy = 'date', order: direction = 'desc', include = [] }: CommentQuery,
): Knex.QueryBuilder {
  if (orderBy !== 'include') return select.orderBy(columns[orderBy], direction).orderBy('comments.id', direction);
  const ids = validIds(include);
  const cases = ids.map((id, index) => `when ${id} then ${index}`).join(' ');
  return ids.length === 0 ? select : select.orderByRaw(`case comments.id ${cases} end`);
}
