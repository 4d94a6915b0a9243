import { requiredColumns, type Migration } from '#plugin-api';

/** Mails that are not sent yet. Times are milliseconds since the epoch. */
export const migrations: readonly Migration[] = [
  {
    id: '0020_mails',
    async up(knex) {
      await knex.schema.createTable('mails', (table) => {
        table.text('id').primary();
        // For the page that lists them. The rest of the mail may contain a secret link and is in `sealed`.
        table.text('recipients').notNullable();
        table.text('subject').notNullable();
        // The encrypted message; empty once it will not be sent any more.
        table.text('sealed').notNullable();
        // waiting or failed.
        table.text('state').notNullable();
        requiredColumns(table).integer('attempts').bigInteger('next_attempt_at');
        table.bigInteger('expires_at');
        table.bigInteger('created_at').notNullable().index();
        table.text('last_error').notNullable();
      });
    },
  },
  {
    // Mails were sent by cron events before.
    id: '0032_mail_jobs',
    async up(knex) {
      await knex.raw(`INSERT INTO jobs (owner, name, job_key, args, state, priority, due_at, attempts, created_at)
        SELECT 'host', 'mail', id, '{"id":"' || id || '"}', 'waiting', 10, next_attempt_at, attempts, created_at
        FROM mails WHERE state = 'waiting'`);
      await knex('cron_events').where({ hook: 'mail_retry' }).delete();
    },
  },
];
