import { optionalColumns, requiredColumns, type Knex, type Migration } from '#plugin-api';

/** Jobs that index or delete a source, and that delete a base without sources. */
export const indexJob = 'index-source';
export const deleteBaseJob = 'delete-knowledge-base';

export const tables = {
  bases: 'svc_knowledge_bases',
  sources: 'svc_knowledge_sources',
  contents: 'svc_knowledge_contents',
  chunks: 'svc_knowledge_chunks',
  questions: 'svc_knowledge_questions',
  /** Posts that were added to a base. Their sources come and go with what is published; these rows stay. */
  posts: 'svc_knowledge_posts',
} as const;

/** Times are milliseconds since the epoch. */
const createTables: Migration = {
  id: '0170_knowledge',
  async up(knex) {
    await knex.schema.createTable(tables.bases, (table) => {
      table.increments('id');
      requiredColumns(table)
        .string(200, 'name')
        .string(60, 'store')
        .string(512, 'target', 'namespace')
        .string(60, 'embedding_provider')
        .string(200, 'embedding_model')
        .integer('chunk_tokens', 'overlap_tokens');
      // JSON: post types whose posts are indexed automatically.
      table.text('follows').notNullable();
      // active, or deleting.
      table.string('state', 20).notNullable();
      // 1: the index or collection is deleted with the base.
      table.integer('removes_target').notNullable();
      requiredColumns(table).bigInteger('created_at', 'updated_at');
    });
    await createSourceTables(knex);
    await createChunkTables(knex);
    await createQuestionTable(knex);
  },
};

const renameColumns: Migration = {
  id: '0192_knowledge_columns',
  async up(knex) {
    await knex.schema.alterTable(tables.sources, (table) => {
      table.renameColumn('fence', 'fencing_token');
    });
    await knex.schema.alterTable(tables.chunks, (table) => {
      table.renameColumn('place', 'position');
    });
  },
};

const followPosts: Migration = {
  id: '0202_knowledge_posts',
  async up(knex) {
    await knex.schema.createTable(tables.posts, (table) => {
      requiredColumns(table).integer('base_id', 'post_id');
      table.primary(['base_id', 'post_id']);
      table.index(['post_id']);
    });
    await knex.raw(
      `INSERT INTO ${tables.posts} (base_id, post_id) SELECT DISTINCT base_id, post_id FROM ${tables.sources}
        WHERE kind = 'post' AND post_id IS NOT NULL AND state <> 'deleting'`,
    );
  },
};

/** Jobs of the host do the work that waits, in place of leases in these tables. */
const moveToJobs: Migration = {
  id: '0210_knowledge_jobs',
  async up(knex) {
    const add = (name: string, argument: string): string =>
      `INSERT INTO jobs (owner, name, job_key, args, state, priority, due_at, created_at)
        SELECT 'svc', '${name}', CAST(id AS TEXT), '{"${argument}":' || id || '}', 'waiting', 10, 0, created_at`;
    await knex.raw(
      `${add(indexJob, 'source')} FROM ${tables.sources} WHERE state IN ('pending', 'indexing', 'deleting') ORDER BY id`,
    );
    await knex.raw(`${add(deleteBaseJob, 'base')} FROM ${tables.bases} WHERE state = 'deleting' ORDER BY id`);
    await knex.schema.alterTable(tables.sources, (table) => table.dropIndex(['state', 'due_at']));
    for (const column of ['indexed_version', 'attempts', 'due_at', 'leased_until', 'fencing_token'])
      await knex.raw('ALTER TABLE ?? DROP COLUMN ??', [tables.sources, column]);
  },
};

export const knowledgeMigrations: readonly Migration[] = [createTables, renameColumns, followPosts, moveToJobs];

async function createSourceTables(knex: Knex): Promise<void> {
  await knex.schema.createTable(tables.sources, (table) => {
    table.increments('id');
    table.integer('base_id').notNullable();
    // Unique within the base: `post:42`, `address:<hash>`.
    table.string('identity', 100).notNullable();
    requiredColumns(table).string(20, 'kind').string(500, 'title').text('url');
    optionalColumns(table).integer('post_id', 'parent_id');
    requiredColumns(table).string(20, 'state').text('message').string(60, 'origin');
    // Counts requests for indexing: work on an earlier version cannot complete a later one.
    table.integer('version').notNullable();
    requiredColumns(table)
      .integer('indexed_version')
      .string(64, 'content_hash')
      .integer('chunks_total', 'chunks_done', 'attempts')
      .bigInteger('due_at', 'leased_until')
      .integer('fence')
      .bigInteger('created_at', 'updated_at');
    table.bigInteger('indexed_at');
    table.unique(['base_id', 'identity']);
    table.index(['state', 'due_at']);
    table.index(['post_id']);
    table.index(['parent_id']);
  });
}

async function createChunkTables(knex: Knex): Promise<void> {
  await knex.schema.createTable(tables.contents, (table) => {
    table.integer('source_id').primary();
    requiredColumns(table).text('body').string(300, 'file_name');
    // Bytes of a file; null once its text is stored.
    table.binary('file');
  });
  await knex.schema.createTable(tables.chunks, (table) => {
    table.increments('id');
    requiredColumns(table).integer('source_id').string(36, 'vector_id').integer('place', 'tokens');
    // 0 until the store has confirmed the vector, which may be stored earlier.
    table.integer('is_written').notNullable();
    table.unique(['source_id', 'vector_id']);
  });
}

async function createQuestionTable(knex: Knex): Promise<void> {
  await knex.schema.createTable(tables.questions, (table) => {
    table.increments('id');
    // 0: belongs to no knowledge base.
    table.integer('base_id').notNullable();
    requiredColumns(table).string(64, 'question_hash').text('question');
    // score, or rating.
    table.string('reason', 20).notNullable();
    table.integer('best_score');
    requiredColumns(table)
      .text('answer', 'comment')
      .integer('asked')
      .string(100, 'asked_of')
      .integer('user_id')
      .string(36, 'conversation');
    // open, answered or dismissed.
    table.string('state', 20).notNullable();
    table.integer('source_id');
    requiredColumns(table).bigInteger('first_at', 'last_at');
    table.unique(['base_id', 'question_hash']);
    table.index(['state', 'last_at']);
    table.index(['conversation']);
    table.index(['user_id']);
  });
}
