import { defineErrors, storableText, storableValue } from '#plugin-api';
import type {
  Clock,
  Comment,
  CommentChanges,
  CommentData,
  CommentsApi,
  CommentState,
  HooksApi,
  OptionsApi,
  Post,
  User,
} from '#plugin-api';
import { contentErrors } from '../errors.ts';
import type { Sanitizer } from '../html/sanitizer.ts';
import type { PostStore } from '../posts/post-store.ts';
import type { PostTypes } from '../types/post-types.ts';
import type { PersonOfComments } from './comment-row.ts';
import type { CommentStore } from './comment-store.ts';

export const defaultCommentStatusSetting = 'default_comment_status';
export const moderationSetting = 'comment_moderation';
export const previouslyApprovedSetting = 'comment_previously_approved';
export const registrationSetting = 'comment_registration';
const closedSetting = 'close_comments';

declare module '#plugin-api' {
  interface FilterMap {
    /** Whether readers may comment on the post. */
    comments_open: (isOpen: boolean, postId: number) => boolean;
    /** A new comment before it is stored. */
    preprocess_comment: (comment: CommentData) => CommentData;
    /** The status of a new comment: `approved`, `hold`, `spam` or `trash`. */
    pre_comment_approved: (status: CommentState, comment: CommentData) => CommentState;
    /** What the host stores about a person: `type` names the kind of record. */
    personal_data_export: (
      records: readonly PersonalDataRecord[],
      person: PersonOfComments,
    ) => readonly PersonalDataRecord[];
    /** Deletes what the host stores about a person and adds numbers by kind. May run more than once. */
    personal_data_erase: (
      counts: Readonly<Record<string, number>>,
      person: PersonOfComments,
    ) => Readonly<Record<string, number>>;
    /** HTML of a comment. */
    comment_text: (html: string, comment: Comment) => string;
  }
  interface ActionMap {
    /** After a comment was created. */
    comment_post: (commentId: number, status: CommentState, comment: Comment) => void;
    /** After a comment was changed. */
    edit_comment: (commentId: number, comment: Comment) => void;
    /** After the status of a comment changed. */
    transition_comment_status: (status: CommentState, before: CommentState, comment: Comment) => void;
    /** Before a comment is deleted permanently. */
    delete_comment: (commentId: number, comment: Comment) => void;
    /** After it was deleted permanently. */
    deleted_comment: (commentId: number, comment: Comment) => void;
  }
}

export const commentErrors = defineErrors('', {
  comment_duplicate: [409, "Duplicate comment detected; it looks as though you've already said that!"],
  rest_comment_content_invalid: [400, 'Invalid comment content.'],
  rest_comment_invalid_id: [404, 'Invalid comment ID.'],
  rest_comment_invalid_parent: [400, 'The comment that this one replies to does not exist on this post.'],
});

export interface CommentsDependencies {
  readonly store: CommentStore;
  readonly posts: Pick<PostStore, 'get'>;
  readonly types: PostTypes;
  readonly hooks: Pick<HooksApi, 'applyFiltersAsync' | 'doActionAsync' | 'addAction'>;
  readonly options: Pick<OptionsApi, 'get'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly sanitizer: Sanitizer;
}

/** A comment to create; `status` only for moderators. */
export interface ComposedComment extends Omit<CommentData, 'status' | 'statusBefore' | 'date'> {
  readonly status?: CommentState;
  readonly date?: number;
}

/** Comments of posts. Capabilities are checked by the callers, `mayModerate` helps them. */
export interface Comments {
  readonly store: CommentStore;
  /** Whether the post takes comments. Drafts and posts in the trash take none. */
  isOpen(post: Post): Promise<boolean>;
  /** Moderators, and users who may edit the post, edit its comments. */
  mayModerate(user: User, comment: Pick<Comment, 'postId'>): Promise<boolean>;
  /**
   * Stores a comment with sanitized HTML. It is held for moderation as the settings say.
   *
   * @throws RestError 400 `rest_comment_content_invalid`, `rest_comment_invalid_parent`, 409 `comment_duplicate`.
   */
  create(comment: ComposedComment, author: Pick<User, 'id' | 'can'>): Promise<Comment>;
  /** @throws RestError 400 `rest_comment_content_invalid`, `rest_comment_invalid_parent`. */
  update(comment: Comment, changes: CommentChanges): Promise<Comment>;
  /** Restores a comment from spam or trash to the status it had before. */
  restore(comment: Comment): Promise<Comment>;
  /** Deletes permanently. Its replies move to its parent. */
  remove(comment: Comment): Promise<void>;
}

export function createComments(given: CommentsDependencies): Comments {
  const { store, posts, types, hooks, options, clock } = given;

  async function update(comment: Comment, changes: CommentChanges): Promise<Comment> {
    const content = changes.content === undefined ? comment.content : await clean(changes.content, given.sanitizer);
    const status = changes.status ?? comment.status;
    const isLeaving = status === 'spam' || status === 'trash';
    const statusBefore = status === comment.status ? comment.statusBefore : isLeaving ? visibleStatus(comment) : null;
    const changed: Comment = { ...comment, ...storableValue(changes), content, status, statusBefore };
    const isMoved = changed.parentId !== comment.parentId || changed.postId !== comment.postId;
    if (isMoved) await checkParent(store, changed, comment.id);
    await store.update(changed);
    await hooks.doActionAsync('edit_comment', comment.id, changed);
    if (status !== comment.status)
      await hooks.doActionAsync('transition_comment_status', status, comment.status, changed);
    return changed;
  }

  return {
    store,
    async isOpen({ id, type, status, commentStatus }) {
      const isPublished = !['draft', 'auto-draft', 'pending', 'future', 'trash'].includes(status);
      const isSupported = types.get(type)?.supports.includes('comments') === true;
      const isOpen = isPublished && isSupported && commentStatus === 'open';
      return hooks.applyFiltersAsync(
        'comments_open',
        isOpen && (await options.get<unknown>(closedSetting)) !== true,
        id,
      );
    },
    async mayModerate(user, { postId }) {
      if (user.id === 0) return false;
      if (user.can('moderate_comments')) return true;
      const post = await posts.get(postId);
      return post !== null && user.can('edit_post', post);
    },
    async create({ status, date = Math.floor(clock.now() / 1000) * 1000, ...comment }, author) {
      const content = await clean(comment.content, given.sanitizer);
      const composed: CommentData = { ...storableValue(comment), content, date, status: 'hold', statusBefore: null };
      const data = await hooks.applyFiltersAsync('preprocess_comment', composed);
      await checkParent(store, data, 0);
      if (await store.hasDuplicate(data)) throw commentErrors.comment_duplicate();
      const decided = await decideStatus(given, data, author);
      const allowed = await hooks.applyFiltersAsync('pre_comment_approved', status ?? decided, data);
      const created = await store.insert({ ...data, status: allowed });
      await hooks.doActionAsync('comment_post', created.id, created.status, created);
      return created;
    },
    update,
    restore: (comment) => update(comment, { status: comment.statusBefore ?? 'hold' }),
    async remove(comment) {
      await hooks.doActionAsync('delete_comment', comment.id, comment);
      await store.remove(comment);
      await hooks.doActionAsync('deleted_comment', comment.id, comment);
    },
  };
}

/** The comments of the plugin API. */
export function commentsApi(
  { store, isOpen, create, update, remove }: Comments,
  posts: Pick<PostStore, 'get'>,
): CommentsApi {
  const guest = { id: 0, can: () => false };
  return {
    get: (id) => store.get(id),
    find: (query = {}) => store.find(query),
    count: (query = {}) => store.count(query),
    async isOpen(postId) {
      const post = await posts.get(postId);
      return post !== null && isOpen(post);
    },
    async create(comment, author) {
      if ((await posts.get(comment.postId)) === null) throw contentErrors.rest_post_invalid_id();
      const composed = {
        ...{ parentId: 0, authorIp: '', authorAgent: '', userId: author?.id ?? 0 },
        ...{ authorName: author?.displayName ?? '', authorEmail: author?.email ?? '' },
        authorUrl: author?.profile?.url ?? '',
        ...comment,
      };
      return create(composed, author ?? guest);
    },
    async update(id, changes) {
      const comment = await store.get(id);
      if (comment === null) throw commentErrors.rest_comment_invalid_id();
      return update(comment, changes);
    },
    async delete(id, { force = false } = {}) {
      const comment = await store.get(id);
      if (comment === null) return null;
      if (!force && comment.status !== 'trash') return update(comment, { status: 'trash' });
      await remove(comment);
      return comment;
    },
  };
}

function visibleStatus({ status, statusBefore }: Comment): CommentState {
  return status === 'spam' || status === 'trash' ? (statusBefore ?? 'hold') : status;
}

async function clean(html: string, sanitizer: Sanitizer): Promise<string> {
  const content = (await sanitizer.comment(storableText(html))).trim();
  if (content === '') throw commentErrors.rest_comment_content_invalid();
  return content;
}

/** The parent is an approved comment of the same post, and no reply of the comment itself. */
async function checkParent(
  store: CommentStore,
  { postId, parentId }: Pick<CommentData, 'postId' | 'parentId'>,
  id: number,
): Promise<void> {
  const seen = new Set([id]);
  for (let next = parentId; next !== 0;) {
    const parent = seen.has(next) ? null : await store.get(next);
    if (parent === null || parent.postId !== postId) throw commentErrors.rest_comment_invalid_parent();
    if (next === parentId && parent.status !== 'approved') throw commentErrors.rest_comment_invalid_parent();
    seen.add(next);
    next = parent.parentId;
  }
}

async function decideStatus(
  { options, posts, store }: CommentsDependencies,
  comment: CommentData,
  author: Pick<User, 'id' | 'can'>,
): Promise<CommentState> {
  const post = await posts.get(comment.postId);
  if (author.can('moderate_comments') || (author.id > 0 && author.id === post?.authorId)) return 'approved';
  if ((await options.get<unknown>(moderationSetting)) === true) return 'hold';
  if ((await options.get<unknown>(previouslyApprovedSetting)) === false) return 'approved';
  return author.id > 0 && (await store.hasApproved(author.id)) ? 'approved' : 'hold';
}

interface PersonalDataRecord {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Comments of a deleted or forgotten person stay, without name and personal data, as in WordPress. */
export function addPersonalData({
  store,
  hooks,
}: Pick<CommentsDependencies, 'store'> & { readonly hooks: Pick<HooksApi, 'addAction' | 'addFilter'> }): void {
  hooks.addAction('deleted_user', async (userId) => void (await store.forget({ userId, emails: [] })));
  hooks.addFilter('personal_data_export', async (records, person) => [
    ...records,
    ...(await store.ofPerson(person)).map((comment) => ({ type: 'comment', data: commentRecord(comment) })),
  ]);
  hooks.addFilter('personal_data_erase', async (counts, person) => {
    const comments = await store.forget(person);
    return comments === 0 ? counts : { ...counts, comments };
  });
}

function commentRecord(comment: Comment): Readonly<Record<string, unknown>> {
  return {
    id: comment.id,
    post_id: comment.postId,
    author_name: comment.authorName,
    author_email: comment.authorEmail,
    author_url: comment.authorUrl,
    author_ip: comment.authorIp,
    author_agent: comment.authorAgent,
    date: new Date(comment.date).toISOString(),
    content: comment.content,
    status: comment.status,
  };
}

/** The settings of the group Discussion, with the names of WordPress. Comments are closed until an administrator opens them. */
export function registerCommentSettings(options: Pick<OptionsApi, 'registerSetting'>): void {
  options.registerSetting(defaultCommentStatusSetting, {
    group: 'discussion',
    label: 'Comments on new posts',
    showInRest: true,
    schema: {
      type: 'string',
      enum: ['open', 'closed'],
      oneOf: [
        { const: 'open', title: 'Open' },
        { const: 'closed', title: 'Closed' },
      ],
      default: 'closed',
      description: 'Each post and page has its own choice, which its editors can change.',
    },
  });
  options.registerSetting(closedSetting, {
    group: 'discussion',
    label: 'Close the comments of all posts',
    schema: {
      type: 'boolean',
      default: false,
      description: 'No post takes new comments, whatever its own choice. Those that exist stay.',
    },
  });
  options.registerSetting(registrationSetting, {
    group: 'discussion',
    label: 'Users must sign in to comment',
    schema: {
      type: 'boolean',
      default: true,
      description: 'If off, guests comment with a name and an email address.',
    },
  });
  options.registerSetting(moderationSetting, {
    group: 'discussion',
    label: 'Hold every comment',
    schema: {
      type: 'boolean',
      default: false,
      description: 'A moderator approves each comment, except those of moderators and of the author of the post.',
    },
  });
  options.registerSetting(previouslyApprovedSetting, {
    group: 'discussion',
    label: 'Hold comments of guests and first-time authors',
    schema: {
      type: 'boolean',
      default: true,
      description: 'Users whose comment was approved before comment without waiting.',
    },
  });
}
