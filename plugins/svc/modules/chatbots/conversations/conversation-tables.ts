import { optionalColumns, requiredColumns, textIndexStatements, type Knex, type Migration } from '#plugin-api';

/** Tables of conversations and of the search in the logs. Times are milliseconds since the epoch. */
export const tables = {
  conversations: 'svc_conversations',
  messages: 'svc_messages',
  /** The search texts of messages, see toSearchText. */
  texts: 'svc_conversation_texts',
  /** Empty. The release before reads it for deleted conversations. */
  tombstones: 'svc_conversation_tombstones',
  /** What was exported or deleted for a person, without the data. */
  receipts: 'svc_personal_receipts',
} as const;

/** SQLite's index of the texts: a table of FTS5. */
export const trigramTable = 'svc_conversation_trigrams';
/** PostgreSQL's index of the texts. */
export const trigramIndex = 'svc_conversation_texts_trigrams';
/** Without a list of pending entries, which every search would read. */
export const trigramColumns = `ON ${tables.texts} USING gin (text gin_trgm_ops) WITH (fastupdate = off)`;

/** Column `indexed` of a conversation whose search texts are as toSearchText makes them now. */
export const textVersion = 2;

/** Conversations of earlier versions that are not indexed yet, or in another way. The index has the condition as a literal. */
export function unindexed(knex: Knex): Knex.QueryBuilder {
  return knex(tables.conversations).whereRaw(`indexed < ${String(textVersion)}`);
}

/** Tables of the former index, which `0204_conversation_texts` drops. Backups of earlier versions have them. */
const former = {
  state: 'svc_log_state',
  segments: 'svc_log_segments',
  terms: 'svc_log_terms',
  words: 'svc_log_words',
  /** Names before `0190_conversation_table_names`, and since. */
  removals: 'svc_conversation_removals',
  dead: ['svc_log_dead', 'svc_log_tombstones'],
  texts: ['svc_log_texts', 'svc_log_postings'],
  positions: ['svc_log_places', 'svc_log_positions'],
} as const;

/** Dropped on uninstall. The index comes before the texts. */
export const conversationTables: readonly string[] = [trigramTable, ...Object.values(tables)];

const conversationsMigration: Migration = {
  id: '0102_conversations',
  async up(knex, { dialect }) {
    await createConversations(knex);
    await createMessages(knex);
    await createFormerIndex(knex, dialect);
    await createReceipts(knex);
  },
};

async function createConversations(knex: Knex): Promise<void> {
  await knex.schema.createTable(tables.conversations, (columns) => {
    columns.bigIncrements('id');
    columns.string('uuid', 36).notNullable().unique();
    columns.bigInteger('bot_id').notNullable();
    // 0: a guest.
    columns.bigInteger('user_id').notNullable();
    columns.string('session_id', 64);
    columns.string('module', 60).notNullable();
    columns.integer('message_count').notNullable().defaultTo(0);
    requiredColumns(columns).bigInteger('created_at', 'last_message_at').text('page_url').string(45, 'ip');
    columns.bigInteger('consented_at');
    // JSON.
    columns.text('variables').notNullable();
    columns.text('stored').notNullable();
    // Sums over the messages. `cost` is in millionths of a US dollar, without answers whose price is unknown.
    columns.bigInteger('tokens').notNullable().defaultTo(0);
    columns.bigInteger('cost').notNullable().defaultTo(0);
    columns.integer('liked').notNullable().defaultTo(0);
    columns.integer('disliked').notNullable().defaultTo(0);
    // Of the last change. Only the release before reads it.
    columns.bigInteger('revision').notNullable();
    columns.index(
      ['revision', 'id', 'bot_id', 'user_id', 'last_message_at', 'liked', 'disliked'],
      `${tables.conversations}_revision`,
    );
    columns.index(['bot_id', 'last_message_at'], `${tables.conversations}_bot`);
  });
  await knex.raw(
    `CREATE INDEX ${tables.conversations}_user ON ${tables.conversations} (user_id, bot_id, last_message_at) WHERE user_id > 0`,
  );
  await knex.raw(
    `CREATE INDEX ${tables.conversations}_session ON ${tables.conversations} (session_id, bot_id, last_message_at) WHERE session_id IS NOT NULL`,
  );
  await knex.schema.createTable(former.removals, (columns) => {
    columns.bigInteger('conversation_id').primary();
    columns.bigInteger('revision').notNullable().index();
    columns.bigInteger('removed_at').notNullable();
  });
}

async function createMessages(knex: Knex): Promise<void> {
  await knex.schema.createTable(tables.messages, (columns) => {
    columns.bigIncrements('id');
    columns.bigInteger('conversation_id').notNullable();
    // Unique within the conversation.
    columns.string('uuid', 64).notNullable();
    // Order within the conversation.
    columns.integer('position').notNullable();
    requiredColumns(columns).string(10, 'role').text('content').bigInteger('created_at');
    optionalColumns(columns)
      .text('provider', 'model')
      .integer('input_tokens', 'output_tokens', 'total_tokens')
      .bigInteger('cost')
      .text('sources');
    columns.smallint('is_partial').notNullable().defaultTo(0);
    columns.string('feedback', 4).notNullable().defaultTo('none');
    columns.text('comment').notNullable().defaultTo('');
    columns.integer('feedback_revision').notNullable().defaultTo(0);
    // 1 if the index contains the message.
    columns.smallint('indexed').notNullable().defaultTo(0);
    columns.unique(['conversation_id', 'uuid'], { indexName: `${tables.messages}_uuid` });
    columns.unique(['conversation_id', 'position'], { indexName: `${tables.messages}_position` });
  });
  await knex.raw(
    `CREATE INDEX ${tables.messages}_pending ON ${tables.messages} (conversation_id, position) WHERE indexed = 0`,
  );
}

/** Only the columns: what backups of earlier versions need. Postings and positions were one table then. */
async function createFormerIndex(knex: Knex, dialect: 'sqlite' | 'postgresql'): Promise<void> {
  const bytes = dialect === 'sqlite' ? 'BLOB' : 'BYTEA';
  await knex.raw(`CREATE TABLE ${former.state} (name TEXT, value BIGINT)`);
  await knex.raw(
    `CREATE TABLE ${former.segments} (id INTEGER, state SMALLINT, changed_at BIGINT, conversations ${bytes})`,
  );
  await knex.raw(`CREATE TABLE ${former.dead[0]} (conversation_id BIGINT, segment_id INTEGER)`);
  await knex.raw(
    `CREATE TABLE ${former.texts[1]} (term_id INTEGER, segment_id INTEGER, texts ${bytes}, places ${bytes})`,
  );
  await knex.raw(`CREATE TABLE ${former.terms} (id INTEGER, kind SMALLINT, term TEXT, backwards TEXT)`);
}

const logTextsMigration: Migration = {
  id: '0182_log_texts',
  async up(knex, { dialect }) {
    const bytes = dialect === 'sqlite' ? 'BLOB' : 'BYTEA';
    await knex.raw(`DROP TABLE ${former.texts[1]}`);
    await knex.raw(`CREATE TABLE ${former.texts[0]} (term_id INTEGER, segment_id INTEGER, texts ${bytes})`);
    await knex.raw(`CREATE TABLE ${former.positions[0]} (term_id INTEGER, segment_id INTEGER, places ${bytes})`);
  },
};

/** Renames tables, a column and an index to the terms of search engines. SQLite cannot rename an index. */
const tableNamesMigration: Migration = {
  id: '0190_conversation_table_names',
  async up(knex, { dialect }) {
    for (const [from, to] of [[former.removals, tables.tombstones], former.dead, former.texts, former.positions])
      await knex.raw(`ALTER TABLE ${from} RENAME TO ${to}`);
    await knex.raw(`ALTER TABLE ${former.positions[1]} RENAME COLUMN places TO positions`);
    const [from, to] = [`${former.removals}_revision_index`, `${tables.tombstones}_revision_index`];
    if (dialect === 'postgresql') return void (await knex.raw(`ALTER INDEX ${from} RENAME TO ${to}`));
    await knex.raw(`DROP INDEX ${from}`);
    await knex.raw(`CREATE INDEX ${to} ON ${tables.tombstones} (revision)`);
  },
};

/**
 * Search by the database's own index (D29) instead of tables of postings. Conversations of earlier versions are indexed in the
 * background: a statement over all of them would take minutes.
 */
const textsMigration: Migration = {
  id: '0204_conversation_texts',
  async up(knex, { dialect }) {
    for (const table of [former.words, former.terms, former.texts[1], former.positions[1], former.dead[1]])
      await knex.raw(`DROP TABLE IF EXISTS ${table}`);
    for (const table of [former.segments, former.state]) await knex.raw(`DROP TABLE IF EXISTS ${table}`);
    await knex.raw(`DROP INDEX ${tables.messages}_pending`);
    await knex.raw(`ALTER TABLE ${tables.messages} DROP COLUMN indexed`);
    await knex.raw(`ALTER TABLE ${tables.conversations} ADD COLUMN indexed SMALLINT NOT NULL DEFAULT 0`);
    await knex.raw(`CREATE INDEX ${tables.conversations}_unindexed ON ${tables.conversations} (id) WHERE indexed = 0`);
    await (dialect === 'sqlite' ? createSqliteTexts(knex) : createPostgresqlTexts(knex));
  },
};

async function createSqliteTexts(knex: Knex): Promise<void> {
  await knex.raw(`CREATE TABLE ${tables.texts} (id INTEGER PRIMARY KEY, text TEXT NOT NULL)`);
  const index = { table: tables.texts, columns: ['text'], name: trigramTable };
  for (const statement of textIndexStatements(index)) await knex.raw(statement);
}

/** The index of a site with conversations is created after they are indexed, which takes a tenth of the time. */
async function createPostgresqlTexts(knex: Knex): Promise<void> {
  await knex.raw(`CREATE TABLE ${tables.texts} (id BIGINT PRIMARY KEY, text TEXT COLLATE "C" NOT NULL)`);
  if ((await knex(tables.conversations).first('id')) !== undefined) return;
  // The server may lack the extension, or the role the right to create it: see createTrigramIndex.
  try {
    await knex.transaction(async (nested) => {
      await nested.raw('CREATE EXTENSION IF NOT EXISTS pg_trgm');
      await nested.raw(`CREATE INDEX ${trigramIndex} ${trigramColumns}`);
    });
  } catch (error) {
    if ((error as { code?: unknown }).code === undefined) throw error;
  }
}

/** Search texts are made in another way. Nothing needs those of earlier versions: all conversations are indexed again. */
const textVersionMigration: Migration = {
  id: '0240_conversation_text_version',
  async up(knex, { dialect }) {
    for (const table of dialect === 'sqlite' ? [trigramTable, tables.texts] : [tables.texts])
      await knex.raw(`DROP TABLE ${table}`);
    await (dialect === 'sqlite' ? createSqliteTexts(knex) : createPostgresqlTexts(knex));
    await knex.raw(`DROP INDEX ${tables.conversations}_unindexed`);
    await knex.raw(`CREATE INDEX ${tables.conversations}_unindexed ON ${tables.conversations} (id) WHERE indexed < 2`);
  },
};

/** Earlier receipts have no document. */
const receiptDocumentsMigration: Migration = {
  id: '0201_receipt_documents',
  async up(knex) {
    await knex.schema.alterTable(tables.receipts, (columns) => {
      columns.text('document');
    });
  },
};

/** Conversations of REST calls before have no key. The call that continues one next binds it to its key. */
const keysMigration: Migration = {
  id: '0241_conversation_keys',
  async up(knex) {
    await knex.schema.alterTable(tables.conversations, (columns) => {
      columns.bigInteger('key_id');
    });
  },
};

/**
 * Has the order of the logs, and all columns that they are filtered by (D38). With `last_message_at`, PostgreSQL reads it alone.
 */
const listMigration: Migration = {
  id: '0310_list_of_logs',
  async up(knex) {
    await knex.raw(
      `CREATE INDEX ${tables.conversations}_list ON ${tables.conversations}
        ((last_message_at / 1000), id, bot_id, user_id, liked, disliked, last_message_at)`,
    );
    await knex.raw(`DROP INDEX ${tables.conversations}_revision`);
  },
};

export const conversationMigrations: readonly Migration[] = [
  conversationsMigration,
  logTextsMigration,
  tableNamesMigration,
  receiptDocumentsMigration,
  textsMigration,
  textVersionMigration,
  keysMigration,
  listMigration,
];

async function createReceipts(knex: Knex): Promise<void> {
  await knex.schema.createTable(tables.receipts, (columns) => {
    columns.string('id', 36).primary();
    columns.string('act', 10).notNullable();
    // `user`, `email` or `session`: how the person was identified.
    columns.string('by', 10).notNullable();
    columns.bigInteger('at').notNullable();
    // Login of the administrator, or `command line`.
    columns.text('actor').notNullable();
    columns.text('counts').notNullable();
  });
}
