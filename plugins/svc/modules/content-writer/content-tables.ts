import { requiredColumns, type Migration } from '#plugin-api';
import { createTables } from '../../kit/migrations.ts';
import { builtInTemplates } from './templates/built-in.ts';

/** The job that writes a text of a batch. */
export const writeTextJob = 'write-text';
/** Deletes batches that were never started and old texts, daily. */
export const contentSweepHook = 'svc_content_sweep';

export const contentTableNames = {
  templates: 'svc_content_templates',
  batches: 'svc_content_batches',
  items: 'svc_content_items',
} as const;

/** JSON is stored as text. Times are milliseconds since the epoch. */
export const contentMigration = createTables('0130_content_writer', {
  [contentTableNames.templates](columns) {
    columns.increments('id');
    columns.string('name', 100).notNullable();
    /** The name in lower case, for uniqueness. */
    columns.string('name_key', 100).notNullable().unique();
    requiredColumns(columns).text('settings').bigInteger('created_at', 'updated_at');
  },
  [contentTableNames.batches](columns) {
    columns.increments('id');
    columns.string('label', 200).notNullable();
    /** The owner. Posts are created with this user's rights. */
    columns.integer('user_id').notNullable().index();
    /** `draft` during review, then `started`. */
    columns.string('status', 20).notNullable();
    /** A snapshot of the template and post settings. */
    columns.text('settings').notNullable();
    columns.bigInteger('created_at').notNullable().index();
    columns.bigInteger('updated_at').notNullable();
  },
  [contentTableNames.items](columns) {
    columns.increments('id');
    columns.string('uuid', 36).notNullable().unique();
    /** Null for single texts: streamed on the page, or written by a command. */
    columns.integer('batch_id').nullable();
    columns.integer('user_id').notNullable().index();
    requiredColumns(columns).integer('position').string(500, 'topic').text('input');
    /** `waiting` (its batch is in review), `pending`, `processing`, `completed`, `failed`, `cancelled`. */
    columns.string('status', 20).notNullable();
    columns.integer('attempts').notNullable().defaultTo(0);
    columns.text('message').notNullable().defaultTo('');
    /** Sections written so far. */
    columns.text('draft').notNullable();
    columns.integer('post_id').nullable();
    /** Cost of the calls with a known price in millionths of a US dollar, and the number of the others. */
    columns.bigInteger('cost').notNullable().defaultTo(0);
    columns.integer('unpriced').notNullable().defaultTo(0);
    columns.integer('tokens').notNullable().defaultTo(0);
    columns.string('lease', 36).nullable();
    /** When the lease expires (processing) or the item is due (pending). */
    columns.bigInteger('due_at').notNullable().defaultTo(0);
    requiredColumns(columns).bigInteger('created_at', 'updated_at');
    columns.index(['batch_id', 'position'], 'svc_content_items_batch');
    columns.index(['status', 'due_at'], 'svc_content_items_due');
  },
});

/** Tasks of earlier versions name their template. A name that no template has stays, and fails as before. */
export const taskTemplatesMigration: Migration = {
  id: '0203_task_template_ids',
  async up(knex) {
    const ids = new Map(builtInTemplates.map(({ id, name }) => [name.toLowerCase(), id]));
    const saved = (await knex(contentTableNames.templates).select('id', 'name_key')) as {
      readonly id: number;
      readonly name_key: string;
    }[];
    for (const { id, name_key: key } of saved) ids.set(key, String(id));
    const tasks = (await knex('svc_tasks')
      .whereIn('type', ['content_writing', 'post_rewriting'])
      .select('id', 'settings')) as { readonly id: number; readonly settings: string }[];
    for (const { id, settings } of tasks) {
      const given = JSON.parse(settings) as { readonly template?: unknown };
      const template = ids.get(String(given.template).trim().toLowerCase());
      if (template !== undefined)
        await knex('svc_tasks')
          .where({ id })
          .update({ settings: JSON.stringify({ ...given, template }) });
    }
  },
};

/** Jobs of the host write the texts that wait, in place of leases in this table. */
export const contentJobsMigration: Migration = {
  id: '0211_content_jobs',
  async up(knex) {
    const { items } = contentTableNames;
    await knex.raw(
      `INSERT INTO jobs (owner, name, job_key, args, state, priority, due_at, attempts, created_at)
        SELECT 'svc', '${writeTextJob}', CAST(id AS TEXT), '{"item":' || id || '}', 'waiting',
          CASE WHEN position < 1000 THEN position ELSE 1000 END, due_at, attempts, created_at
        FROM ${items} WHERE status IN ('pending', 'processing') AND batch_id IS NOT NULL ORDER BY id`,
    );
    await knex.schema.alterTable(items, (table) => table.dropIndex([], 'svc_content_items_due'));
    for (const column of ['lease', 'due_at']) await knex.raw('ALTER TABLE ?? DROP COLUMN ??', [items, column]);
  },
};
