import type { HooksApi, Post } from '#plugin-api';
import type { PostData } from './post-row.ts';

declare module '#plugin-api' {
  interface FilterMap {
    /** True rejects a post without title, content and excerpt. */
    wp_insert_post_empty_content: (isEmpty: boolean, post: Readonly<Record<string, unknown>>) => boolean;
    /** The data before a write. `update` is true for an existing post. */
    wp_insert_post_data: (
      ...args: [
        data: PostData,
        input: Readonly<Record<string, unknown>>,
        unsanitized: Readonly<Record<string, unknown>>,
        update: boolean,
      ]
    ) => PostData;
    wp_insert_attachment_data: (
      ...args: [
        data: PostData,
        input: Readonly<Record<string, unknown>>,
        unsanitized: Readonly<Record<string, unknown>>,
        update: boolean,
      ]
    ) => PostData;
    /** A value other than null prevents moving the post to the trash. */
    pre_trash_post: (result: boolean | null, post: Post, previousStatus: string) => boolean | null;
    /** A value other than null prevents the deletion. */
    pre_delete_post: (result: boolean | null, post: Post, force: boolean) => boolean | null;
    /** Status of a post that is restored from the trash. */
    wp_untrash_post_status: (status: string, postId: number, previousStatus: string) => string;
    /** Number of revisions to store for the post; -1 stores all. */
    wp_revisions_to_keep: (number: number, post: Post) => number;
  }
  interface ActionMap {
    pre_post_update: (postId: number, data: PostData) => void;
    /** The old status of a new post is `new`. Also as `{old}_to_{new}` and `{new}_{type}`. */
    transition_post_status: (newStatus: string, oldStatus: string, post: Post) => void;
    edit_post: (postId: number, post: Post) => void;
    post_updated: (postId: number, after: Post, before: Post) => void;
    save_post: (postId: number, post: Post, update: boolean) => void;
    wp_insert_post: (postId: number, post: Post, update: boolean) => void;
    wp_after_insert_post: (...args: [postId: number, post: Post, update: boolean, before: Post | null]) => void;
    add_attachment: (postId: number) => void;
    edit_attachment: (postId: number) => void;
    attachment_updated: (postId: number, after: Post, before: Post) => void;
    wp_trash_post: (postId: number, previousStatus: string) => void;
    trashed_post: (postId: number, previousStatus: string) => void;
    untrash_post: (postId: number, previousStatus: string) => void;
    untrashed_post: (postId: number, previousStatus: string) => void;
    before_delete_post: (postId: number, post: Post) => void;
    delete_post: (postId: number, post: Post) => void;
    deleted_post: (postId: number, post: Post) => void;
    after_delete_post: (postId: number, post: Post) => void;
    delete_attachment: (postId: number, post: Post) => void;
    _wp_put_post_revision: (revisionId: number, postId: number) => void;
    wp_delete_post_revision: (revisionId: number, revision: Post) => void;
    wp_restore_post_revision: (postId: number, revisionId: number) => void;
    publish_future_post: (postId: number) => void;
  }
}

/** Post hooks, in the order of WordPress. */
export type PostHooks = Pick<HooksApi, 'doActionAsync' | 'applyFiltersAsync'>;

/** Runs the actions after a write. */
export async function announceSaved(hooks: PostHooks, post: Post, before: Post | null): Promise<void> {
  const { id, type } = post;
  const isUpdate = before !== null;
  if (type === 'attachment') {
    if (before === null) await hooks.doActionAsync('add_attachment', id);
    else {
      await hooks.doActionAsync('edit_attachment', id);
      await hooks.doActionAsync('attachment_updated', id, post, before);
    }
    return hooks.doActionAsync('wp_after_insert_post', id, post, isUpdate, before);
  }
  await announceTransition(hooks, post, before?.status ?? 'new');
  if (before !== null) {
    await hooks.doActionAsync(`edit_post_${type}`, id, post);
    await hooks.doActionAsync('edit_post', id, post);
    await hooks.doActionAsync('post_updated', id, post, before);
  }
  await hooks.doActionAsync(`save_post_${type}`, id, post, isUpdate);
  await hooks.doActionAsync('save_post', id, post, isUpdate);
  await hooks.doActionAsync('wp_insert_post', id, post, isUpdate);
  await hooks.doActionAsync('wp_after_insert_post', id, post, isUpdate, before);
}

async function announceTransition(hooks: PostHooks, post: Post, oldStatus: string): Promise<void> {
  await hooks.doActionAsync('transition_post_status', post.status, oldStatus, post);
  await hooks.doActionAsync(`${oldStatus}_to_${post.status}`, post);
  await hooks.doActionAsync(`${post.status}_${post.type}`, post.id, post, oldStatus);
}
