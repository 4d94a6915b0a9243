import { requiredColumns, type Migration } from '#plugin-api';

export const migrations: readonly Migration[] = [
  {
    id: '0003_cron',
    async up(knex) {
      await knex.schema.createTable('cron_events', (table) => {
        table.string('id', 36).primary();
        requiredColumns(table).string(191, 'hook').text('args');
        // SHA-256 of the arguments, which may be too long for an index.
        table.string('args_key', 64).notNullable();
        table.string('schedule', 191);
        table.bigInteger('next_run').notNullable().index();
        table.string('lease_token', 36);
        table.bigInteger('leased_until').notNullable().defaultTo(0);
        table.integer('attempts').notNullable().defaultTo(0);
        table.unique(['hook', 'args_key', 'next_run']);
      });
      await knex.schema.createTable('cron_runs', (table) => {
        table.string('id', 36).primary();
        requiredColumns(table).string(191, 'hook').text('args');
        table.string('schedule', 191);
        table.bigInteger('due_at').notNullable();
        table.bigInteger('started_at').notNullable().index();
        requiredColumns(table).bigInteger('finished_at').string(16, 'outcome');
        table.text('error');
        table.index(['hook', 'started_at']);
      });
    },
  },
  {
    id: '0010_cron_no_callback',
    async up(knex) {
      await knex('cron_runs').where({ outcome: 'unheard' }).update({ outcome: 'no_callback' });
    },
  },
  {
    id: '0033_cron_owner',
    async up(knex) {
      // Slug of the plugin that scheduled it, or `host`; null in events of earlier versions.
      await knex.schema.alterTable('cron_events', (table) => void table.string('owner', 100));
    },
  },
];
