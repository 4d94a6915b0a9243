import { storableText } from '#plugin-api';
import { lockConversation, type WriteParts } from './append-messages.ts';
import type { ConversationStore } from './conversation.ts';
import { toMessage, type ConversationRow, type MessageRow } from './conversation-rows.ts';
import { tables } from './conversation-tables.ts';

export function createSetFeedback({ database, inTransaction }: WriteParts): ConversationStore['setFeedback'] {
  return (conversationId, { messageId, value, comment: text }, outer) =>
    inTransaction(async (transaction) => {
      const comment = storableText(text);
      const locked = await lockConversation(transaction, database.dialect, conversationId);
      const row = await transaction<MessageRow>(tables.messages)
        .where({ conversation_id: conversationId, uuid: messageId, role: 'assistant' })
        .first();
      if (locked === undefined || row === undefined || (row.feedback === value && row.comment === comment)) return null;
      const changes = { feedback: value, comment, feedback_revision: row.feedback_revision + 1 };
      await transaction<MessageRow>(tables.messages).where({ id: row.id }).update(changes);
      await transaction<ConversationRow>(tables.conversations)
        .where({ id: conversationId })
        .update({
          liked: locked.liked + Number(value === 'up') - Number(row.feedback === 'up'),
          disliked: locked.disliked + Number(value === 'down') - Number(row.feedback === 'down'),
        });
      return toMessage({ ...row, ...changes });
    }, outer);
}
