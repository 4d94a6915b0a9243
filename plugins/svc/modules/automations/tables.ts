import { optionalColumns, requiredColumns, type Migration } from '#plugin-api';

/** The cron event that runs a task; its argument is the task's id. */
export const runHook = 'svc_automations_run';

export const taskTables = { tasks: 'svc_tasks', runs: 'svc_task_runs', items: 'svc_task_items' } as const;

/** The job that processes an item. */
export const itemJob = 'automation-item';
/** The last priority of jobs. */
const lastPriority = 1_000;

/** The job of an item, in the order of the task's items: so tasks take turns. @param index number of items before it */
export function toItemJob({ id, task_id: task }: { readonly id: number; readonly task_id: number }, index: number) {
  const priority = Math.min(lastPriority, index);
  return { args: { task, item: id }, key: String(id), priority, whenWaiting: 'keep' as const };
}

/**
 * Times are milliseconds since the epoch, of the node's clock except for `due_at`, which is the database's. Ids are never
 * reused.
 *
 * `due_at` of a pending item: when its next attempt is due; null or 0 for now. `identity` is the SHA-256 of the text that
 * identifies an entry across runs.
 */
export const automationsMigration: Migration = {
  id: '0140_automations',
  async up(knex) {
    await knex.schema.createTable(taskTables.tasks, (columns) => {
      columns.increments('id');
      requiredColumns(columns).string(200, 'name').string(60, 'type').string(10, 'status').text('settings', 'source');
      // A named schedule, a cron expression, or empty: manually only.
      columns.string('schedule', 120).notNullable();
      columns.integer('author_id').notNullable();
      // 0: no limit.
      columns.integer('limit_run').notNullable();
      requiredColumns(columns).integer('limit_day', 'attempts').bigInteger('created_at', 'updated_at');
    });
    await knex.schema.createTable(taskTables.runs, (columns) => {
      columns.increments('id');
      columns.integer('task_id').notNullable();
      // schedule, page or command
      columns.string('begun_by', 10).notNullable();
      requiredColumns(columns).string(10, 'state').integer('found', 'added').text('message').bigInteger('started_at');
      columns.bigInteger('ended_at');
      columns.index(['task_id', 'id'], 'svc_task_runs_task');
    });
    await knex.schema.createTable(taskTables.items, (columns) => {
      columns.increments('id');
      requiredColumns(columns).integer('task_id', 'run_id').string(64, 'identity').text('target', 'input');
      // For posts: the id, and the last change that was seen.
      columns.integer('source_post_id');
      columns.bigInteger('seen_modified');
      requiredColumns(columns).string(10, 'state').integer('attempts');
      // Attempts before the last manual retry; they do not count towards the limit.
      columns.integer('tries_from').notNullable();
      columns.text('message').notNullable();
      optionalColumns(columns).integer('post_id').string(100, 'ai_provider').string(200, 'ai_model');
      columns.bigInteger('created_at').notNullable();
      optionalColumns(columns).bigInteger('started_at', 'finished_at', 'due_at');
      columns.integer('token').notNullable();
      columns.string('owner', 36);
      columns.unique(['task_id', 'identity'], { indexName: 'svc_task_items_identity' });
      columns.index(['task_id', 'state', 'id'], 'svc_task_items_state');
      columns.index(['task_id', 'created_at'], 'svc_task_items_created');
    });
    // Partial indexes skip the finished items, which are most.
    await knex.raw('create index svc_task_items_due on ?? (task_id, due_at, id) where due_at is not null', [
      taskTables.items,
    ]);
    await knex.raw(
      'create index svc_task_items_post on ?? (task_id, source_post_id) where source_post_id is not null',
      [taskTables.items],
    );
  },
};

/** Jobs of the host process the items that wait, in place of leases in this table. Items of paused tasks wait without one. */
export const automationJobsMigration: Migration = {
  id: '0212_automation_jobs',
  async up(knex) {
    const { items, tasks } = taskTables;
    await knex.raw(
      `INSERT INTO jobs (owner, name, job_key, args, state, priority, due_at, attempts, created_at)
        SELECT 'svc', '${itemJob}', CAST(id AS TEXT), '{"task":' || task_id || ',"item":' || id || '}', 'waiting',
          CASE WHEN position < ${String(lastPriority)} THEN position ELSE ${String(lastPriority)} END,
          due_at, attempts - tries_from, created_at
        FROM (SELECT *, row_number() OVER (PARTITION BY task_id ORDER BY id) - 1 AS position FROM ${items}
          WHERE state IN ('pending', 'processing') AND task_id IN (SELECT id FROM ${tasks} WHERE status = 'active')) AS waiting
        ORDER BY id`,
    );
    await knex.raw('DROP INDEX svc_task_items_due');
    for (const column of ['token', 'owner']) await knex.raw('ALTER TABLE ?? DROP COLUMN ??', [items, column]);
  },
};
