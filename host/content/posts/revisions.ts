import type { Clock, HooksApi, OptionsApi, Post, PostInput, PostType, User } from '#plugin-api';
import type { Database } from '../../database/database-contract.ts';
import type { Sanitizer } from '../html/sanitizer.ts';
import { composePost } from './compose.ts';
import type { PostData } from './post-row.ts';
import { autosaveSlug, type PostStore } from './post-store.ts';

export const revisionsSetting = 'revisions_to_keep';

export interface RevisionWriterDependencies {
  readonly store: Pick<PostStore, 'insert' | 'revisionIds' | 'remove' | 'get'>;
  readonly options: Pick<OptionsApi, 'get'>;
  readonly hooks: Pick<HooksApi, 'applyFiltersAsync' | 'doActionAsync'>;
}

export interface RevisionWriter {
  /**
   * Stores revisions when an update changes text and deletes the oldest beyond the limit. Runs inside the transaction of
   * the update. Returns a function that runs the actions after the commit.
   *
   * @param author id of the editor; 0: the author of the post.
   */
  write(change: {
    readonly before: Post;
    readonly after: Post;
    readonly type: PostType;
    readonly author: number;
  }): Promise<() => Promise<void>>;
}

/** Revisions are posts of type `revision` whose parent is the post. */
export function createRevisionWriter({ store, options, hooks }: RevisionWriterDependencies): RevisionWriter {
  const findLimit = async (post: Post): Promise<number> =>
    hooks.applyFiltersAsync('wp_revisions_to_keep', Number(await options.get(revisionsSetting)), post);
  return {
    async write({ before, after, type, author }) {
      const limit =
        !hasSameText(before, after) && type.supports.includes('revisions') && before.status !== 'auto-draft'
          ? await findLimit(after)
          : 0;
      if (limit === 0) return async () => undefined;
      const created: Post[] = [];
      const existing = await store.revisionIds(after.id);
      // Unlike WordPress, also stores the version before the first change.
      if (existing.length === 0 && hasText(before))
        created.push(await store.insert(toRevision(before, before.authorId, before.modified), null));
      created.push(await store.insert(toRevision(after, author || after.authorId, after.modified), null));
      const surplus = limit < 0 ? [] : (await store.revisionIds(after.id)).slice(limit);
      const removed: Post[] = [];
      // Sequentially: a transaction has one connection.
      for (const id of surplus) {
        const revision = await store.get(id);
        if (revision !== null) removed.push(revision);
      }
      await store.remove(surplus);
      return async () => {
        for (const revision of created) await hooks.doActionAsync('_wp_put_post_revision', revision.id, after.id);
        for (const revision of removed) await hooks.doActionAsync('wp_delete_post_revision', revision.id, revision);
      };
    },
  };
}

function hasText({ title, content, excerpt }: Post): boolean {
  return title !== '' || content !== '' || excerpt !== '';
}

/** A revision with the text of a post. */
export function toRevision(post: PostData & { readonly id: number }, authorId: number, createdAt: number): PostData {
  return {
    type: 'revision',
    status: 'inherit',
    title: post.title,
    content: post.content,
    excerpt: post.excerpt,
    slug: `${post.id}-revision-v1`,
    authorId,
    parentId: post.id,
    menuOrder: 0,
    date: createdAt,
    isDateSet: true,
    modified: createdAt,
    mimeType: '',
    featuredMediaId: 0,
    trashedFrom: null,
    password: '',
    commentStatus: 'closed',
  };
}

export interface AutosavesDependencies {
  readonly database: Pick<Database, 'transaction' | 'lock'>;
  readonly store: Pick<PostStore, 'autosaveIds' | 'get' | 'insert' | 'update' | 'remove'>;
  readonly hooks: Pick<HooksApi, 'doActionAsync'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly sanitizer: Sanitizer;
}

export type AutosavedText = Pick<PostInput, 'title' | 'content' | 'excerpt'>;

/** Unsaved texts of posts: one revision for each user and post, which changes the post in nothing. */
export interface Autosaves {
  /** The autosave of a user, or null. */
  find(postId: number, userId: number): Promise<Post | null>;
  /** Creates or replaces the user's autosave. Null: it equals the post, and an earlier autosave was removed. */
  save(post: Post, text: AutosavedText, user: User): Promise<Post | null>;
  /** Deletes the user's autosave. */
  discard(postId: number, userId: number): Promise<void>;
}

export function createAutosaves({ database, store, hooks, clock, sanitizer }: AutosavesDependencies): Autosaves {
  const find = async (postId: number, userId: number): Promise<Post | null> => {
    // Sequentially: a transaction has one connection.
    for (const id of await store.autosaveIds(postId)) {
      const autosave = await store.get(id);
      if (autosave?.authorId === userId) return autosave;
    }
    return null;
  };
  /** One at a time: two requests at once would both insert. */
  const alone = <Result>(postId: number, work: () => Promise<Result>): Promise<Result> =>
    database.transaction(async () => {
      await database.lock(`content_autosaves_${postId}`);
      return work();
    });
  return {
    find,
    async save(post, text, user) {
      const now = clock.now();
      const draft = { before: post, input: text, as: user, now, commentStatus: 'closed' } as const;
      const composed = await composePost({ ...draft, sanitizer });
      const revision = toRevision({ ...composed, id: post.id }, user.id, composed.modified);
      const autosave = { ...revision, slug: autosaveSlug(post.id) };
      const saved = await alone(post.id, async () => {
        const own = await find(post.id, user.id);
        if (hasSameText(composed, post)) {
          if (own) await store.remove([own.id]);
          return null;
        }
        return own ? store.update(own.id, autosave, null) : store.insert(autosave, null);
      });
      if (saved !== null) await hooks.doActionAsync('_wp_put_post_revision', saved.id, post.id);
      return saved;
    },
    async discard(postId, userId) {
      await alone(postId, async () => {
        const own = await find(postId, userId);
        if (own) await store.remove([own.id]);
      });
    },
  };
}

/** Whether two versions of a post have the same title, content and excerpt. */
export function hasSameText(
  first: Pick<Post, 'title' | 'content' | 'excerpt'>,
  second: Pick<Post, 'title' | 'content' | 'excerpt'>,
): boolean {
  return first.title === second.title && first.content === second.content && first.excerpt === second.excerpt;
}
