import { tables } from './conversation-tables.ts';
import { nextRevision } from './revision.ts';
import type { HostApi } from '#plugin-api';
import type { Bot } from '../bots/bot.ts';
import { createWriteParts, type WriteParts } from './append-messages.ts';
import { tombstoneLifetime } from './search/live-catalogue.ts';
import { deleteTexts } from './search/conversation-texts.ts';

export interface ExpiryParts {
  readonly host: Pick<HostApi, 'database' | 'clock'>;
  readonly bots: readonly Pick<Bot, 'id' | 'privacy'>[];
  /** Stops after the current batch; the next run continues. */
  readonly shouldStop?: () => boolean;
}

const day = 24 * 3600 * 1000;
const batchSize = 500;

/**
 * Deletes conversations that are older than their bot's retention, in small batches. It may be stopped at any time and run
 * on several nodes at once. Conversations of bots without retention and of deleted bots stay. Returns how many were deleted.
 */
export async function deleteExpiredConversations({
  host,
  bots,
  shouldStop = () => false,
}: ExpiryParts): Promise<number> {
  const { knex } = host.database;
  let deleted = 0;
  for (const { id, privacy } of bots) {
    if (privacy.retention_days <= 0) continue;
    const before = host.clock.now() - privacy.retention_days * day;
    for (;;) {
      if (shouldStop()) return deleted;
      const ids = (await knex(tables.conversations)
        .where({ bot_id: id })
        .where('last_message_at', '<', before)
        .orderBy('last_message_at')
        .limit(batchSize)
        .pluck('id')) as number[];
      deleted += await deleteConversations(createWriteParts(host), ids);
      if (ids.length < batchSize) break;
    }
  }
  return deleted;
}

/**
 * Deletes conversations with all their messages and returns how many existed.
 *
 * @param ids at most 1,000.
 */
export async function deleteConversations(
  { database, inTransaction }: WriteParts,
  ids: readonly number[],
): Promise<number> {
  if (ids.length === 0) return 0;
  return inTransaction(async (transaction) => {
    // First, because the rows to delete may have the latest revision.
    const revision = await nextRevision(transaction, database.dialect);
    const rows = (await transaction(tables.conversations)
      .whereIn('id', [...ids])
      .select('id')) as { id: number }[];
    await transaction(tables.conversations)
      .whereIn('id', [...ids])
      .delete();
    await transaction(tables.messages)
      .whereIn('conversation_id', [...ids])
      .delete();
    await deleteTexts(transaction, ids);
    if (rows.length === 0) return 0;
    const tombstones = rows.map(({ id }) => ({ conversation_id: id, revision, removed_at: database.now() }));
    await transaction(tables.tombstones).insert(tombstones).onConflict('conversation_id').ignore();
    return rows.length;
  });
}

/** Deletes the rows of deleted conversations that all processes have read, except the newest (see sqliteRevision). */
export async function deleteTombstones({ database }: Pick<HostApi, 'database'>): Promise<void> {
  const { knex } = database;
  await knex(tables.tombstones)
    .where('removed_at', '<', knex.raw('? - ?', [database.now(), tombstoneLifetime]))
    .where('revision', '<', knex(tables.tombstones).max('revision'))
    .delete();
}

/**
 * Runs in the transaction that deletes a user. Conversations move to the heir. Without an heir they keep the id of the
 * deleted user, and lose session and IP address.
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
