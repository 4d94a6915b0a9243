import type { Clock, CronApi, HooksApi, Post } from '#plugin-api';
import type { Database } from '../../database/database-contract.ts';
import { contentErrors } from '../errors.ts';
import type { PostStore } from './post-store.ts';
import { publishEvent, type PostWriter } from './post-writer.ts';

export interface PostRemovalDependencies {
  readonly database: Pick<Database, 'transaction' | 'afterCommit'>;
  readonly store: PostStore;
  readonly writer: PostWriter;
  readonly hooks: Pick<HooksApi, 'doActionAsync' | 'applyFiltersAsync'>;
  readonly cron: Pick<CronApi, 'schedule' | 'unschedule'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Returns a function that deletes the file of an attachment after its row is deleted. */
  readonly removeFile: (attachment: Post) => Promise<() => void>;
}

export interface PostRemoval {
  delete(id: number, options?: { readonly force?: boolean }): Promise<Post | null>;
  untrash(id: number): Promise<Post>;
  /** Deletes posts after 30 days in the trash, and auto-drafts after 7 days. Returns the number of deleted posts. */
  emptyTrash(): Promise<number>;
}

/** Name of the daily cron event that empties the trash. */
export const emptyTrashEvent = 'wp_scheduled_delete';
const day = 86_400_000;

export function createPostRemoval(given: PostRemovalDependencies): PostRemoval {
  const { store, hooks, writer, clock } = given;

  async function trash(post: Post): Promise<Post> {
    const veto = await hooks.applyFiltersAsync('pre_trash_post', null, post, post.status);
    if (veto !== null) return post;
    await hooks.doActionAsync('wp_trash_post', post.id, post.status);
    const trashed = await writer.update(post.id, { status: 'trash' });
    await hooks.doActionAsync('trashed_post', post.id, post.status);
    await given.cron.schedule('daily', emptyTrashEvent);
    return trashed;
  }

  const removal: PostRemoval = {
    async delete(id, { force = false } = {}) {
      const post = await store.get(id);
      if (post === null) return null;
      const isPermanent = force || post.status === 'trash' || post.type === 'revision' || post.type === 'attachment';
      return isPermanent ? remove(given, post, force) : trash(post);
    },
    async untrash(id) {
      const post = await store.get(id);
      if (post === null) throw contentErrors.rest_post_invalid_id();
      if (post.status !== 'trash') return post;
      const previous = post.trashedFrom ?? 'draft';
      await hooks.doActionAsync('untrash_post', id, previous);
      const status = await hooks.applyFiltersAsync(
        'wp_untrash_post_status',
        post.type === 'attachment' ? 'inherit' : 'draft',
        id,
        previous,
      );
      const restored = await writer.update(id, { status });
      await hooks.doActionAsync('untrashed_post', id, previous);
      return restored;
    },
    async emptyTrash() {
      const rules = [
        ['trash', 30],
        ['auto-draft', 7],
      ] as const;
      let removed = 0;
      for (const [status, days] of rules) {
        const old = await store.find({
          type: 'any',
          status,
          modifiedBefore: clock.now() - days * day,
          orderBy: 'id',
          order: 'asc',
          limit: 500,
        });
        for (const { id } of old) if ((await removal.delete(id, { force: true })) !== null) removed += 1;
      }
      return removed;
    },
  };
  return removal;
}

/** Deletes a post with revisions and meta. Its children move to its parent. */
async function remove(given: PostRemovalDependencies, post: Post, force: boolean): Promise<Post> {
  const { hooks, store, database, cron } = given;
  const veto = await hooks.applyFiltersAsync('pre_delete_post', null, post, force);
  if (veto !== null) return post;
  const { id, type } = post;
  await hooks.doActionAsync('before_delete_post', id, post);
  if (type === 'attachment') await hooks.doActionAsync('delete_attachment', id, post);
  await hooks.doActionAsync(`delete_post_${type}`, id, post);
  await hooks.doActionAsync('delete_post', id, post);
  await database.transaction(async () => {
    if (post.status === 'future') await cron.unschedule(publishEvent, [id]);
    const removeFile = type === 'attachment' ? await given.removeFile(post) : null;
    if (type !== 'revision') await moveChildren(given, post);
    const revisions = type === 'revision' ? [] : [...(await store.revisionIds(id)), ...(await store.autosaveIds(id))];
    await store.remove([...revisions, id]);
    if (removeFile !== null) database.afterCommit(removeFile);
  });
  await hooks.doActionAsync(`deleted_post_${type}`, id, post);
  await hooks.doActionAsync('deleted_post', id, post);
  await hooks.doActionAsync('after_delete_post', id, post);
  return post;
}

/** Sequentially, because each slug must be unique below the new parent. */
async function moveChildren({ store, writer }: PostRemovalDependencies, { id, type, parentId }: Post): Promise<void> {
  for (const child of await store.childIds(id))
    await writer.update(child, { parentId: type === 'attachment' ? 0 : parentId });
}
