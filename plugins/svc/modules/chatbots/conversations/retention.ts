import type { HostApi } from '#plugin-api';
import type { Bot } from '../bots/bot.ts';
import { tables } from './conversation-tables.ts';
import { writePartsOf } from './conversation-store.ts';
import { deleteConversations } from './delete-conversations.ts';

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
