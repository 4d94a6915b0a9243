import { randomUUID } from 'node:crypto';
import type { Database } from '../../../host/database/database.ts';
import { textVersion, trigramIndex } from '../../../plugins/svc/modules/chatbots/conversations/conversation-tables.ts';
import {
  idsOf,
  indexConversations,
  pack,
} from '../../../plugins/svc/modules/chatbots/conversations/search/conversation-texts.ts';

export interface UserSeed {
  readonly id: number;
  readonly login: string;
  readonly email: string;
  readonly displayName: string;
}

export interface MessageSeed {
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly createdAt: number;
}

export interface ConversationSeed {
  readonly id: number;
  readonly botId: number;
  readonly userId: number;
  readonly sessionId: string | null;
  readonly createdAt: number;
  readonly messages: readonly MessageSeed[];
  readonly liked: number;
}

export interface LogsWriter {
  users(users: readonly UserSeed[]): Promise<void>;
  conversations(conversations: readonly ConversationSeed[]): Promise<void>;
  /** PostgreSQL's index of the texts takes a tenth of the time when it is created at the end. */
  begin(): Promise<void>;
  /** What the databases have to know of rows that they did not number. */
  finish(conversations: number): Promise<void>;
}

interface TableOf {
  readonly table: string;
  readonly columns: readonly (readonly [name: string, type: string])[];
}

const userTable: TableOf = {
  table: 'users',
  columns: [
    ['id', 'int'],
    ['login', 'text'],
    ['login_key', 'text'],
    ['email', 'text'],
    ['email_key', 'text'],
    ['display_name', 'text'],
    ['display_key', 'text'],
    ['roles', 'text'],
    ['password_hash', 'text'],
    ['created_at', 'bigint'],
    ['slug', 'text'],
  ],
};

const conversationTable: TableOf = {
  table: 'svc_conversations',
  columns: [
    ['id', 'bigint'],
    ['uuid', 'text'],
    ['bot_id', 'bigint'],
    ['user_id', 'bigint'],
    ['session_id', 'text'],
    ['module', 'text'],
    ['message_count', 'int'],
    ['created_at', 'bigint'],
    ['last_message_at', 'bigint'],
    ['page_url', 'text'],
    ['ip', 'text'],
    ['variables', 'text'],
    ['stored', 'text'],
    ['tokens', 'bigint'],
    ['cost', 'bigint'],
    ['liked', 'int'],
    ['disliked', 'int'],
    ['revision', 'bigint'],
    ['indexed', 'smallint'],
  ],
};

const messageTable: TableOf = {
  table: 'svc_messages',
  columns: [
    ['conversation_id', 'bigint'],
    ['uuid', 'text'],
    ['position', 'int'],
    ['role', 'text'],
    ['content', 'text'],
    ['created_at', 'bigint'],
    ['provider', 'text'],
    ['model', 'text'],
    ['input_tokens', 'int'],
    ['output_tokens', 'int'],
    ['total_tokens', 'int'],
    ['cost', 'bigint'],
    ['feedback', 'text'],
  ],
};

const textTable: TableOf = {
  table: 'svc_conversation_texts',
  columns: [
    ['id', 'bigint'],
    ['text', 'text'],
  ],
};

type Value = string | number | null;

export function createWriter(database: Database): LogsWriter {
  async function insert({ table, columns }: TableOf, rows: readonly (readonly Value[])[]): Promise<void> {
    const names = columns.map(([name]) => name).join(', ');
    await database.direct({
      sqlite: ({ run }) => {
        const sql = `INSERT INTO ${table} (${names}) VALUES (${columns.map(() => '?').join(', ')})`;
        for (const row of rows) run(sql, ...row);
      },
      postgresql: async ({ rows: query }) => {
        const lists = columns.map(([, type], index) => `$${String(index + 1)}::${type}[]`).join(', ');
        await query(
          `INSERT INTO ${table} (${names}) SELECT * FROM unnest(${lists})`,
          columns.map((_, index) => rows.map((row) => row[index])),
        );
      },
    });
  }

  return {
    async users(users) {
      // The administrator has the first id.
      const rows = users.map(
        ({ id, login, email, displayName }) =>
          [
            id + 1000,
            login,
            login,
            email,
            email,
            displayName,
            displayName.toLowerCase(),
            '["subscriber"]',
            '!',
            0,
            login,
          ] as const,
      );
      for (let start = 0; start < rows.length; start += 1000) await insert(userTable, rows.slice(start, start + 1000));
    },
    async conversations(conversations) {
      if (conversations.length === 0) return;
      await insert(conversationTable, conversations.map(conversationRow));
      await insert(messageTable, conversations.flatMap(messageRows));
      await insert(
        textTable,
        conversations.flatMap(({ id, messages }) =>
          pack(
            { id: idsOf(id)[0], text: '' },
            messages.map(({ content }) => content),
          ).map(({ id: textId, text }) => [textId, text]),
        ),
      );
    },
    async begin() {
      if (database.dialect === 'postgresql') await database.knex.raw(`DROP INDEX ${trigramIndex}`);
    },
    async finish(conversations) {
      await indexConversations(database);
      await database.direct({
        sqlite: ({ run }) => {
          run('ANALYZE');
        },
        postgresql: async ({ rows }) => {
          await rows("SELECT setval(pg_get_serial_sequence('svc_conversations', 'id'), $1)", [conversations]);
          await rows('VACUUM ANALYZE');
        },
      });
    },
  };
}

function conversationRow({
  id,
  botId,
  userId,
  sessionId,
  createdAt,
  messages,
  liked,
}: ConversationSeed): readonly Value[] {
  const last = messages.at(-1)?.createdAt ?? createdAt;
  return [
    id,
    randomUUID(),
    botId,
    userId === 0 ? 0 : userId + 1000,
    sessionId,
    'chatbot',
    messages.length,
    createdAt,
    last,
    'https://shop.example/',
    '203.0.113.0',
    '{}',
    '[]',
    messages.length * 60,
    messages.length * 45,
    liked,
    0,
    0,
    textVersion,
  ];
}

function messageRows({ id, messages, liked }: ConversationSeed): (readonly Value[])[] {
  return messages.map(({ role, content, createdAt }, index) => [
    id,
    `m-${String(index + 1)}`,
    index + 1,
    role,
    content,
    createdAt,
    ...(role === 'user'
      ? [null, null, null, null, null, null, 'none']
      : ['OpenAI', 'gpt-4o-mini', 80, 40, 120, 90, liked === 1 && index === 1 ? 'up' : 'none']),
  ]);
}
