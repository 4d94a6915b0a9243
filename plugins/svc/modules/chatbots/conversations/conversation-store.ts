import { storableJson, type HostApi, type Knex } from '#plugin-api';
import type { Conversation, ConversationStore, Owner, StoredMessage } from './conversation.ts';
import { toConversation, toMessage, newConversationRow } from './conversation-rows.ts';
import type { ConversationRow, MessageRow } from './conversation-rows.ts';
import { tables } from './conversation-tables.ts';
import { createAppendMessages, createWriteParts, lockConversation } from './append-messages.ts';
import { createRemoveMessage } from './remove-message.ts';
import { createSetFeedback } from './set-feedback.ts';
import { deleteConversations } from './delete-conversations.ts';

export interface ConversationStoreParts {
  readonly host: Pick<HostApi, 'database' | 'clock'>;
}

/** Runs work in the outer transaction, or else in the running or a new one. */
export type InTransaction = <Result>(
  work: (transaction: Knex.Transaction) => Promise<Result>,
  outer?: Knex.Transaction,
) => Promise<Result>;

/** Module of conversations that the widget can continue. Conversations of REST calls (D13) cannot be continued. */
export const widgetModule = 'chatbot';

/** Writers of one conversation wait for each other at its row. Nothing is cached between calls. */
export function createConversationStore({ host }: ConversationStoreParts): ConversationStore {
  const { database, clock } = host;
  const conversations = () => database.knex<ConversationRow>(tables.conversations);
  const messages = () => database.knex<MessageRow>(tables.messages);
  const parts = createWriteParts(host);
  const { inTransaction } = parts;

  async function listByOwner(botId: number, owner: Owner, limit: number): Promise<Conversation[]> {
    if (owner.userId === 0 && owner.sessionId === null) return [];
    const ownedBy = owner.userId > 0 ? { user_id: owner.userId } : { session_id: owner.sessionId, user_id: 0 };
    const rows = await conversations()
      .where({ bot_id: botId, module: widgetModule, ...ownedBy })
      .orderBy([
        { column: 'last_message_at', order: 'desc' },
        { column: 'id', order: 'desc' },
      ])
      .limit(limit);
    return rows.map((row) => toConversation(row as ConversationRow));
  }

  return {
    async find(uuid) {
      const row = await conversations().where({ uuid }).first();
      return row === undefined ? null : toConversation(row);
    },
    async messages(conversationId, { last } = {}) {
      const query = messages()
        .where({ conversation_id: conversationId })
        .orderBy('position', last === undefined ? 'asc' : 'desc');
      const rows = (await (last === undefined ? query : query.limit(last))) as MessageRow[];
      return (last === undefined ? rows : rows.reverse()).map(toMessage);
    },
    async message(conversationId, messageId): Promise<StoredMessage | null> {
      const row = await messages().where({ conversation_id: conversationId, uuid: messageId }).first();
      return row === undefined ? null : toMessage(row);
    },
    latest: async (botId, owner) => (await listByOwner(botId, owner, 1))[0] ?? null,
    listByOwner,
    start: (conversation, outer) =>
      inTransaction(async (transaction) => {
        const [row] = await transaction<ConversationRow>(tables.conversations)
          .insert(newConversationRow(conversation, clock.now()))
          .returning('*');
        if (row === undefined) throw new Error('The conversation was not stored.');
        return toConversation(row as ConversationRow);
      }, outer),
    async bindKey(id, keyId) {
      await conversations().where({ id, key_id: null }).update({ key_id: keyId });
      return (await conversations().where({ id, key_id: keyId }).first('id')) !== undefined;
    },
    append: createAppendMessages(parts),
    remove: createRemoveMessage(parts),
    update: (conversationId, { variables = {}, stored = [], consentedAt }, outer) =>
      inTransaction(async (transaction) => {
        const locked = await lockConversation(transaction, database.dialect, conversationId);
        if (locked === undefined) return;
        const before = toConversation(locked);
        await transaction<ConversationRow>(tables.conversations)
          .where({ id: conversationId })
          .update({
            variables: storableJson({ ...before.variables, ...variables }),
            stored: storableJson([...before.stored, ...stored]),
            ...(consentedAt !== undefined && { consented_at: consentedAt }),
          });
      }, outer),
    setFeedback: createSetFeedback(parts),
    delete: async (conversationId) => (await deleteConversations(parts, [conversationId])) > 0,
  };
}
