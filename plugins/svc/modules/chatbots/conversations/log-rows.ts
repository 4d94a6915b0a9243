import type { DatabaseApi, PostgresqlConnection, SqliteConnection, UsersApi } from '#plugin-api';
import { botsTable } from '../bots/bots-table.ts';
import { tables } from './conversation-tables.ts';

/** A row of `GET /logs` (contract 2.5, D14). All members are texts, except a missing session (null). */
export interface LogRow {
  readonly id: string;
  readonly bot_id: string;
  readonly user_id: string;
  readonly session_id: string | null;
  readonly conversation_uuid: string;
  readonly is_guest: '0' | '1';
  readonly module: string;
  readonly message_count: string;
  readonly last_message_ts: string;
  /** UTC. */
  readonly created_at: string;
  readonly bot_name: string;
  readonly user_display_name: string;
  /** JSON of LoggedMessage[]. */
  readonly messages: string;
}

/** Members without a value are left out. */
export interface LoggedMessage {
  readonly id: string;
  readonly role: string;
  readonly content: string;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  readonly provider?: string;
  readonly model?: string;
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number; readonly total_tokens: number };
  readonly feedback?: string;
}

export const guestName = 'Guest';
export const deletedUserName = '(deleted user)';
export const deletedBotName = '(deleted chatbot)';

export interface LogRowsParts {
  readonly database: Pick<DatabaseApi, 'direct'>;
  readonly users: Pick<UsersApi, 'names'>;
}

type Values = readonly unknown[];

/** Upper bound of the cache of messages, in characters. An entry is valid until the conversation's revision changes. */
const maxCachedCharacters = 8_000_000;

export interface LogRows {
  /** Rows of the logs, with current names. */
  read(ids: readonly number[]): Promise<LogRow[]>;
  /** Empties the cache. Needed when revisions may count again what they have counted: after a restored backup. */
  forget(): void;
}

export function createLogRows({ database, users }: LogRowsParts): LogRows {
  let cache = createMessageCache();

  async function read(ids: readonly number[]): Promise<LogRow[]> {
    if (ids.length === 0) return [];
    const { conversations, bots, messages } = await database.direct<Read | Promise<Read>>(
      {
        sqlite: (connection) => readSqlite(connection, ids, cache),
        postgresql: (connection) => readPostgresql(connection, ids, cache),
      },
      { readOnly: true },
    );
    const names = await users.names([...new Set(conversations.map((row) => Number(row[2])).filter((id) => id > 0))]);
    const rows = new Map(
      conversations.map((row) => {
        const written = messages.get(Number(row[0])) ?? noMessages;
        const logged = logRow(row, { bots, names, messages: written.json });
        writtenMessages.set(logged, written);
        return [Number(row[0]), logged];
      }),
    );
    return ids.flatMap((id) => rows.get(id) ?? []);
  }

  return { read, forget: () => void (cache = createMessageCache()) };
}

interface Read {
  readonly conversations: readonly Values[];
  readonly bots: ReadonlyMap<number, string>;
  /** By conversation. */
  readonly messages: ReadonlyMap<number, Written>;
}

/** Messages as JSON, and that JSON quoted as a JSON string. */
interface Written {
  readonly json: string;
  readonly quoted: string;
}

const noMessages: Written = { json: '[]', quoted: '"[]"' };

const conversationColumns =
  'id, bot_id, user_id, session_id, uuid, module, message_count, last_message_at, created_at, revision';
const messageColumns =
  'conversation_id, uuid, role, content, created_at, provider, model, input_tokens, output_tokens, total_tokens, feedback';

const sqliteConversations = `SELECT ${conversationColumns} FROM ${tables.conversations} WHERE id IN (SELECT value FROM json_each(?))`;
const sqliteMessages = `SELECT ${messageColumns} FROM ${tables.messages} WHERE conversation_id IN (SELECT value FROM json_each(?)) ORDER BY conversation_id, position`;
const sqliteBots = `SELECT id, json_extract(settings, '$.name') FROM ${botsTable} WHERE id IN (SELECT value FROM json_each(?))`;

function readSqlite({ rows }: SqliteConnection, ids: readonly number[], cache: MessageCache): Read {
  const conversations = rows(sqliteConversations, JSON.stringify(ids));
  const missing = cache.missing(conversations);
  if (missing.length > 0) cache.add(conversations, rows(sqliteMessages, JSON.stringify(missing)));
  return {
    conversations,
    bots: botNames(rows(sqliteBots, JSON.stringify(botIds(conversations)))),
    messages: cache.read(conversations),
  };
}

const postgresqlConversations = `SELECT ${conversationColumns} FROM ${tables.conversations} WHERE id = ANY($1)`;
const postgresqlMessages = `SELECT ${messageColumns} FROM ${tables.messages} WHERE conversation_id = ANY($1) ORDER BY conversation_id, position`;
const postgresqlBots = `SELECT id, settings::json->>'name' FROM ${botsTable} WHERE id = ANY($1)`;

async function readPostgresql(
  connection: PostgresqlConnection,
  ids: readonly number[],
  cache: MessageCache,
): Promise<Read> {
  // Messages are never older than their cached revision, because a later change has its own revision.
  const { rows: conversations } = await connection.rows(postgresqlConversations, [ids]);
  const missing = cache.missing(conversations);
  if (missing.length > 0) cache.add(conversations, (await connection.rows(postgresqlMessages, [missing])).rows);
  const bots = (await connection.rows(postgresqlBots, [botIds(conversations)])).rows;
  return { conversations, bots: botNames(bots), messages: cache.read(conversations) };
}

const botNames = (rows: readonly Values[]): ReadonlyMap<number, string> =>
  new Map(rows.map(([id, name]) => [Number(id), String(name)]));

/** Ids of bots have 32 bits on PostgreSQL; larger ones cannot exist. */
function botIds(conversations: readonly Values[]): number[] {
  return [...new Set(conversations.map((row) => Number(row[1])).filter((id) => id < 2 ** 31))];
}

/** Caches messages of conversations as JSON, by revision. */
interface MessageCache {
  /** Ids of conversations that are not cached or have changed. */
  missing(conversations: readonly Values[]): number[];
  add(conversations: readonly Values[], messages: readonly Values[]): void;
  /** Evicts the oldest entries if the cache is too large. */
  read(conversations: readonly Values[]): ReadonlyMap<number, Written>;
}

function createMessageCache(): MessageCache {
  const texts = new Map<number, Written & { readonly revision: number }>();
  let length = 0;

  function forget(id: number): void {
    length -= lengthOf(texts.get(id));
    texts.delete(id);
  }

  return {
    missing: (conversations) =>
      conversations
        .filter((row) => texts.get(Number(row[0]))?.revision !== Number(row[9]))
        .map((row) => Number(row[0])),
    add(conversations, messages) {
      const revisions = new Map(conversations.map((row) => [Number(row[0]), Number(row[9])]));
      const byConversation = new Map<number, LoggedMessage[]>();
      for (const row of messages) {
        const id = Number(row[0]);
        const list = byConversation.get(id);
        if (list === undefined) byConversation.set(id, [loggedMessage(row)]);
        else list.push(loggedMessage(row));
      }
      for (const [id, list] of byConversation) {
        forget(id);
        const json = JSON.stringify(list);
        const written = { revision: revisions.get(id) ?? 0, json, quoted: JSON.stringify(json) };
        texts.set(id, written);
        length += lengthOf(written);
      }
    },
    read(conversations) {
      const found = new Map(
        conversations.map((row) => [Number(row[0]), texts.get(Number(row[0])) ?? noMessages] as const),
      );
      for (const id of texts.keys()) {
        if (length <= maxCachedCharacters) break;
        forget(id);
      }
      return found;
    },
  };
}

function lengthOf(written: Written | undefined): number {
  return written === undefined ? 0 : written.json.length + written.quoted.length;
}

function loggedMessage([
  ,
  id,
  role,
  content,
  createdAt,
  provider,
  model,
  input,
  output,
  total,
  feedback,
]: Values): LoggedMessage {
  return {
    id: String(id),
    role: String(role),
    content: String(content),
    timestamp: Math.floor(Number(createdAt) / 1000),
    ...(provider !== null && { provider: String(provider) }),
    ...(model !== null && { model: String(model) }),
    ...(total !== null && {
      usage: { input_tokens: Number(input), output_tokens: Number(output), total_tokens: Number(total) },
    }),
    ...(feedback !== 'none' && { feedback: String(feedback) }),
  };
}

interface Names {
  readonly bots: ReadonlyMap<number, string>;
  readonly names: ReadonlyMap<number, string>;
  readonly messages: string;
}

function logRow(
  [id, botId, userId, sessionId, uuid, module, count, lastMessageAt, createdAt]: Values,
  { bots, names, messages }: Names,
): LogRow {
  const user = Number(userId);
  return {
    id: String(id),
    bot_id: String(botId),
    user_id: String(user),
    session_id: sessionId === null ? null : String(sessionId),
    conversation_uuid: String(uuid),
    is_guest: user === 0 ? '1' : '0',
    module: String(module),
    message_count: String(count),
    last_message_ts: String(Math.floor(Number(lastMessageAt) / 1000)),
    created_at: new Date(Number(createdAt)).toISOString().slice(0, 19).replace('T', ' '),
    bot_name: bots.get(Number(botId)) ?? deletedBotName,
    user_display_name: user === 0 ? guestName : (names.get(user) ?? deletedUserName),
    messages,
  };
}

/** The JSON of rows. It reuses the cached messages, which are most of the text, unless a filter has changed them in place. */
export function writeRows(rows: readonly LogRow[]): Uint8Array {
  const texts = rows.map((row) => {
    const written = writtenMessages.get(row);
    if (written?.json !== row.messages) return JSON.stringify(row);
    const { messages: _, ...others } = row;
    return `${JSON.stringify(others).slice(0, -1)},"messages":${written.quoted}}`;
  });
  return Buffer.from(`[${texts.join(',')}]`);
}

/** The messages that a row was created with. */
const writtenMessages = new WeakMap<LogRow, Written>();
