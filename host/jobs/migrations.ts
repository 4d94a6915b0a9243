import type { Migration } from '#plugin-api';

export const jobsTable = 'jobs';

export const migrations: readonly Migration[] = [
  {
    id: '0030_jobs',
    async up(knex) {
      await knex.schema.createTable(jobsTable, (table) => {
        table.bigIncrements('id');
        table.string('owner', 64).notNullable();
        table.string('name', 60).notNullable();
        table.string('job_key', 191);
        table.text('args').notNullable();
        // Arguments of the run after the current one.
        table.text('next_args');
        table.string('state', 16).notNullable();
        table.integer('priority').notNullable();
        // When a waiting job is due, or when the lease of a running one ends; null for finished jobs.
        table.bigInteger('due_at');
        table.bigInteger('token').notNullable().defaultTo(0);
        table.integer('attempts').notNullable().defaultTo(0);
        table.bigInteger('progress_done');
        table.bigInteger('progress_total');
        table.string('progress_message', 200);
        table.text('result');
        table.text('error');
        table.bigInteger('created_at').notNullable();
        table.bigInteger('started_at');
        table.bigInteger('finished_at');
        table.bigInteger('keep_until');
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
