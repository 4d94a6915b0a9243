import type { HostApi } from '#plugin-api';
import { imageTables } from './image-tables.ts';

/** When a user is deleted, in the same transaction: images go over to whoever inherits; without an heir they stay, and are nobody's. */
export async function forgetUser(
  { database }: Pick<HostApi, 'database'>,
  { id, heir }: { readonly id: number; readonly heir: number | null },
): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction(imageTables.images)
      .where({ user_id: id })
      .update({ user_id: heir ?? 0, session_id: null });
    await transaction(imageTables.requests).where({ user_id: id }).update({ user_id: 0, session_id: null });
  });
}
