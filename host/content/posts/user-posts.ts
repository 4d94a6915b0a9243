import type { HooksApi } from '#plugin-api';
import type { PostRemoval } from './post-removal.ts';
import type { PostStore } from './post-store.ts';
import type { PostWriter } from './post-writer.ts';

/** What becomes of the posts of a user who is deleted: they go to another user, or with theirs, as WordPress has it. */
export function followUsers({
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
