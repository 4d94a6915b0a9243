import type { WriteParts } from './append-messages.ts';
import { tables } from './conversation-tables.ts';
import { nextRevision } from './revision.ts';

/**
 * Removes conversations with all their messages; answers how many there were. What the index still holds of them is found by
 * nobody and goes when their part of it is next written.
 *
 * @param ids at most 1,000.
 */
export async function deleteConversations(
  { database, inTransaction }: WriteParts,
  ids: readonly number[],
): Promise<number> {
  if (ids.length === 0) return 0;
  return inTransaction(async (transaction) => {
    const rows = (await transaction(tables.conversations)
      .whereIn('id', [...ids])
      .select('id')) as { id: number }[];
    await transaction(tables.conversations)
      .whereIn('id', [...ids])
      .delete();
    await transaction(tables.messages)
      .whereIn('conversation_id', [...ids])
      .delete();
    if (rows.length === 0) return 0;
    const revision = await nextRevision(transaction, database.dialect);
    const removed = rows.map(({ id }) => ({ conversation_id: id, revision, removed_at: database.now() }));
    await transaction(tables.removals).insert(removed).onConflict('conversation_id').ignore();
    return rows.length;
  });
}
