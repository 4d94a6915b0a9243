import { requiredColumns, type JsonValue, type Migration } from '#plugin-api';
import { addReadState, dropDefaultMinimumMatch, insertJobs } from '../../../kit/migrations.ts';
import { createCounterTable } from '../../../kit/visitors/limit-counters.ts';
import { submissionJob } from '../submissions/submission.ts';

export const formTables = {
  /** One row per form; `settings` is the JSON of FormSettings. Ids are never reused. */
  forms: 'svc_ai_forms',
  /** One row per accepted submission. */
  submissions: 'svc_ai_form_submissions',
  /** Usage of limits, one row per form, visitor and period. */
  counters: 'svc_ai_form_counters',
} as const;
export const formCounters = { table: formTables.counters, scopeColumn: 'form_id' } as const;

/** Times are milliseconds since the epoch. */
export const formsMigration: Migration = {
  id: '0150_ai_forms',
  async up(knex) {
    await knex.schema.createTable(formTables.forms, (columns) => {
      columns.increments('id');
      columns.text('settings').notNullable();
      columns.bigInteger('submissions').notNullable().defaultTo(0);
      requiredColumns(columns).bigInteger('created_at', 'updated_at');
    });
    await knex.schema.createTable(formTables.submissions, (columns) => {
      columns.bigIncrements('id');
      columns.string('uuid', 36).notNullable().unique();
      requiredColumns(columns).integer('form_id').string(200, 'form_name');
      // `running`, `completed`, `failed`.
      columns.string('status', 20).notNullable();
      // Fencing token: results of earlier attempts are ignored.
      columns.integer('attempt').notNullable();
      // Lease of the running attempt, on the database clock.
      columns.bigInteger('lease_until').notNullable();
      // JSON of what is reserved of limits. It is released when the attempt fails.
      columns.text('reserved').notNullable();
      // Sequence number among the completed submissions of the form; null until completed.
      columns.bigInteger('number');
      columns.bigInteger('user_id').notNullable().index();
      columns.string('session_id', 64).index();
      // The folded email address from the fields, for personal data requests.
      columns.string('email', 254).index();
      columns.text('page_url').notNullable();
      // JSON: inputs, display_values, labels.
      columns.text('answers').notNullable();
      columns.text('response').notNullable();
      // JSON: provider, model, usage, cost, sources.
      columns.text('made').notNullable();
      requiredColumns(columns).text('error', 'error_code');
      // Folded texts, for searches.
      columns.text('found_by').notNullable();
      columns.bigInteger('created_at').notNullable();
      columns.bigInteger('finished_at');
      columns.index(['form_id', 'id']);
      columns.index(['form_id', 'created_at']);
    });
    await createCounterTable(knex, formCounters);
  },
};

/** Renames columns to the terms of the code. */
const columnsMigration: Migration = {
  id: '0193_ai_form_columns',
  async up(knex) {
    await knex.raw(`ALTER TABLE ${formTables.submissions} RENAME COLUMN made TO generation`);
    await knex.raw(`ALTER TABLE ${formTables.submissions} RENAME COLUMN found_by TO search_text`);
  },
};

/** Running submissions are jobs of the host. Those in progress fail when their lease ends. */
const jobsMigration: Migration = {
  id: '0212_form_submission_jobs',
  async up(knex) {
    const { submissions } = formTables;
    const running = (await knex(submissions)
      .where({ status: 'running' })
      .select('uuid', 'lease_until', 'reserved')) as Record<'uuid' | 'lease_until' | 'reserved', string>[];
    const jobs = running.map(({ uuid: id, lease_until, reserved }) => ({
      key: id,
      args: { id, reserved: reserved === '' ? null : (JSON.parse(reserved) as JsonValue) },
      isRunning: true,
      dueAt: Number(lease_until),
    }));
    await insertJobs(knex, submissionJob, jobs);
    for (const column of ['lease_until', 'reserved'])
      await knex.raw(`ALTER TABLE ${submissions} DROP COLUMN ${column}`);
  },
};

/** What readers did with submissions. */
const readStatesMigration: Migration = {
  id: '0231_form_submission_read_states',
  up: (knex) => addReadState(knex, { table: formTables.submissions, owner: 'form_id' }),
};

const minimumMatchMigration: Migration = {
  id: '0251_form_minimum_match',
  up: (knex) => dropDefaultMinimumMatch(knex, formTables.forms),
};

export const formMigrations: readonly Migration[] = [
  formsMigration,
  columnsMigration,
  jobsMigration,
  readStatesMigration,
  minimumMatchMigration,
];
