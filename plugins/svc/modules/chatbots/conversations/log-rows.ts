import {
  storedJson,
  type DatabaseApi,
  type PostgresqlConnection,
  type SqliteConnection,
  type UsersApi,
} from '#plugin-api';
import { botsTable } from '../bots/bots-table.ts';
import { tables } from './conversation-tables.ts';
import { copyRows, type LoggedMessage, type LogRow, type WrittenRow } from './log-row.ts';

/** Columns of a table, in the order that they were selected in. */
type Values = readonly unknown[];

export const guestName = 'Guest';
export const deletedUserName = '(deleted user)';
export const deletedBotName = '(deleted chatbot)';

export interface LogRowsParts {
  readonly database: Pick<DatabaseApi, 'direct' | 'dataVersion'>;
  readonly users: Pick<UsersApi, 'names'>;
}

/** Upper bound of the cache of rows, in characters. An entry is valid until the conversation's revision changes. */
const maxCachedCharacters = 8_000_000;

export interface LogRows {
  /** Rows of the logs, with current names. */
  read(ids: readonly number[]): Promise<LogRow[]>;
  /** Empties the cache. Needed when revisions may count again what they have counted: after a restored backup. */
  forget(): void;
}

export function createLogRows({ database, users }: LogRowsParts): LogRows {
  let cache = createRowCache();

  async function read(ids: readonly number[]): Promise<LogRow[]> {
    if (ids.length === 0) return [];
    const version = database.dataVersion();
    const unchanged = cache.unchanged(ids, version);
    if (unchanged !== null) return copyRows(unchanged);
    const { entries, bots } = await database.direct<Read | Promise<Read>>(
      {
        sqlite: (connection) => readSqlite(connection, ids, cache),
        postgresql: (connection) => readPostgresql(connection, ids, cache),
      },
      { readOnly: true },
    );
    const userIds = new Set([...entries.values()].map(({ userId }) => userId).filter((id) => id > 0));
    const names = await users.names([...userIds]);
    const found = ids.flatMap((id) => entries.get(id) ?? []);
    return copyRows(found.map((entry) => writtenRow(entry, { bots, names, version })));
  }

  return { read, forget: () => void (cache = createRowCache()) };
}

interface Read {
  readonly entries: ReadonlyMap<number, LogEntry>;
  readonly bots: ReadonlyMap<number, string>;
}

const conversationColumns =
  'id, revision, bot_id, user_id, session_id, uuid, module, message_count, last_message_at, created_at';
const messageColumns =
  'conversation_id, uuid, role, content, created_at, provider, model, input_tokens, output_tokens, total_tokens, feedback';

const sqliteRows = (columns: string): string =>
  `SELECT ${columns} FROM ${tables.conversations} WHERE id IN (SELECT value FROM json_each(?))`;
const sqliteRevisions = sqliteRows('id, revision');
const sqliteConversations = sqliteRows(conversationColumns);
const sqliteMessages = `SELECT ${messageColumns} FROM ${tables.messages} WHERE conversation_id IN (SELECT value FROM json_each(?)) ORDER BY conversation_id, position`;
const sqliteBots = `SELECT id, settings FROM ${botsTable} WHERE id IN (SELECT value FROM json_each(?))`;

function readSqlite({ rows }: SqliteConnection, ids: readonly number[], cache: RowCache): Read {
  const revisions = rows(sqliteRevisions, JSON.stringify(ids));
  const missing = JSON.stringify(cache.missing(revisions));
  if (missing !== '[]') cache.add(rows(sqliteConversations, missing), rows(sqliteMessages, missing));
  const entries = cache.read(revisions);
  return { entries, bots: botNames(rows(sqliteBots, JSON.stringify(botIds(entries)))) };
}

const postgresqlRows = (columns: string): string => `SELECT ${columns} FROM ${tables.conversations} WHERE id = ANY($1)`;
const postgresqlRevisions = postgresqlRows('id, revision');
const postgresqlConversations = postgresqlRows(conversationColumns);
const postgresqlMessages = `SELECT ${messageColumns} FROM ${tables.messages} WHERE conversation_id = ANY($1) ORDER BY conversation_id, position`;
const postgresqlBots = `SELECT id, settings FROM ${botsTable} WHERE id = ANY($1)`;

async function readPostgresql(
  connection: PostgresqlConnection,
  ids: readonly number[],
  cache: RowCache,
): Promise<Read> {
  const { rows: revisions } = await connection.rows(postgresqlRevisions, [ids]);
  const missing = cache.missing(revisions);
  if (missing.length > 0) {
    // Messages are never older than their cached revision, because a later change has its own revision.
    const { rows: conversations } = await connection.rows(postgresqlConversations, [missing]);
    cache.add(conversations, (await connection.rows(postgresqlMessages, [missing])).rows);
  }
  const entries = cache.read(revisions);
  return { entries, bots: botNames((await connection.rows(postgresqlBots, [botIds(entries)])).rows) };
}

const botNames = (rows: readonly Values[]): ReadonlyMap<number, string> =>
  new Map(rows.map(([id, settings]) => [Number(id), (storedJson(String(settings)) as { name: string }).name]));

/** Ids of bots have 32 bits on PostgreSQL; larger ones cannot exist. */
function botIds(entries: ReadonlyMap<number, LogEntry>): number[] {
  return [...new Set([...entries.values()].map(({ botId }) => botId).filter((id) => id < 2 ** 31))];
}

/** A conversation of one revision. */
interface LogEntry {
  readonly revision: number;
  readonly botId: number;
  readonly userId: number;
  /** All but the names. */
  readonly row: Omit<LogRow, 'bot_name' | 'user_display_name'>;
  /** With the names that it had last. */
  written: WrittenRow | null;
  /** Of the database when it was last compared with it (see DatabaseApi.dataVersion). */
  version: number | null;
}

/** Caches conversations by revision. */
interface RowCache {
  /** The rows of all these conversations, if they were compared with the database at this version. */
  unchanged(ids: readonly number[], version: number | null): WrittenRow[] | null;
  /** Ids of conversations that are not cached or have changed; those are forgotten. @param revisions ids and revisions */
  missing(revisions: readonly Values[]): number[];
  add(conversations: readonly Values[], messages: readonly Values[]): void;
  /** By id. Evicts the oldest entries if the cache is too large. */
  read(revisions: readonly Values[]): ReadonlyMap<number, LogEntry>;
}

function createRowCache(): RowCache {
  const cached = new Map<number, LogEntry>();
  let length = 0;

  function forget(id: number): void {
    length -= lengthOf(cached.get(id));
    cached.delete(id);
  }

  return {
    unchanged(ids, version) {
      if (version === null) return null;
      const rows: WrittenRow[] = [];
      for (const id of ids) {
        const entry = cached.get(id);
        if (entry === undefined || entry.written === null || entry.version !== version) return null;
        rows.push(entry.written);
      }
      return rows;
    },
    missing(revisions) {
      const isCached = ([id, revision]: Values) => cached.get(Number(id))?.revision === Number(revision);
      const ids = revisions.filter((row) => !isCached(row)).map(([id]) => Number(id));
      for (const id of ids) forget(id);
      return ids;
    },
    add(conversations, messages) {
      const byConversation = new Map<number, LoggedMessage[]>();
      for (const row of messages) {
        const id = Number(row[0]);
        const list = byConversation.get(id);
        if (list === undefined) byConversation.set(id, [loggedMessage(row)]);
        else list.push(loggedMessage(row));
      }
      for (const values of conversations) {
        const id = Number(values[0]);
        forget(id);
        const entry = createEntry(values, JSON.stringify(byConversation.get(id) ?? []));
        cached.set(id, entry);
        length += lengthOf(entry);
      }
    },
    read(revisions) {
      const found = new Map<number, LogEntry>();
      for (const [id] of revisions) {
        const entry = cached.get(Number(id));
        if (entry !== undefined) found.set(Number(id), entry);
      }
      for (const id of cached.keys()) {
        if (length <= maxCachedCharacters) break;
        forget(id);
      }
      return found;
    },
  };
}

/** The messages stand in the row and in its JSON. */
function lengthOf(entry: LogEntry | undefined): number {
  return entry === undefined ? 0 : 2 * entry.row.messages.length + 500;
}

/** @param conversation in the order of `conversationColumns` @param messages JSON of LoggedMessage[] */
function createEntry(
  [id, revision, botId, userId, sessionId, uuid, module, count, lastMessageAt, createdAt]: Values,
  messages: string,
): LogEntry {
  const user = Number(userId);
  return {
    revision: Number(revision),
    botId: Number(botId),
    userId: user,
    row: {
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
      messages,
    },
    written: null,
    version: null,
  };
}

/** @param message in the order of `messageColumns` */
function loggedMessage(values: Values): LoggedMessage {
  const [, id, role, content, createdAt, provider, model, input, output, total, feedback] = values;
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

function writtenRow(
  entry: LogEntry,
  {
    bots,
    names,
    version,
  }: Pick<Read, 'bots'> & { readonly names: ReadonlyMap<number, string>; version: number | null },
): WrittenRow {
  const { botId, userId, written } = entry;
  entry.version = version;
  const bot = bots.get(botId) ?? deletedBotName;
  const user = userId === 0 ? guestName : (names.get(userId) ?? deletedUserName);
  if (written?.row.bot_name === bot && written.row.user_display_name === user) return written;
  const { messages, ...others } = entry.row;
  const row: LogRow = { ...others, bot_name: bot, user_display_name: user, messages };
  return (entry.written = { row, bytes: Buffer.from(JSON.stringify(row)) });
}
