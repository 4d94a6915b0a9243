import type { Clock, CronApi, HooksApi, Logger } from '#plugin-api';
import { emptyTrashEvent, type PostRemoval } from './post-removal.ts';
import type { PostStore } from './post-store.ts';
import { publishEvent, type PostWriter } from './post-writer.ts';

export interface ScheduledWorkDependencies {
  readonly hooks: Pick<HooksApi, 'addAction'>;
  readonly store: PostStore;
  readonly writer: PostWriter;
  readonly removal: PostRemoval;
  readonly cron: Pick<CronApi, 'scheduleSingle'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}

/** Cron events: publishes scheduled posts and empties the trash. One node runs each event. */
export function addScheduledWork({ hooks, store, writer, removal, cron, clock, log }: ScheduledWorkDependencies): void {
  hooks.addAction(publishEvent, async (id: number) => {
    const post = await store.get(Number(id));
    if (post === null || post.status !== 'future') return;
    // The date may have been changed since the event was scheduled.
    if (post.date > clock.now()) await cron.scheduleSingle(post.date, publishEvent, [post.id]);
    else await writer.update(post.id, { status: 'publish' });
  });
  hooks.addAction(emptyTrashEvent, async () => {
    const removed = await removal.emptyTrash();
    if (removed > 0) log.info('Trash emptied', { event: 'trash_emptied', posts: removed });
  });
}

/** Reassigns or deletes the posts of a deleted user, as in WordPress. */
export function reassignPostsOfDeletedUsers({
  hooks,
  store,
  writer,
  removal,
}: {
  hooks: Pick<HooksApi, 'addAction'>;
  store: PostStore;
  writer: PostWriter;
  removal: PostRemoval;
}): void {
  hooks.addAction('delete_user', async (userId: number, reassignTo: number | null) => {
    for (const id of await store.authorPosts(userId)) {
      if (reassignTo === null || reassignTo === undefined) await removal.delete(id);
      else await writer.update(id, { authorId: reassignTo });
    }
  });
}
