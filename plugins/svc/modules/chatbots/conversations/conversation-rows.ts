import { storableJson, storableText } from '#plugin-api';
import { textVersion } from './conversation-tables.ts';
import type { Conversation, NewConversation, NewMessage, Source, StoredMessage } from './conversation.ts';

/** A row as both databases return it: 64-bit integers are numbers. */
export interface ConversationRow {
  readonly id: number;
  readonly uuid: string;
  readonly bot_id: number;
  readonly user_id: number;
  readonly session_id: string | null;
  readonly module: string;
  readonly key_id: number | null;
  readonly message_count: number;
  readonly created_at: number;
  readonly last_message_at: number;
  readonly page_url: string;
  readonly ip: string;
  readonly consented_at: number | null;
  readonly variables: string;
  readonly stored: string;
  readonly tokens: number;
  readonly cost: number;
  readonly liked: number;
  readonly disliked: number;
  /** 0. The release before needs it. */
  readonly revision: number;
  /** `textVersion` if search finds the messages by their texts, less for conversations that wait to be indexed. */
  readonly indexed: number;
}

export interface MessageRow {
  readonly id: number;
  readonly conversation_id: number;
  readonly uuid: string;
  readonly position: number;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly created_at: number;
  readonly provider: string | null;
  readonly model: string | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly total_tokens: number | null;
  readonly cost: number | null;
  readonly sources: string | null;
  readonly is_partial: number;
  readonly feedback: StoredMessage['feedback'];
  readonly comment: string;
  readonly feedback_revision: number;
}

export function toConversation(row: ConversationRow): Conversation {
  return {
    id: row.id,
    uuid: row.uuid,
    botId: row.bot_id,
    userId: row.user_id,
    sessionId: row.session_id,
    module: row.module,
    keyId: row.key_id === null ? null : Number(row.key_id),
    messageCount: row.message_count,
    createdAt: row.created_at,
    lastMessageAt: row.last_message_at,
    pageUrl: row.page_url,
    ip: row.ip,
    consentedAt: row.consented_at,
    variables: JSON.parse(row.variables) as Conversation['variables'],
    stored: JSON.parse(row.stored) as Conversation['stored'],
  };
}

export function toMessage(row: MessageRow): StoredMessage {
  const { input_tokens, output_tokens, total_tokens } = row;
  return {
    id: row.uuid,
    role: row.role,
    content: row.content,
    createdAt: row.created_at,
    provider: row.provider,
    model: row.model,
    usage:
      total_tokens === null
        ? null
        : { input_tokens: input_tokens ?? 0, output_tokens: output_tokens ?? 0, total_tokens },
    cost: row.cost,
    sources: row.sources === null ? [] : (JSON.parse(row.sources) as Source[]),
    isPartial: row.is_partial === 1,
    feedback: row.feedback,
    comment: row.comment,
    feedbackRevision: row.feedback_revision,
  };
}

export function newConversationRow(
  conversation: NewConversation,
  now: number,
): Omit<ConversationRow, 'id' | 'tokens' | 'cost' | 'liked' | 'disliked' | 'message_count'> {
  return {
    uuid: conversation.uuid,
    bot_id: conversation.botId,
    user_id: conversation.userId,
    session_id: conversation.sessionId,
    module: conversation.module,
    key_id: conversation.keyId ?? null,
    created_at: now,
    last_message_at: now,
    page_url: storableText(conversation.pageUrl),
    ip: conversation.ip,
    consented_at: conversation.consentedAt,
    variables: storableJson(conversation.variables ?? {}),
    stored: '[]',
    revision: 0,
    indexed: textVersion,
  };
}

export function newMessageRow(
  message: NewMessage,
): Omit<
  MessageRow,
  'id' | 'conversation_id' | 'position' | 'created_at' | 'feedback' | 'comment' | 'feedback_revision'
> {
  const { usage = null, sources = [] } = message;
  return {
    uuid: message.id,
    role: message.role,
    content: storableText(message.content),
    provider: message.provider ?? null,
    model: message.model ?? null,
    input_tokens: usage?.input_tokens ?? null,
    output_tokens: usage?.output_tokens ?? null,
    total_tokens: usage?.total_tokens ?? null,
    cost: message.cost ?? null,
    sources: sources.length === 0 ? null : storableJson(sources),
    is_partial: message.isPartial ? 1 : 0,
  };
}
