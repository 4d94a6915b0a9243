import type { Knex, User } from '#plugin-api';
import type { Database } from '../../database/database-contract.ts';
import { foldText } from '../html/text.ts';
import { validIds, whereVisible, type PostQueryDependencies } from '../posts/post-query.ts';
import {
  toComment,
  toCommentRow,
  type Comment,
  type CommentData,
  type CommentRow,
  type CommentState,
} from './comment-row.ts';

export interface CommentQuery {
  /** Default: all but spam and trash. */
  readonly status?: CommentState;
  readonly search?: string;
  readonly posts?: readonly number[];
  readonly parents?: readonly number[];
  readonly parentsExclude?: readonly number[];
  readonly include?: readonly number[];
  readonly exclude?: readonly number[];
  /** User ids. */
  readonly authors?: readonly number[];
  readonly authorsExclude?: readonly number[];
  readonly authorEmail?: string;
  /** Milliseconds since the epoch, exclusive. */
  readonly before?: number;
  readonly after?: number;
  /** Excludes comments that this reader may not read. Default: none are excluded. */
  readonly visibleTo?: CommentReader;
  /** Default `date`. */
  readonly orderBy?: 'date' | 'id' | 'post' | 'parent' | 'include';
  /** Default `desc`. */
  readonly order?: 'asc' | 'desc';
  /** Default 10. */
  readonly limit?: number;
  readonly offset?: number;
}

export interface CommentReader {
  readonly user: User;
  /** The post whose password the reader knows. */
  readonly unlockedPost?: number;
}

/** The SQL of comments. */
export interface CommentStore {
  get(id: number): Promise<Comment | null>;
  find(query: CommentQuery): Promise<Comment[]>;
  count(query: CommentQuery): Promise<number>;
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

/** A user, and those who commented with one of the email addresses. */
export interface PersonOfComments {
  readonly userId: number | null;
  readonly emails: readonly string[];
}

export interface CommentStoreDependencies extends Omit<PostQueryDependencies, 'knex' | 'dialect'> {
  readonly database: Pick<Database, 'knex' | 'dialect' | 'transaction'>;
}

const columns = { date: 'comments.date', id: 'comments.id', post: 'comments.post_id', parent: 'comments.parent_id' };

export function createCommentStore({ database, types, statuses }: CommentStoreDependencies): CommentStore {
  const { knex, dialect } = database;
  const rules = { knex, dialect, types, statuses };
  const table = (): Knex.QueryBuilder => knex('comments');
  async function ofPerson({ userId, emails }: PersonOfComments): Promise<Comment[]> {
    const rows = (await table()
      .where((own) => {
        void own.whereRaw('1 = 0');
        if (userId !== null && userId > 0) void own.orWhere({ user_id: userId });
        for (const email of emails) if (email !== '') void own.orWhereRaw('lower(author_email) = lower(?)', [email]);
      })
      .orderBy('id')) as CommentRow[];
    return rows.map(toComment);
  }
  return {
    async get(id) {
      const [valid] = validIds([id]);
      const row = valid === undefined ? undefined : ((await table().where({ id }).first()) as CommentRow | undefined);
      return row ? toComment(row) : null;
    },
    async find(query) {
      const select = order(selectComments(rules, query).select('comments.*'), knex, query);
      const rows = (await select.limit(query.limit ?? 10).offset(query.offset ?? 0)) as CommentRow[];
      return rows.map(toComment);
    },
    async count(query) {
      const row = (await selectComments(rules, query).count({ total: '*' }).first()) as { total: number | string };
      return Number(row.total);
    },
    async insert(comment) {
      const [row] = (await table().insert(toCommentRow(comment)).returning('id')) as { id: number }[];
      return { ...comment, id: Number(row?.id) };
    },
    async update(comment) {
      await table().where({ id: comment.id }).update(toCommentRow(comment));
    },
    remove: ({ id, parentId }) =>
      database.transaction(async () => {
        await table().where({ parent_id: id }).update({ parent_id: parentId });
        await table().where({ id }).delete();
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

function selectComments(rules: PostQueryDependencies, query: CommentQuery): Knex.QueryBuilder {
  const select = rules.knex('comments').join('posts', 'posts.id', 'comments.post_id');
  if (query.status === undefined) void select.whereIn('comments.status', ['approved', 'hold']);
  else void select.where('comments.status', query.status);
  const lists = [
    ['comments.id', query.include, query.exclude],
    ['comments.post_id', query.posts, undefined],
    ['comments.parent_id', query.parents, query.parentsExclude],
    ['comments.user_id', query.authors, query.authorsExclude],
  ] as const;
  for (const [column, included, excluded] of lists) {
    if (included) void select.whereIn(column, validIds(included));
    if (excluded) void select.whereNotIn(column, validIds(excluded));
  }
  if (query.authorEmail !== undefined) void select.where('comments.author_email', query.authorEmail);
  if (query.before !== undefined) void select.where('comments.date', '<', query.before);
  if (query.after !== undefined) void select.where('comments.date', '>', query.after);
  const terms = foldText(query.search ?? '').split(/\s+/);
  for (const term of terms.filter((word) => word !== '').slice(0, 20))
    void select.whereRaw(`comments.search_text like ? escape '\\'`, [`%${term.replace(/[\\%_]/g, '\\$&')}%`]);
  if (query.visibleTo) whereReadable(select, rules, query.visibleTo);
  return select;
}

/** Approved comments of posts that the reader can read, the reader's own, and those that the reader may moderate. */
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
  if (user.can('moderate_comments')) return;
  void select.where((shown) => {
    void shown.where('comments.status', 'approved');
    if (user.id > 0) void shown.orWhere('comments.user_id', user.id);
    if (user.can('edit_published_posts')) void shown.orWhere('posts.author_id', user.id);
  });
}

/** Sorts equal values by id, so that pages neither repeat nor skip a comment. */
function order(select: Knex.QueryBuilder, knex: Knex, query: CommentQuery): Knex.QueryBuilder {
  const direction = query.order ?? 'desc';
  if (query.orderBy === 'include') {
    const ids = validIds(query.include ?? []);
    const cases = ids.map(() => 'when ? then ?').join(' ');
    const values = [...ids.flatMap((id, index) => [id, index]), ids.length];
    return ids.length === 0 ? select : select.orderByRaw(knex.raw(`case comments.id ${cases} else ? end`, values));
  }
  return select.orderBy([
    { column: columns[query.orderBy ?? 'date'], order: direction },
    { column: 'comments.id', order: direction },
  ]);
}
