import { optionalColumns, requiredColumns, type Migration } from '#plugin-api';

export const jobsTable = 'jobs';

export const migrations: readonly Migration[] = [
  {
    id: '0030_jobs',
    async up(knex) {
      await knex.schema.createTable(jobsTable, (table) => {
        table.bigIncrements('id');
        requiredColumns(table).string(64, 'owner').string(60, 'name');
        table.string('job_key', 191);
        table.text('args').notNullable();
        // Arguments of the run after the current one.
        table.text('next_args');
        requiredColumns(table).string(16, 'state').integer('priority');
        // When a waiting job is due, or when the lease of a running one ends; null for finished jobs.
        table.bigInteger('due_at');
        table.bigInteger('token').notNullable().defaultTo(0);
        table.integer('attempts').notNullable().defaultTo(0);
        optionalColumns(table)
          .bigInteger('progress_done', 'progress_total')
          .string(200, 'progress_message')
          .text('result', 'error');
        table.bigInteger('created_at').notNullable();
        optionalColumns(table).bigInteger('started_at', 'finished_at', 'keep_until');
      });
      const open = 'WHERE due_at IS NOT NULL';
      await knex.raw(`CREATE INDEX jobs_next ON jobs (owner, name, priority, due_at, id) ${open}`);
      await knex.raw(`CREATE INDEX jobs_due ON jobs (owner, name, due_at) ${open}`);
      await knex.raw(`CREATE UNIQUE INDEX jobs_key ON jobs (owner, name, job_key) ${open} AND job_key IS NOT NULL`);
      await knex.raw('CREATE INDEX jobs_finished ON jobs (finished_at) WHERE finished_at IS NOT NULL');
      await knex.raw('CREATE INDEX jobs_expired ON jobs (keep_until) WHERE keep_until IS NOT NULL');
    },
  },
  {
    id: '0031_job_stops',
    async up(knex) {
      await knex.schema.alterTable(jobsTable, (table) => {
        // The token of the attempt that was asked to end early.
        table.bigInteger('stopped_token');
      });
    },
  },
];
