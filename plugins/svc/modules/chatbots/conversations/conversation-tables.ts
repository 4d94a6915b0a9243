import type { Knex, Migration } from '#plugin-api';

/** Tables of conversations and of the search index of the logs. Times are milliseconds since the epoch. */
export const tables = {
  conversations: 'svc_conversations',
  messages: 'svc_messages',
  /** Deleted conversations, so that other processes see the deletion. Rows live a day. */
  tombstones: 'svc_conversation_tombstones',
  /** Numbers by name: the revision on SQLite, the generation of the index, and its lease. */
  state: 'svc_log_state',
  /** Parts of the index. They never change once they are complete. */
  segments: 'svc_log_segments',
  /** Conversations whose texts in older segments no longer count. */
  indexTombstones: 'svc_log_tombstones',
  /** Words and letters by which texts are found. */
  terms: 'svc_log_terms',
  /** The texts of a segment that contain a term. */
  postings: 'svc_log_postings',
  /** The positions of words in those texts. Much larger, and only read for phrases. */
  positions: 'svc_log_positions',
  /** What was exported or deleted for a person, without the data. */
  receipts: 'svc_personal_receipts',
} as const;

/** Names before `0190_conversation_table_names`. */
const former = {
  tombstones: 'svc_conversation_removals',
  indexTombstones: 'svc_log_dead',
  /** Postings and positions in one table, before `0182_log_texts`. */
  firstPostings: 'svc_log_postings',
  postings: 'svc_log_texts',
  positions: 'svc_log_places',
} as const;

/** A segment is written row by row, then becomes live. After it is replaced it stays a while for running searches. */
export const segmentStates = { building: 0, live: 1, dropped: 2 } as const;

/** Dropped on uninstall. The table for parts of words comes first, because it depends on the terms. */
export const conversationTables: readonly string[] = ['svc_log_words', ...Object.values(tables)];

const conversationsMigration: Migration = {
  id: '0102_conversations',
  async up(knex, { dialect }) {
    await createConversations(knex);
    await createMessages(knex);
    await createIndexTables(knex, dialect);
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
    columns.bigInteger('created_at').notNullable();
    columns.bigInteger('last_message_at').notNullable();
    columns.text('page_url').notNullable();
    columns.string('ip', 45).notNullable();
    columns.bigInteger('consented_at');
    // JSON.
    columns.text('variables').notNullable();
    columns.text('stored').notNullable();
    // Sums over the messages. `cost` is in millionths of a US dollar, without answers whose price is unknown.
    columns.bigInteger('tokens').notNullable().defaultTo(0);
    columns.bigInteger('cost').notNullable().defaultTo(0);
    columns.integer('liked').notNullable().defaultTo(0);
    columns.integer('disliked').notNullable().defaultTo(0);
    // Of the last change, see nextRevision.
    columns.bigInteger('revision').notNullable();
    // Covers all columns that the logs are filtered and sorted by.
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
  await knex.schema.createTable(former.tombstones, (columns) => {
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
    columns.string('role', 10).notNullable();
    columns.text('content').notNullable();
    columns.bigInteger('created_at').notNullable();
    columns.text('provider');
    columns.text('model');
    columns.integer('input_tokens');
    columns.integer('output_tokens');
    columns.integer('total_tokens');
    columns.bigInteger('cost');
    columns.text('sources');
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

async function createIndexTables(knex: Knex, dialect: 'sqlite' | 'postgresql'): Promise<void> {
  await knex.schema.createTable(tables.state, (columns) => {
    columns.string('name', 40).primary();
    columns.bigInteger('value').notNullable();
  });
  await knex(tables.state).insert([
    { name: 'revision', value: 0 },
    { name: 'index_lease', value: 0 },
    { name: 'index_generation', value: 0 },
  ]);
  await knex.schema.createTable(tables.segments, (columns) => {
    columns.increments('id');
    // See segmentStates.
    columns.smallint('state').notNullable();
    columns.bigInteger('changed_at').notNullable();
    // Ids of the conversations of its texts, 4 bytes each.
    columns.binary('conversations');
  });
  await knex.schema.createTable(former.indexTombstones, (columns) => {
    columns.bigInteger('conversation_id').primary();
    // The last segment that may contain them.
    columns.integer('segment_id').notNullable();
  });
  await knex.raw(
    dialect === 'sqlite'
      ? `CREATE TABLE ${former.firstPostings} (term_id INTEGER NOT NULL, segment_id INTEGER NOT NULL, texts BLOB NOT NULL, places BLOB, PRIMARY KEY (term_id, segment_id))`
      : `CREATE TABLE ${former.firstPostings} (term_id INTEGER NOT NULL, segment_id INTEGER NOT NULL, texts BYTEA NOT NULL, places BYTEA, PRIMARY KEY (term_id, segment_id))`,
  );
  await knex.raw(`CREATE INDEX ${former.firstPostings}_segment ON ${former.firstPostings} (segment_id, term_id)`);
  await (dialect === 'sqlite' ? createSqliteTerms(knex) : createPostgresqlTerms(knex));
}

/**
 * A part of a word matches hundreds of words in each segment. Without the positions between them, the texts of a term are
 * close together and are read quickly.
 */
const logTextsMigration: Migration = {
  id: '0182_log_texts',
  async up(knex, { dialect }) {
    await knex.raw(
      dialect === 'sqlite'
        ? `CREATE TABLE ${former.postings} (term_id INTEGER NOT NULL, segment_id INTEGER NOT NULL, texts BLOB NOT NULL, PRIMARY KEY (term_id, segment_id)) WITHOUT ROWID`
        : `CREATE TABLE ${former.postings} (term_id INTEGER NOT NULL, segment_id INTEGER NOT NULL, texts BYTEA NOT NULL, PRIMARY KEY (term_id, segment_id))`,
    );
    await knex.raw(
      `INSERT INTO ${former.postings} (term_id, segment_id, texts) SELECT term_id, segment_id, texts FROM ${former.firstPostings} ORDER BY term_id, segment_id`,
    );
    await knex.raw(`CREATE INDEX ${former.postings}_segment ON ${former.postings} (segment_id, term_id)`);
    const bytes = dialect === 'sqlite' ? 'BLOB' : 'BYTEA';
    await knex.raw(
      `CREATE TABLE ${former.positions} (term_id INTEGER NOT NULL, segment_id INTEGER NOT NULL, places ${bytes} NOT NULL, PRIMARY KEY (term_id, segment_id))`,
    );
    await knex.raw(
      `INSERT INTO ${former.positions} (term_id, segment_id, places) SELECT term_id, segment_id, places FROM ${former.firstPostings} WHERE places IS NOT NULL ORDER BY term_id, segment_id`,
    );
    await knex.schema.dropTable(former.firstPostings);
  },
};

/** Renames tables, a column and indexes to the terms of search engines. SQLite cannot rename an index. */
const tableNamesMigration: Migration = {
  id: '0190_conversation_table_names',
  async up(knex, { dialect }) {
    for (const name of ['tombstones', 'indexTombstones', 'postings', 'positions'] as const)
      await knex.raw(`ALTER TABLE ${former[name]} RENAME TO ${tables[name]}`);
    await knex.raw(`ALTER TABLE ${tables.positions} RENAME COLUMN places TO positions`);
    const indexes = [
      [`${former.tombstones}_revision_index`, `${tables.tombstones}_revision_index`, `${tables.tombstones} (revision)`],
      [`${former.postings}_segment`, `${tables.postings}_segment`, `${tables.postings} (segment_id, term_id)`],
    ];
    for (const [from = '', to = '', columns = ''] of indexes) {
      if (dialect === 'postgresql') await knex.raw(`ALTER INDEX ${from} RENAME TO ${to}`);
      else {
        await knex.raw(`DROP INDEX ${from}`);
        await knex.raw(`CREATE INDEX ${to} ON ${columns}`);
      }
    }
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

export const conversationMigrations: readonly Migration[] = [
  conversationsMigration,
  logTextsMigration,
  tableNamesMigration,
  receiptDocumentsMigration,
];

/**
 * `kind` 0: a word; `backwards` finds words by their end. 1: up to three letters in a row. 2: texts that must be scanned.
 */
async function createSqliteTerms(knex: Knex): Promise<void> {
  await knex.raw(
    `CREATE TABLE ${tables.terms} (id INTEGER PRIMARY KEY AUTOINCREMENT, kind INTEGER NOT NULL, term TEXT NOT NULL, backwards TEXT, UNIQUE (kind, term))`,
  );
  await knex.raw(`CREATE INDEX ${tables.terms}_backwards ON ${tables.terms} (backwards) WHERE kind = 0`);
  await knex.raw(
    `CREATE VIRTUAL TABLE svc_log_words USING fts5(term, content='', contentless_delete=1, tokenize='trigram case_sensitive 1')`,
  );
  await knex.raw(
    `CREATE TRIGGER ${tables.terms}_added AFTER INSERT ON ${tables.terms} WHEN new.kind = 0 BEGIN INSERT INTO svc_log_words (rowid, term) VALUES (new.id, new.term); END`,
  );
  await knex.raw(
    `CREATE TRIGGER ${tables.terms}_removed AFTER DELETE ON ${tables.terms} WHEN old.kind = 0 BEGIN DELETE FROM svc_log_words WHERE rowid = old.id; END`,
  );
}

async function createPostgresqlTerms(knex: Knex): Promise<void> {
  await knex.raw(
    `CREATE TABLE ${tables.terms} (id SERIAL PRIMARY KEY, kind SMALLINT NOT NULL, term TEXT COLLATE "C" NOT NULL, backwards TEXT COLLATE "C", UNIQUE (kind, term))`,
  );
  await knex.raw(`CREATE INDEX ${tables.terms}_backwards ON ${tables.terms} (backwards) WHERE kind = 0`);
  // Without the extension (the role may lack the right to create it) all words are scanned, which is slower.
  try {
    await knex.transaction(async (nested) => {
      await nested.raw('CREATE EXTENSION IF NOT EXISTS pg_trgm');
      await nested.raw(
        `CREATE INDEX ${tables.terms}_part ON ${tables.terms} USING gin (term gin_trgm_ops) WHERE kind = 0`,
      );
    });
  } catch (error) {
    if ((error as { code?: unknown }).code === undefined) throw error;
  }
}

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
