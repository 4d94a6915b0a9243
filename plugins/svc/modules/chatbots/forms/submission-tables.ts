import type { Migration } from '#plugin-api';

export const submissionsTable = 'svc_submissions';
/** Characters of the column. */
export const longestEmail = 254;

/** One row per submission. `email` (folded) finds the data of a person; a search looks through `found_by` (folded values). */
export const submissionsMigration: Migration = {
  id: '0104_submissions',
  async up(knex) {
    await knex.schema.createTable(submissionsTable, (table) => {
      table.bigIncrements('id');
      table.string('uuid', 36).notNullable().unique();
      table.bigInteger('bot_id').notNullable();
      table.string('form_id', 100).notNullable();
      table.string('form_name', 200).notNullable();
      table.string('conversation', 36).notNullable().index();
      table.bigInteger('user_id').notNullable().index();
      table.string('session_id', 64).index();
      table.string('email', longestEmail).index();
      table.text('page_url').notNullable();
      table.bigInteger('created_at').notNullable();
      table.text('answers').notNullable();
      table.text('found_by').notNullable();
      table.index(['bot_id', 'form_id', 'id']);
    });
  },
};
