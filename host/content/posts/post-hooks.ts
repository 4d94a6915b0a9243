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
    /** The data of a media entry before a write. `update` is true for an existing entry. */
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
    /** Before the changes of an existing post are written. */
    pre_post_update: (postId: number, data: PostData) => void;
    /** The old status of a new post is `new`. Also as `{old}_to_{new}` and `{new}_{type}`. */
    transition_post_status: (newStatus: string, oldStatus: string, post: Post) => void;
    /** After an existing post was changed. Also as `edit_post_{type}`. */
    edit_post: (postId: number, post: Post) => void;
    /** After `edit_post`, with the post after and before the change. */
    post_updated: (postId: number, after: Post, before: Post) => void;
    /**
     * After a post was created or changed, new drafts included. Also as `save_post_{type}`. `update` is true for an
     * existing post.
     */
    save_post: (postId: number, post: Post, update: boolean) => void;
    /** After `save_post`, with the same arguments. */
    wp_insert_post: (postId: number, post: Post, update: boolean) => void;
    /** After a post, its terms and its meta were written: the last action of a change. `before` is null for a new post. */
    wp_after_insert_post: (...args: [postId: number, post: Post, update: boolean, before: Post | null]) => void;
    /** After a file was added to the media library. */
    add_attachment: (postId: number) => void;
    /** After the entry of a file in the media library was changed. */
    edit_attachment: (postId: number) => void;
    /** As `edit_attachment`, with the entry after and before the change. */
    attachment_updated: (postId: number, after: Post, before: Post) => void;
    /** Before a post is moved to the trash. */
    wp_trash_post: (postId: number, previousStatus: string) => void;
    /** After a post was moved to the trash. */
    trashed_post: (postId: number, previousStatus: string) => void;
    /** Before a post is restored from the trash. */
    untrash_post: (postId: number, previousStatus: string) => void;
    /** After a post was restored from the trash. */
    untrashed_post: (postId: number, previousStatus: string) => void;
    /** Before a post is deleted permanently, with revisions and meta. The first action of a deletion. */
    before_delete_post: (postId: number, post: Post) => void;
    /** Just before a post is deleted from the database. Also as `delete_post_{type}`. */
    delete_post: (postId: number, post: Post) => void;
    /** After a post was deleted from the database. Also as `deleted_post_{type}`. */
    deleted_post: (postId: number, post: Post) => void;
    /** After `deleted_post`: the last action of a deletion. */
    after_delete_post: (postId: number, post: Post) => void;
    /** Before a file and its entry are deleted. */
    delete_attachment: (postId: number, post: Post) => void;
    /** After a revision of a post was stored. */
    _wp_put_post_revision: (revisionId: number, postId: number) => void;
    /** After a revision was deleted because newer ones are stored. */
    wp_delete_post_revision: (revisionId: number, revision: Post) => void;
    /** After a post was restored to a revision. */
    wp_restore_post_revision: (postId: number, revisionId: number) => void;
    /** The cron event that publishes a scheduled post. */
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
