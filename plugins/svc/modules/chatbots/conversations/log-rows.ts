import { storedJson, type DatabaseApi, type SqliteConnection, type UsersApi } from '#plugin-api';
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
interface LoggedMessage {
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

/** Columns of a table, in the order that they were selected in. */
type Values = readonly unknown[];
type Rows = readonly Values[];

export const guestName = 'Guest';
export const deletedUserName = '(deleted user)';
export const deletedBotName = '(deleted chatbot)';

export interface LogRowsParts {
  readonly database: Pick<DatabaseApi, 'direct'>;
  readonly users: Pick<UsersApi, 'names'>;
}

const conversationColumns = 'id, bot_id, user_id, session_id, uuid, module, message_count, last_message_at, created_at';
const messageColumns =
  'conversation_id, uuid, role, content, created_at, provider, model, input_tokens, output_tokens, total_tokens, feedback';
const statementsOf = (listed: string) => ({
  conversations: `SELECT ${conversationColumns} FROM ${tables.conversations} WHERE id IN (${listed})`,
  messages: `SELECT ${messageColumns} FROM ${tables.messages} WHERE conversation_id IN (${listed}) ORDER BY conversation_id, position`,
  bots: `SELECT id, settings FROM ${botsTable} WHERE id IN (${listed})`,
});
const statements = {
  sqlite: statementsOf('SELECT value FROM json_each(?)'),
  postgresql: statementsOf('SELECT unnest($1::bigint[])'),
};

interface Read {
  readonly conversations: Rows;
  readonly messages: Rows;
  readonly bots: Rows;
}

/** Reads rows of the logs, with current names, in the order of the ids. */
export function createLogRows({ database, users }: LogRowsParts): (ids: readonly number[]) => Promise<LogRow[]> {
  return async (ids) => {
    if (ids.length === 0) return [];
    const { conversations, messages, bots } = await database.direct<Read>(
      {
        sqlite: (connection) => readSqlite(connection, ids),
        async postgresql({ rows }) {
          const { rows: found } = await rows(statements.postgresql.conversations, [ids]);
          return {
            conversations: found,
            messages: (await rows(statements.postgresql.messages, [ids])).rows,
            bots: (await rows(statements.postgresql.bots, [botIds(found)])).rows,
          };
        },
      },
      { readOnly: true },
    );
    const names = {
      bots: new Map(bots.map(([id, settings]) => [Number(id), (storedJson(String(settings)) as Named).name])),
      users: await users.names([
        ...new Set(conversations.map(([, , userId]) => Number(userId)).filter((id) => id > 0)),
      ]),
    };
    const texts = groupMessages(messages);
    const rows = new Map(conversations.map((row) => [Number(row[0]), row]));
    return ids.flatMap((id) => {
      const row = rows.get(id);
      return row === undefined ? [] : logRow(row, { names, messages: texts.get(id) ?? [] });
    });
  };
}

interface Named {
  readonly name: string;
}

function readSqlite({ rows }: SqliteConnection, ids: readonly number[]): Read {
  const listedIds = JSON.stringify(ids);
  const conversations = rows(statements.sqlite.conversations, listedIds);
  return {
    conversations,
    messages: rows(statements.sqlite.messages, listedIds),
    bots: rows(statements.sqlite.bots, JSON.stringify(botIds(conversations))),
  };
}

/** Ids of bots have 32 bits on PostgreSQL; larger ones cannot exist. */
function botIds(conversations: Rows): number[] {
  return [...new Set(conversations.map(([, botId]) => Number(botId)).filter((id) => id < 2 ** 31))];
}

function groupMessages(messages: Rows): ReadonlyMap<number, readonly LoggedMessage[]> {
  const groups = new Map<number, LoggedMessage[]>();
  for (const row of messages) {
    const id = Number(row[0]);
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [loggedMessage(row)]);
    else group.push(loggedMessage(row));
  }
  return groups;
}

interface RowParts {
  readonly names: { readonly bots: ReadonlyMap<number, string>; readonly users: ReadonlyMap<number, string> };
  readonly messages: readonly LoggedMessage[];
}

/** @param conversation in the order of `conversationColumns` */
function logRow(
  [id, botId, userId, sessionId, uuid, module, count, lastMessageAt, createdAt]: Values,
  { names, messages }: RowParts,
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
    bot_name: names.bots.get(Number(botId)) ?? deletedBotName,
    user_display_name: user === 0 ? guestName : (names.users.get(user) ?? deletedUserName),
    messages: JSON.stringify(messages),
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
