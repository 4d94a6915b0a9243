import { storedJson } from '#plugin-api';
import type { HostApi } from '#plugin-api';
import { plainDollars, toDollars } from '../../../kit/dollars.ts';
import { csvLine, byteOrderMark } from '../../../kit/csv.ts';
import { botsTable } from '../bots/bots-table.ts';
import type { Conversation, StoredMessage } from './conversation.ts';
import { toConversation, toMessage, type ConversationRow, type MessageRow } from './conversation-rows.ts';
import { tables } from './conversation-tables.ts';
import { deletedBotName, deletedUserName, guestName } from './log-rows.ts';

/** A conversation with everything that is exported. */
export interface ExportedConversation {
  readonly conversation: Conversation;
  readonly botName: string;
  readonly userName: string;
  readonly messages: readonly StoredMessage[];
}

const batchSize = 200;

/** Reads conversations in batches, in the given order, so that memory use stays small. Deleted ones are left out. */
export async function* readConversations(
  host: Pick<HostApi, 'database' | 'users'>,
  ids: ArrayLike<number>,
): AsyncGenerator<ExportedConversation> {
  const { knex } = host.database;
  for (let start = 0; start < ids.length; start += batchSize) {
    const batch = Array.from(
      { length: Math.min(batchSize, ids.length - start) },
      (_, index) => ids[start + index] ?? 0,
    );
    const rows = (await knex(tables.conversations).whereIn('id', batch)) as ConversationRow[];
    const messages = (await knex(tables.messages)
      .whereIn('conversation_id', batch)
      .orderBy(['conversation_id', 'position'])) as MessageRow[];
    const bots = (await knex(botsTable)
      .whereIn('id', [...new Set(rows.map(({ bot_id }) => bot_id).filter((id) => id < 2 ** 31))])
      .select('id', 'settings')) as { id: number; settings: string }[];
    const botNames = new Map(bots.map(({ id, settings }) => [id, (storedJson(settings) as { name: string }).name]));
    const userNames = await host.users.names([...new Set(rows.map(({ user_id }) => user_id).filter((id) => id > 0))]);
    const byId = new Map(rows.map((row) => [row.id, row]));
    const byConversation = groupMessages(messages);
    for (const id of batch) {
      const row = byId.get(id);
      if (row === undefined) continue;
      yield {
        conversation: toConversation(row),
        botName: botNames.get(row.bot_id) ?? deletedBotName,
        userName: row.user_id === 0 ? guestName : (userNames.get(row.user_id) ?? deletedUserName),
        messages: (byConversation.get(id) ?? []).map(toMessage),
      };
    }
  }
}

function groupMessages(messages: readonly MessageRow[]): Map<number, MessageRow[]> {
  const groups = new Map<number, MessageRow[]>();
  for (const message of messages) {
    const group = groups.get(message.conversation_id);
    if (group === undefined) groups.set(message.conversation_id, [message]);
    else group.push(message);
  }
  return groups;
}

const columns: readonly (readonly [
  string,
  (exported: ExportedConversation, message: StoredMessage) => string | number | null,
])[] = [
  ['conversation_id', ({ conversation }) => conversation.id],
  ['conversation_uuid', ({ conversation }) => conversation.uuid],
  ['bot_id', ({ conversation }) => conversation.botId],
  ['bot_name', ({ botName }) => botName],
  ['user_id', ({ conversation }) => conversation.userId],
  ['user_name', ({ userName }) => userName],
  ['session_id', ({ conversation }) => conversation.sessionId ?? ''],
  ['module', ({ conversation }) => conversation.module],
  ['page_url', ({ conversation }) => conversation.pageUrl],
  ['message_id', (_, { id }) => id],
  ['time', (_, { createdAt }) => new Date(createdAt).toISOString()],
  ['role', (_, { role }) => role],
  ['content', (_, { content }) => content],
  ['provider', (_, { provider }) => provider ?? ''],
  ['model', (_, { model }) => model ?? ''],
  ['input_tokens', (_, { usage }) => usage?.input_tokens ?? ''],
  ['output_tokens', (_, { usage }) => usage?.output_tokens ?? ''],
  ['cost_usd', (_, { cost }) => (cost === null ? '' : plainDollars(cost))],
  ['feedback', (_, { feedback }) => (feedback === 'none' ? '' : feedback)],
  ['comment', (_, { comment }) => comment],
];

/** One line per message (RFC 4180). Formulas are escaped, so that spreadsheets do not run them. */
export async function* logsCsv(conversations: AsyncIterable<ExportedConversation>): AsyncGenerator<string> {
  yield byteOrderMark + csvLine(columns.map(([name]) => name));
  for await (const exported of conversations) {
    const lines = exported.messages.map((message) => csvLine(columns.map(([, read]) => read(exported, message) ?? '')));
    if (lines.length > 0) yield lines.join('');
  }
}

/** One JSON object per line and conversation. */
export async function* logsJsonl(conversations: AsyncIterable<ExportedConversation>): AsyncGenerator<string> {
  for await (const exported of conversations) yield `${JSON.stringify(conversationRecord(exported))}\n`;
}

export function conversationRecord({
  conversation,
  botName,
  userName,
  messages,
}: ExportedConversation): Record<string, unknown> {
  const {
    id,
    uuid,
    botId,
    userId,
    sessionId,
    module,
    createdAt,
    lastMessageAt,
    pageUrl,
    ip,
    consentedAt,
    variables,
    stored,
  } = conversation;
  return {
    id,
    uuid,
    bot: { id: botId, name: botName },
    user: userId === 0 ? null : { id: userId, name: userName },
    session_id: sessionId,
    module,
    created_at: new Date(createdAt).toISOString(),
    last_message_at: new Date(lastMessageAt).toISOString(),
    page_url: pageUrl,
    ip,
    consented_at: consentedAt === null ? null : new Date(consentedAt).toISOString(),
    variables,
    stored,
    messages: messages.map((message) => ({
      id: message.id,
      role: message.role,
      content: message.content,
      created_at: new Date(message.createdAt).toISOString(),
      provider: message.provider,
      model: message.model,
      usage: message.usage,
      cost_usd: toDollars(message.cost),
      sources: message.sources,
      is_partial: message.isPartial,
      feedback: message.feedback,
      comment: message.comment,
    })),
  };
}
