import type { Clock, DatabaseApi, HostApi, Knex } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import type { ConversationStore, NewMessage } from './conversation.ts';
import { toConversation, newMessageRow, type ConversationRow, type MessageRow } from './conversation-rows.ts';
import type { InTransaction } from './conversation-store.ts';
import { tables, textVersion } from './conversation-tables.ts';
import { addTexts } from './search/conversation-texts.ts';

export interface WriteParts {
  readonly database: Pick<DatabaseApi, 'dialect' | 'now'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly inTransaction: InTransaction;
}

/** Locks the row of a conversation until the transaction ends. SQLite needs no lock, because it has one writer. */
export async function lockConversation(
  transaction: Knex.Transaction,
  dialect: DatabaseApi['dialect'],
  id: number,
): Promise<ConversationRow | undefined> {
  const query = transaction<ConversationRow>(tables.conversations).where({ id }).first();
  return (await (dialect === 'postgresql' ? query.forUpdate() : query)) as ConversationRow | undefined;
}

export function createAppendMessages({ database, clock, inTransaction }: WriteParts): ConversationStore['append'] {
  return (conversationId, messages, outer) =>
    inTransaction(async (transaction) => {
      const locked = await lockConversation(transaction, database.dialect, conversationId);
      if (locked === undefined) throw errors.conversation_not_found();
      const added = await selectNewMessages(transaction, conversationId, messages);
      if (added.length === 0) return { conversation: toConversation(locked), added: [] };
      // Clocks of nodes differ, but time must not go backwards within a conversation.
      const now = Math.max(clock.now(), locked.last_message_at);
      const [last] = await transaction<MessageRow>(tables.messages)
        .where({ conversation_id: conversationId })
        .max({ position: 'position' });
      const first = Number((last as { position: number | null } | undefined)?.position ?? 0) + 1;
      const rows = added.map((message, index) => ({
        ...newMessageRow(message),
        conversation_id: conversationId,
        position: first + index,
        created_at: now,
      }));
      await transaction(tables.messages).insert(rows);
      if (locked.indexed === textVersion)
        await addTexts(
          transaction,
          conversationId,
          rows.map(({ content }) => content),
        );
      const sums = {
        message_count: locked.message_count + added.length,
        last_message_at: now,
        tokens: locked.tokens + sum(added.map(({ usage }) => usage?.total_tokens ?? 0)),
        cost: locked.cost + sum(added.map(({ cost }) => cost ?? 0)),
      };
      await transaction<ConversationRow>(tables.conversations).where({ id: conversationId }).update(sums);
      return { conversation: toConversation({ ...locked, ...sums }), added: added.map(({ id }) => id) };
    }, outer);
}

/** The messages with new ids, without duplicates. */
async function selectNewMessages(
  transaction: Knex.Transaction,
  conversationId: number,
  messages: readonly NewMessage[],
): Promise<NewMessage[]> {
  const ids = messages.map(({ id }) => id);
  const known = await transaction<MessageRow>(tables.messages)
    .where({ conversation_id: conversationId })
    .whereIn('uuid', ids)
    .select('uuid');
  const seen = new Set(known.map(({ uuid }) => uuid));
  return messages.filter(({ id }) => !seen.has(id) && seen.add(id));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

export function createWriteParts({ database, clock }: Pick<HostApi, 'database' | 'clock'>): WriteParts {
  return {
    database,
    clock,
    inTransaction: (work, outer) => (outer === undefined ? database.transaction(work) : work(outer)),
  };
}
