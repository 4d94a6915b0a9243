import { lockConversation, type WriteParts } from './append-messages.ts';
import type { ConversationStore } from './conversation.ts';
import type { ConversationRow, MessageRow } from './conversation-rows.ts';
import { tables, textVersion } from './conversation-tables.ts';
import { rewriteTexts } from './search/conversation-texts.ts';

export function createRemoveMessage({ database, inTransaction }: WriteParts): ConversationStore['remove'] {
  return (conversationId, messageId, outer) =>
    inTransaction(async (transaction) => {
      const locked = await lockConversation(transaction, database.dialect, conversationId);
      const row = await transaction<MessageRow>(tables.messages)
        .where({ conversation_id: conversationId, uuid: messageId })
        .first();
      if (locked === undefined || row === undefined) return false;
      await transaction(tables.messages).where({ id: row.id }).delete();
      const last = await transaction<MessageRow>(tables.messages)
        .where({ conversation_id: conversationId })
        .orderBy('position', 'desc')
        .first();
      await transaction<ConversationRow>(tables.conversations)
        .where({ id: conversationId })
        .update({
          message_count: locked.message_count - 1,
          last_message_at: last?.created_at ?? locked.created_at,
          tokens: locked.tokens - (row.total_tokens ?? 0),
          cost: locked.cost - (row.cost ?? 0),
          liked: locked.liked - (row.feedback === 'up' ? 1 : 0),
          disliked: locked.disliked - (row.feedback === 'down' ? 1 : 0),
        });
      if (locked.indexed === textVersion) await rewriteTexts(transaction, conversationId);
      return true;
    }, outer);
}
