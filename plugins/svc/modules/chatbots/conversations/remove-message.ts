import type { Knex } from '#plugin-api';
import { holdConversation, type WriteParts } from './append-messages.ts';
import type { ConversationStore } from './conversation.ts';
import type { ConversationRow, MessageRow } from './conversation-rows.ts';
import { tables } from './conversation-tables.ts';
import { nextRevision } from './revision.ts';

export function createRemove({ database, inTransaction }: WriteParts): ConversationStore['remove'] {
  return (conversationId, messageId, outer) =>
    inTransaction(async (transaction) => {
      const held = await holdConversation(transaction, database.dialect, conversationId);
      const row = await transaction<MessageRow>(tables.messages).where({ conversation_id: conversationId, uuid: messageId }).first();
      if (held === undefined || row === undefined) return false;
      await transaction(tables.messages).where({ id: row.id }).delete();
      const last = await transaction<MessageRow>(tables.messages).where({ conversation_id: conversationId }).orderBy('position', 'desc').first();
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
      if (row.segment_id !== null) await forgetText(transaction, { conversationId, segmentId: row.segment_id });
      return true;
    }, outer);
}

/** The index holds the conversation's text of that segment as one: what is left of it is indexed anew. */
async function forgetText(transaction: Knex.Transaction, { conversationId, segmentId }: { readonly conversationId: number; readonly segmentId: number }): Promise<void> {
  await transaction(tables.dead).insert({ segment_id: segmentId, conversation_id: conversationId }).onConflict(['segment_id', 'conversation_id']).ignore();
  await transaction<MessageRow>(tables.messages).where({ conversation_id: conversationId, segment_id: segmentId }).update({ segment_id: null });
}
