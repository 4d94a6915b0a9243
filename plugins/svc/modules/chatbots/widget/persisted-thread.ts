import { errors } from '../../../kit/errors.ts';
import type { Conversation, ConversationStore, NewConversation, StoredMessage } from '../conversations/conversation.ts';
import { widgetMessage } from './response-mappers.ts';
import { changedVariables } from './rule-outcomes.ts';
import type { Thread } from './thread.ts';

export interface PersistedThreadParts {
  readonly conversations: ConversationStore;
  /** Null when nothing is stored yet; the first message creates it from `initial`. */
  readonly conversation: Conversation | null;
  readonly initial: NewConversation;
}

/** Messages read at first to find the answer to one. */
const recentMessages = 20;

/** A conversation that is stored in the database. */
export function createPersistedThread({ conversations, conversation, initial }: PersistedThreadParts): Thread {
  let current = conversation;
  let variables = conversation?.variables ?? {};

  const stored = (): Conversation => {
    if (current === null) throw errors.conversation_not_found();
    return current;
  };

  return {
    uuid: initial.uuid,
    isNew: conversation === null || conversation.messageCount === 0,
    messageCount: conversation?.messageCount ?? 0,
    variables: () => variables,
    hasConsent: typeof conversation?.consentedAt === 'number',
    async messageState(messageId) {
      const [message, answer, ...later] = current === null ? [] : await messagesFrom(conversations, current, messageId);
      if (message === undefined) return { kind: 'new' };
      if (message.role !== 'user') throw errors.message_not_found();
      if (answer === undefined) return { kind: 'unanswered' };
      return answer.role === 'assistant'
        ? { kind: 'answered', answer, isLast: later.length === 0 }
        : { kind: 'followed' };
    },
    async addMessage({ id, content }) {
      current ??= await conversations.start(initial);
      if (current.consentedAt === null && initial.consentedAt !== null)
        await conversations.update(current.id, { consentedAt: initial.consentedAt });
      const { conversation: changed, added } = await conversations.append(current.id, [{ id, role: 'user', content }]);
      current = changed;
      const isNew = added.length > 0;
      return { count: changed.messageCount, isNew, isFirst: isNew && changed.messageCount === 1 };
    },
    async addAnswer(message, replaces) {
      const { id } = stored();
      if (replaces !== null) await conversations.remove(id, replaces);
      current = (await conversations.append(id, [message])).conversation;
      const added = await conversations.message(id, message.id);
      if (added === null) throw errors.message_not_found();
      return { count: current.messageCount, message: widgetMessage(added) };
    },
    async saveRuleChanges({ variables: changed, stored: added }) {
      const { id, stored: before } = stored();
      await conversations.update(id, { variables: changedVariables(variables, changed), stored: added });
      variables = changed;
      current = { ...stored(), variables: changed, stored: [...before, ...added] };
    },
    async history(messageId, limit) {
      if (current === null) return [];
      const messages = await conversations.messages(current.id, { last: limit + 1 });
      const at = messages.findIndex(({ id }) => id === messageId);
      const upTo = at < 0 ? messages : messages.slice(0, at + 1);
      return upTo
        .filter(({ content }) => content !== '')
        .map(({ role, content }) => ({ role, content }))
        .slice(-limit);
    },
  };
}

/** A message and those after it; empty when it does not exist. */
async function messagesFrom(
  conversations: ConversationStore,
  { id }: Conversation,
  messageId: string,
): Promise<readonly StoredMessage[]> {
  if ((await conversations.message(id, messageId)) === null) return [];
  for (let last = recentMessages; ; last *= 8) {
    const messages = await conversations.messages(id, { last });
    const at = messages.findIndex((message) => message.id === messageId);
    if (at >= 0) return messages.slice(at);
    if (messages.length < last) return [];
  }
}
