import type { HooksApi, OptionsApi, Post, PostType } from '#plugin-api';
import type { PostData } from './post-row.ts';
import type { PostStore } from './post-store.ts';

export const revisionsSetting = 'revisions_to_keep';

export interface RevisionKeeperDependencies {
  readonly store: Pick<PostStore, 'insert' | 'revisionIds' | 'remove' | 'get'>;
  readonly options: Pick<OptionsApi, 'get'>;
  readonly hooks: Pick<HooksApi, 'applyFiltersAsync' | 'doActionAsync'>;
}

export interface RevisionKeeper {
  /**
   * Keeps what an update left behind and what it brought, when text changed; the oldest beyond the limit go. Runs inside
   * the update's transaction; what it answers tells of it, to be called afterwards.
   *
   * @param author who wrote; 0: the post's author.
   */
  keep(change: {
    readonly before: Post;
    readonly after: Post;
    readonly type: PostType;
    readonly author: number;
  }): Promise<() => Promise<void>>;
}

/** Revisions are posts of type `revision` below the post they are of. */
export function createRevisionKeeper({ store, options, hooks }: RevisionKeeperDependencies): RevisionKeeper {
  const limitOf = async (post: Post): Promise<number> =>
    hooks.applyFiltersAsync('wp_revisions_to_keep', Number(await options.get(revisionsSetting)), post);
  return {
    async keep({ before, after, type, author }) {
      const isChanged =
        before.title !== after.title || before.content !== after.content || before.excerpt !== after.excerpt;
      const limit =
        isChanged && type.supports.includes('revisions') && before.status !== 'auto-draft' ? await limitOf(after) : 0;
      if (limit === 0) return async () => undefined;
      const made: Post[] = [];
      const kept = await store.revisionIds(after.id);
      // WordPress loses what was there before the first change.
      if (kept.length === 0 && hasText(before))
        made.push(await store.insert(revisionOf(before, before.authorId, before.modified), null));
      made.push(await store.insert(revisionOf(after, author || after.authorId, after.modified), null));
      const surplus = limit < 0 ? [] : (await store.revisionIds(after.id)).slice(limit);
      const removed: Post[] = [];
      // One after the other: a transaction has one connection.
      for (const id of surplus) {
        const revision = await store.get(id);
        if (revision !== null) removed.push(revision);
      }
      await store.remove(surplus);
      return async () => {
        for (const revision of made) await hooks.doActionAsync('_wp_put_post_revision', revision.id, after.id);
        for (const revision of removed) await hooks.doActionAsync('wp_delete_post_revision', revision.id, revision);
      };
    },
  };
}

function hasText({ title, content, excerpt }: Post): boolean {
  return title !== '' || content !== '' || excerpt !== '';
}

function revisionOf(post: Post, authorId: number, moment: number): PostData {
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
    date: moment,
    isDateSet: true,
    modified: moment,
    mimeType: '',
    featuredMediaId: 0,
    trashedFrom: null,
  };
}
