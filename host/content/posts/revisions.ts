import type { HooksApi, OptionsApi, Post, PostType } from '#plugin-api';
import type { PostData } from './post-row.ts';
import type { PostStore } from './post-store.ts';

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
      const isChanged =
        before.title !== after.title || before.content !== after.content || before.excerpt !== after.excerpt;
      const limit =
        isChanged && type.supports.includes('revisions') && before.status !== 'auto-draft' ? await findLimit(after) : 0;
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
