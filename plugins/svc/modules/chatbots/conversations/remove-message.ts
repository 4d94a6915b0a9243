import type { Knex } from '#plugin-api';
import { holdConversation, type WriteParts } from './append-messages.ts';
import type { ConversationStore } from './conversation.ts';
import type { ConversationRow, MessageRow } from './conversation-rows.ts';
import { tables } from './conversation-tables.ts';
import { holdIndex } from './search/segment-store.ts';
import { nextRevision } from './revision.ts';

export function createRemove({ database, inTransaction }: WriteParts): ConversationStore['remove'] {
  return (conversationId, messageId, outer) =>
    inTransaction(async (transaction) => {
      // Before the message is read, so that it is not indexed in between.
      await holdIndex(transaction);
      const held = await holdConversation(transaction, database.dialect, conversationId);
      const row = await transaction<MessageRow>(tables.messages)
        .where({ conversation_id: conversationId, uuid: messageId })
        .first();
      if (held === undefined || row === undefined) return false;
      await transaction(tables.messages).where({ id: row.id }).delete();
      const last = await transaction<MessageRow>(tables.messages)
        .where({ conversation_id: conversationId })
        .orderBy('position', 'desc')
        .first();
      await transaction<ConversationRow>(tables.conversations)
        .where({ id: conversationId })
        .update({
          message_count: held.message_count - 1,
          last_message_at: last?.created_at ?? held.created_at,
          tokens: held.tokens - (row.total_tokens ?? 0),
          cost: held.cost - (row.cost ?? 0),
          liked: held.liked - (row.feedback === 'up' ? 1 : 0),
          disliked: held.disliked - (row.feedback === 'down' ? 1 : 0),
          revision: await nextRevision(transaction, database.dialect),
        });
      if (row.indexed === 1) await forgetTexts(transaction, conversationId);
      return true;
    }, outer);
}

/** The index holds messages of a conversation as one text: what is left of them is indexed anew. */
async function forgetTexts(transaction: Knex.Transaction, conversationId: number): Promise<void> {
  const last = (await transaction(tables.segments).max({ id: 'id' }).first()) as { id: number | null } | undefined;
  await transaction(tables.dead)
    .insert({ conversation_id: conversationId, segment_id: last?.id ?? 0 })
    .onConflict('conversation_id')
    .merge();
  await transaction<MessageRow>(tables.messages).where({ conversation_id: conversationId }).update({ indexed: 0 });
}
