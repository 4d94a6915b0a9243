import type { Knex, Migration } from '#plugin-api';

/** Tables of conversations and of the index that the logs are searched by. Times are milliseconds since the epoch. */
export const tables = {
  conversations: 'svc_conversations',
  messages: 'svc_messages',
  /** Conversations that are gone: what tells other processes of a deletion. Rows live a day. */
  removals: 'svc_conversation_removals',
  /** Numbers by name: the count of changes on SQLite (`revision`), the format of the index, and leases. */
  state: 'svc_log_state',
  /** Parts of the index, never changed once they are made. */
  segments: 'svc_log_segments',
  /** Conversations whose texts of older segments do not count any more. */
  dead: 'svc_log_dead',
  /** Words and letters that texts are found by. */
  terms: 'svc_log_terms',
  /** Which texts of a segment hold a term. */
  texts: 'svc_log_texts',
  /** Where words stand in those texts: many times as much, and only asked for where words have to stand in a row. */
  places: 'svc_log_places',
  /** Whose data were erased or handed out, without the data. */
  receipts: 'svc_personal_receipts',
} as const;

/** A segment is written row by row, then counts, and is kept a while after a larger one took its place: searches may be under way. */
export const segmentStates = { building: 0, live: 1, dropped: 2 } as const;

/** For the end of the plugin. The search over words goes first: it stands on the terms. */
export const conversationTables: readonly string[] = ['svc_log_words', ...Object.values(tables)];

/** Texts and places were one table at first. */
const firstPostings = 'svc_log_postings';

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
    // JSON objects and lists.
    columns.text('variables').notNullable();
    columns.text('stored').notNullable();
    // Sums over the messages. `cost` in millionths of a US dollar, without answers whose price is not known.
    columns.bigInteger('tokens').notNullable().defaultTo(0);
    columns.bigInteger('cost').notNullable().defaultTo(0);
    columns.integer('liked').notNullable().defaultTo(0);
    columns.integer('disliked').notNullable().defaultTo(0);
    // Of the last change, however small: see log-catalogue.ts.
    columns.bigInteger('revision').notNullable();
    // All that the logs are filtered and sorted by, so that no row is read for it.
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
  await knex.schema.createTable(tables.removals, (columns) => {
    columns.bigInteger('conversation_id').primary();
    columns.bigInteger('revision').notNullable().index();
    columns.bigInteger('removed_at').notNullable();
  });
}

async function createMessages(knex: Knex): Promise<void> {
  await knex.schema.createTable(tables.messages, (columns) => {
    columns.bigIncrements('id');
    columns.bigInteger('conversation_id').notNullable();
    // Unlike that of any other message of the conversation.
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
    // Whether the index holds it.
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
    // Ids of the conversations its texts are of, 4 bytes each.
    columns.binary('conversations');
  });
  await knex.schema.createTable(tables.dead, (columns) => {
    columns.bigInteger('conversation_id').primary();
    // The last segment they may be in.
    columns.integer('segment_id').notNullable();
  });
  await knex.raw(
    dialect === 'sqlite'
      ? `CREATE TABLE ${firstPostings} (term_id INTEGER NOT NULL, segment_id INTEGER NOT NULL, texts BLOB NOT NULL, places BLOB, PRIMARY KEY (term_id, segment_id))`
      : `CREATE TABLE ${firstPostings} (term_id INTEGER NOT NULL, segment_id INTEGER NOT NULL, texts BYTEA NOT NULL, places BYTEA, PRIMARY KEY (term_id, segment_id))`,
  );
  await knex.raw(`CREATE INDEX ${firstPostings}_segment ON ${firstPostings} (segment_id, term_id)`);
  await (dialect === 'sqlite' ? createSqliteTerms(knex) : createPostgresqlTerms(knex));
}

/**
 * A part of a word stands for hundreds of words in each segment: what is read of them must lie close together, a term's
 * segments side by side, and without the places between them.
 */
const logTextsMigration: Migration = {
  id: '0182_log_texts',
  async up(knex, { dialect }) {
    await knex.raw(
      dialect === 'sqlite'
        ? `CREATE TABLE ${tables.texts} (term_id INTEGER NOT NULL, segment_id INTEGER NOT NULL, texts BLOB NOT NULL, PRIMARY KEY (term_id, segment_id)) WITHOUT ROWID`
        : `CREATE TABLE ${tables.texts} (term_id INTEGER NOT NULL, segment_id INTEGER NOT NULL, texts BYTEA NOT NULL, PRIMARY KEY (term_id, segment_id))`,
    );
    await knex.raw(
      `INSERT INTO ${tables.texts} (term_id, segment_id, texts) SELECT term_id, segment_id, texts FROM ${firstPostings} ORDER BY term_id, segment_id`,
    );
    await knex.raw(`CREATE INDEX ${tables.texts}_segment ON ${tables.texts} (segment_id, term_id)`);
    const bytes = dialect === 'sqlite' ? 'BLOB' : 'BYTEA';
    await knex.raw(
      `CREATE TABLE ${tables.places} (term_id INTEGER NOT NULL, segment_id INTEGER NOT NULL, places ${bytes} NOT NULL, PRIMARY KEY (term_id, segment_id))`,
    );
    await knex.raw(
      `INSERT INTO ${tables.places} (term_id, segment_id, places) SELECT term_id, segment_id, places FROM ${firstPostings} WHERE places IS NOT NULL ORDER BY term_id, segment_id`,
    );
    await knex.schema.dropTable(firstPostings);
  },
};

export const conversationMigrations: readonly Migration[] = [conversationsMigration, logTextsMigration];

/** `kind` 0: a word, with its letters backwards, so that its end can be looked up as its beginning; 1: up to three letters in a row; 2: texts that have to be looked through. */
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
  // Without the extension (its owner may not create it) words are looked through one by one: slower, and right all the same.
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
    // `user`, `email` or `session`: how the person was named, not the name.
    columns.string('by', 10).notNullable();
    columns.bigInteger('at').notNullable();
    // Login of who asked, or `command line`.
    columns.text('actor').notNullable();
    columns.text('counts').notNullable();
  });
}
