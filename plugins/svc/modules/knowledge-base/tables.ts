import type { Knex, Migration } from '#plugin-api';

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
      table.string('name', 200).notNullable();
      table.string('store', 60).notNullable();
      table.string('target', 512).notNullable();
      table.string('namespace', 512).notNullable();
      table.string('embedding_provider', 60).notNullable();
      table.string('embedding_model', 200).notNullable();
      table.integer('chunk_tokens').notNullable();
      table.integer('overlap_tokens').notNullable();
      // JSON: post types whose posts are indexed automatically.
      table.text('follows').notNullable();
      // active, or deleting.
      table.string('state', 20).notNullable();
      // 1: the index or collection is deleted with the base.
      table.integer('removes_target').notNullable();
      table.bigInteger('created_at').notNullable();
      table.bigInteger('updated_at').notNullable();
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
      table.integer('base_id').notNullable();
      table.integer('post_id').notNullable();
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
    table.string('kind', 20).notNullable();
    table.string('title', 500).notNullable();
    table.text('url').notNullable();
    table.integer('post_id');
    table.integer('parent_id');
    table.string('state', 20).notNullable();
    table.text('message').notNullable();
    table.string('origin', 60).notNullable();
    // Counts requests for indexing: work on an earlier version cannot complete a later one.
    table.integer('version').notNullable();
    table.integer('indexed_version').notNullable();
    table.string('content_hash', 64).notNullable();
    table.integer('chunks_total').notNullable();
    table.integer('chunks_done').notNullable();
    table.integer('attempts').notNullable();
    table.bigInteger('due_at').notNullable();
    table.bigInteger('leased_until').notNullable();
    table.integer('fence').notNullable();
    table.bigInteger('created_at').notNullable();
    table.bigInteger('updated_at').notNullable();
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
    table.text('body').notNullable();
    table.string('file_name', 300).notNullable();
    // Bytes of a file; null once its text is stored.
    table.binary('file');
  });
  await knex.schema.createTable(tables.chunks, (table) => {
    table.increments('id');
    table.integer('source_id').notNullable();
    table.string('vector_id', 36).notNullable();
    table.integer('place').notNullable();
    table.integer('tokens').notNullable();
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
    table.string('question_hash', 64).notNullable();
    table.text('question').notNullable();
    // score, or rating.
    table.string('reason', 20).notNullable();
    table.integer('best_score');
    table.text('answer').notNullable();
    table.text('comment').notNullable();
    table.integer('asked').notNullable();
    table.string('asked_of', 100).notNullable();
    table.integer('user_id').notNullable();
    table.string('conversation', 36).notNullable();
    // open, answered or dismissed.
    table.string('state', 20).notNullable();
    table.integer('source_id');
    table.bigInteger('first_at').notNullable();
    table.bigInteger('last_at').notNullable();
    table.unique(['base_id', 'question_hash']);
    table.index(['state', 'last_at']);
    table.index(['conversation']);
    table.index(['user_id']);
  });
}
