import type { HostApi } from '#plugin-api';
import { tables } from './conversation-tables.ts';
import { nextRevision } from './revision.ts';

/**
 * When a user is deleted, in the same transaction: conversations go over to whoever inherits; without an heir they stay, by a
 * number that is nobody's any more, without session and address.
 */
export async function forgetUser(
  { database }: Pick<HostApi, 'database'>,
  { id, heir }: { readonly id: number; readonly heir: number | null },
): Promise<void> {
  await database.transaction(async (transaction) => {
    const revision = await nextRevision(transaction, database.dialect);
    const changes = heir === null ? { session_id: null, ip: '' } : { user_id: heir };
    await transaction(tables.conversations)
      .where({ user_id: id })
      .update({ ...changes, revision });
  });
}
