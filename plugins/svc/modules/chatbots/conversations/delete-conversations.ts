import type { WriteParts } from './append-messages.ts';
import { tables } from './conversation-tables.ts';
import { nextRevision } from './revision.ts';
import type { HostApi } from '#plugin-api';
import type { Bot } from '../bots/bot.ts';
import { writePartsOf } from './conversation-store.ts';

export interface RetentionParts {
  readonly host: Pick<HostApi, 'database' | 'clock'>;
  readonly bots: readonly Pick<Bot, 'id' | 'privacy'>[];
  /** Ends it after the batch under way; the next run goes on. */
  readonly isOver?: () => boolean;
}

const day = 24 * 3600 * 1000;
const atOnce = 500;

/**
 * Deletes what is older than its chatbot keeps, in batches that hold up nobody. It may be stopped at any moment, and run on
 * several nodes at once. Conversations of bots that keep them for ever, and of bots that were deleted, stay. Answers how many went.
 */
export async function sweepConversations({ host, bots, isOver = () => false }: RetentionParts): Promise<number> {
  const { knex } = host.database;
  let swept = 0;
  for (const { id, privacy } of bots) {
    if (privacy.retention_days <= 0) continue;
    const before = host.clock.now() - privacy.retention_days * day;
    for (;;) {
      if (isOver()) return swept;
      const ids = (await knex(tables.conversations)
        .where({ bot_id: id })
        .where('last_message_at', '<', before)
        .orderBy('last_message_at')
        .limit(atOnce)
        .pluck('id')) as number[];
      swept += await deleteConversations(writePartsOf(host), ids);
      if (ids.length < atOnce) break;
    }
  }
  return swept;
}

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
