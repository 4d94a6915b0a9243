import type { Migration } from '#plugin-api';

/** The cron event that runs a task; its argument is the task's id. */
export const runHook = 'svc_automations_run';

export const taskTables = { tasks: 'svc_tasks', runs: 'svc_task_runs', items: 'svc_task_items' } as const;

/**
 * Times are milliseconds since the epoch, of the node's clock except for `due_at`, which is the database's. Ids are never
 * reused.
 *
 * `due_at` of an item: pending: when it is due, 0 for now; processing: when its lease expires; null: finished. `token` is a
 * fencing token: it counts claims, so that a node that lost its lease stores nothing. `identity` is the SHA-256 of the text
 * that identifies an entry across runs.
 */
export const automationsMigration: Migration = {
  id: '0140_automations',
  async up(knex) {
    await knex.schema.createTable(taskTables.tasks, (columns) => {
      columns.increments('id');
      columns.string('name', 200).notNullable();
      columns.string('type', 60).notNullable();
      columns.string('status', 10).notNullable();
      columns.text('settings').notNullable();
      columns.text('source').notNullable();
      // A named schedule, a cron expression, or empty: manually only.
      columns.string('schedule', 120).notNullable();
      columns.integer('author_id').notNullable();
      // 0: no limit.
      columns.integer('limit_run').notNullable();
      columns.integer('limit_day').notNullable();
      columns.integer('attempts').notNullable();
      columns.bigInteger('created_at').notNullable();
      columns.bigInteger('updated_at').notNullable();
    });
    await knex.schema.createTable(taskTables.runs, (columns) => {
      columns.increments('id');
      columns.integer('task_id').notNullable();
      // schedule, page or command
      columns.string('begun_by', 10).notNullable();
      columns.string('state', 10).notNullable();
      columns.integer('found').notNullable();
      columns.integer('added').notNullable();
      columns.text('message').notNullable();
      columns.bigInteger('started_at').notNullable();
      columns.bigInteger('ended_at');
      columns.index(['task_id', 'id'], 'svc_task_runs_task');
    });
    await knex.schema.createTable(taskTables.items, (columns) => {
      columns.increments('id');
      columns.integer('task_id').notNullable();
      columns.integer('run_id').notNullable();
      columns.string('identity', 64).notNullable();
      columns.text('target').notNullable();
      columns.text('input').notNullable();
      // For posts: the id, and the last change that was seen.
      columns.integer('source_post_id');
      columns.bigInteger('seen_modified');
      columns.string('state', 10).notNullable();
      columns.integer('attempts').notNullable();
      // Attempts before the last manual retry; they do not count towards the limit.
      columns.integer('tries_from').notNullable();
      columns.text('message').notNullable();
      columns.integer('post_id');
      columns.string('ai_provider', 100);
      columns.string('ai_model', 200);
      columns.bigInteger('created_at').notNullable();
      columns.bigInteger('started_at');
      columns.bigInteger('finished_at');
      columns.bigInteger('due_at');
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
