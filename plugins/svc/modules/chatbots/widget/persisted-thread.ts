import { errors } from '../../../kit/errors.ts';
import type { Conversation, ConversationStore, NewConversation, StoredMessage } from '../conversations/conversation.ts';
import { widgetMessage } from './response-mappers.ts';
import type { Thread } from './thread.ts';

export interface PersistedThreadParts {
  readonly conversations: ConversationStore;
  /** Null: it begins with its first message. */
  readonly conversation: Conversation | null;
  readonly beginning: NewConversation;
}

/** Messages looked at to find the answer of one: those of the last few turns. */
const recent = 20;

/** A conversation in the database. */
export function createPersistedThread({ conversations, conversation, beginning }: PersistedThreadParts): Thread {
  let current = conversation;
  let variables = conversation?.variables ?? {};

  const stored = (): Conversation => {
    if (current === null) throw errors.conversation_not_found();
    return current;
  };

  return {
    uuid: beginning.uuid,
    isNew: conversation === null || conversation.messageCount === 0,
    messageCount: conversation?.messageCount ?? 0,
    get variables() {
      return variables;
    },
    hasConsent: typeof conversation?.consentedAt === 'number',
    async stateOf(messageId) {
      const [message, answer, ...later] = current === null ? [] : await messagesFrom(conversations, current, messageId);
      if (message === undefined) return { kind: 'new' };
      if (message.role !== 'user') throw errors.message_not_found();
      if (answer === undefined) return { kind: 'unanswered' };
      return answer.role === 'assistant'
        ? { kind: 'answered', answer, isLast: later.length === 0 }
        : { kind: 'followed' };
    },
    async add({ id, content }) {
      current ??= await conversations.start(beginning);
      if (current.consentedAt === null && beginning.consentedAt !== null)
        await conversations.update(current.id, { consentedAt: beginning.consentedAt });
      const { conversation: changed, added } = await conversations.append(current.id, [{ id, role: 'user', content }]);
      current = changed;
      const isNew = added.length > 0;
      return { count: changed.messageCount, isNew, isFirst: isNew && changed.messageCount === 1 };
    },
    async answer(message, replaces) {
      const { id } = stored();
      if (replaces !== null) await conversations.remove(id, replaces);
      current = (await conversations.append(id, [message])).conversation;
      const added = await conversations.message(id, message.id);
      if (added === null) throw errors.message_not_found();
      return { count: current.messageCount, message: widgetMessage(added) };
    },
    async note({ variables: changed, stored: kept }) {
      variables = changed;
      const { id, stored: before } = stored();
      await conversations.update(id, { variables: changed, ...(kept.length > 0 && { stored: [...before, ...kept] }) });
      current = { ...stored(), variables: changed, stored: [...before, ...kept] };
    },
    async told(messageId, most) {
      if (current === null) return [];
      const messages = await conversations.messages(current.id, { last: most + 1 });
      const at = messages.findIndex(({ id }) => id === messageId);
      const upTo = at < 0 ? messages : messages.slice(0, at + 1);
      return upTo
        .filter(({ content }) => content !== '')
        .map(({ role, content }) => ({ role, content }))
        .slice(-most);
    },
  };
}

/** A message and what came after it; nothing where it is not there. */
async function messagesFrom(
  conversations: ConversationStore,
  { id }: Conversation,
  messageId: string,
): Promise<readonly StoredMessage[]> {
  if ((await conversations.message(id, messageId)) === null) return [];
  for (let last = recent; ; last *= 8) {
    const messages = await conversations.messages(id, { last });
    const at = messages.findIndex((message) => message.id === messageId);
    if (at >= 0) return messages.slice(at);
    if (messages.length < last) return [];
  }
}
