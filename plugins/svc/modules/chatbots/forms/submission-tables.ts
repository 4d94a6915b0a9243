import { requiredColumns, type Migration } from '#plugin-api';
import { addReadState, createTables } from '../../../kit/migrations.ts';

export const submissionsTable = 'svc_submissions';
/** Characters of the column. */
export const longestEmail = 254;

/** One row per submission. `email` (folded) finds the data of a person; a search looks through `found_by` (folded values). */
const createMigration = createTables('0104_submissions', {
  [submissionsTable](table) {
    table.bigIncrements('id');
    table.string('uuid', 36).notNullable().unique();
    requiredColumns(table).bigInteger('bot_id').string(100, 'form_id').string(200, 'form_name');
    table.string('conversation', 36).notNullable().index();
    table.bigInteger('user_id').notNullable().index();
    table.string('session_id', 64).index();
    table.string('email', longestEmail).index();
    requiredColumns(table).text('page_url').bigInteger('created_at').text('answers', 'found_by');
    table.index(['bot_id', 'form_id', 'id']);
  },
});

/** What readers did with submissions. */
const readStatesMigration: Migration = {
  id: '0232_submission_read_states',
  up: (knex) => addReadState(knex, { table: submissionsTable, owner: 'bot_id' }),
};

export const submissionMigrations: readonly Migration[] = [createMigration, readStatesMigration];
