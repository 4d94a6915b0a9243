import type { Clock, DatabaseApi, Knex } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import type { ConversationStore, NewMessage } from './conversation.ts';
import { toConversation, newMessageRow, type ConversationRow, type MessageRow } from './conversation-rows.ts';
import type { InTransaction } from './conversation-store.ts';
import { tables } from './conversation-tables.ts';
import { nextRevision } from './revision.ts';

export interface WriteParts {
  readonly database: Pick<DatabaseApi, 'dialect' | 'now'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly inTransaction: InTransaction;
}

/** The conversation, held until the transaction ends: writers of one conversation take turns. SQLite has one writer anyway. */
export async function lockConversation(
  transaction: Knex.Transaction,
  dialect: DatabaseApi['dialect'],
  id: number,
): Promise<ConversationRow | undefined> {
  const query = transaction<ConversationRow>(tables.conversations).where({ id }).first();
  return (await (dialect === 'postgresql' ? query.forUpdate() : query)) as ConversationRow | undefined;
}

export function createAppendMessages({ database, clock, inTransaction }: WriteParts): ConversationStore['append'] {
  return (conversationId, given, outer) =>
    inTransaction(async (transaction) => {
      const held = await lockConversation(transaction, database.dialect, conversationId);
      if (held === undefined) throw errors.conversation_not_found();
      const added = await selectNewMessages(transaction, conversationId, given);
      if (added.length === 0) return { conversation: toConversation(held), added: [] };
      // Clocks of nodes differ: time never goes backwards within a conversation.
      const now = Math.max(clock.now(), held.last_message_at);
      const [last] = await transaction<MessageRow>(tables.messages)
        .where({ conversation_id: conversationId })
        .max({ position: 'position' });
      const first = Number((last as { position: number | null } | undefined)?.position ?? 0) + 1;
      await transaction(tables.messages).insert(
        added.map((message, index) => ({
          ...newMessageRow(message),
          conversation_id: conversationId,
          position: first + index,
          created_at: now,
        })),
      );
      const sums = {
        message_count: held.message_count + added.length,
        last_message_at: now,
        tokens: held.tokens + sum(added.map(({ usage }) => usage?.total_tokens ?? 0)),
        cost: held.cost + sum(added.map(({ cost }) => cost ?? 0)),
        revision: await nextRevision(transaction, database.dialect),
      };
      await transaction<ConversationRow>(tables.conversations).where({ id: conversationId }).update(sums);
      return { conversation: toConversation({ ...held, ...sums }), added: added.map(({ id }) => id) };
    }, outer);
}

/** Those whose ids are new, each once. */
async function selectNewMessages(
  transaction: Knex.Transaction,
  conversationId: number,
  given: readonly NewMessage[],
): Promise<NewMessage[]> {
  const ids = given.map(({ id }) => id);
  const known = await transaction<MessageRow>(tables.messages)
    .where({ conversation_id: conversationId })
    .whereIn('uuid', ids)
    .select('uuid');
  const seen = new Set(known.map(({ uuid }) => uuid));
  return given.filter(({ id }) => !seen.has(id) && seen.add(id));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
