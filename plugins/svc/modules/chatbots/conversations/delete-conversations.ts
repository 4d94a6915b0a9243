import { tables } from './conversation-tables.ts';
import type { HostApi } from '#plugin-api';
import type { Bot } from '../bots/bot.ts';
import { createWriteParts, type WriteParts } from './append-messages.ts';
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
  { inTransaction }: Pick<WriteParts, 'inTransaction'>,
  ids: readonly number[],
): Promise<number> {
  if (ids.length === 0) return 0;
  return inTransaction(async (transaction) => {
    const deleted = await transaction(tables.conversations)
      .whereIn('id', [...ids])
      .delete();
    await transaction(tables.messages)
      .whereIn('conversation_id', [...ids])
      .delete();
    await deleteTexts(transaction, ids);
    return deleted;
  });
}

/**
 * Runs in the transaction that deletes a user. Conversations move to the heir. Without an heir they keep the id of the
 * deleted user, and lose session and IP address.
 */
export async function forgetUser(
  { database }: Pick<HostApi, 'database'>,
  { id, heir }: { readonly id: number; readonly heir: number | null },
): Promise<void> {
  const changes = heir === null ? { session_id: null, ip: '' } : { user_id: heir };
  await database.knex(tables.conversations).where({ user_id: id }).update(changes);
}
