import { randomUUID } from 'node:crypto';
import type { Database } from '../../../../../host/database/database.ts';
import { createFakeClock, type FakeClock } from '#testing';
import type {
  ConversationStore,
  NewConversation,
  NewMessage,
} from '../../../../../plugins/svc/modules/chatbots/conversations/conversation.ts';
import { createConversationStore } from '../../../../../plugins/svc/modules/chatbots/conversations/conversation-store.ts';
import { conversationMigrations } from '../../../../../plugins/svc/modules/chatbots/conversations/conversation-tables.ts';
import type { OpenDatabase } from '../../../../helpers/dialects.ts';

export interface Conversations {
  readonly database: Database;
  readonly clock: FakeClock;
  readonly store: ConversationStore;
}

/** A node with the tables of conversations. @param clock that of the other nodes; default one of its own. */
export async function openConversations(
  open: OpenDatabase,
  clock: FakeClock = createFakeClock(),
): Promise<Conversations> {
  const database = await open({ clock });
  await database.migrate('svc', conversationMigrations);
  return { database, clock, store: createConversationStore({ host: { database, clock } }) };
}

export function aConversation(given: Partial<NewConversation> = {}): NewConversation {
  return {
    uuid: randomUUID(),
    botId: 1,
    userId: 0,
    sessionId: 'session-1',
    module: 'chatbot',
    pageUrl: 'https://shop.example/',
    ip: '203.0.113.0',
    consentedAt: null,
    ...given,
  };
}

export function aQuestion(content: string, given: Partial<NewMessage> = {}): NewMessage {
  return { id: randomUUID(), role: 'user', content, ...given };
}

export function anAnswer(content: string, given: Partial<NewMessage> = {}): NewMessage {
  return {
    id: randomUUID(),
    role: 'assistant',
    content,
    provider: 'OpenAI',
    model: 'gpt-4o-mini',
    usage: { input_tokens: 7, output_tokens: 3, total_tokens: 10 },
    cost: 25,
    ...given,
  };
}
