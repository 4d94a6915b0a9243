import type { Migration } from '#plugin-api';

export const formTables = {
  /** One row per form; `settings` is the JSON of FormSettings. Ids are never given twice. */
  forms: 'svc_ai_forms',
  /** One row per submission, from the moment it is taken. */
  submissions: 'svc_ai_form_submissions',
  /** What of a limit is used up: one row for each form, visitor and period. */
  counters: 'svc_ai_form_counters',
} as const;

/** Times in milliseconds since the epoch. */
export const formsMigration: Migration = {
  id: '0150_ai_forms',
  async up(knex) {
    await knex.schema.createTable(formTables.forms, (columns) => {
      columns.increments('id');
      columns.text('settings').notNullable();
      columns.bigInteger('submissions').notNullable().defaultTo(0);
      columns.bigInteger('created_at').notNullable();
      columns.bigInteger('updated_at').notNullable();
    });
    await knex.schema.createTable(formTables.submissions, (columns) => {
      columns.bigIncrements('id');
      columns.string('uuid', 36).notNullable().unique();
      columns.integer('form_id').notNullable();
      columns.string('form_name', 200).notNullable();
      // `running`, `completed`, `failed`.
      columns.string('status', 20).notNullable();
      // Counts up with each try: what an earlier one brings in does not count any more.
      columns.integer('attempt').notNullable();
      // Of the try under way, by the database's clock.
      columns.bigInteger('lease_until').notNullable();
      // JSON of what was taken from limits, to be given back where the try came to nothing.
      columns.text('reserved').notNullable();
      // The number of the submission among those of its form that were answered; null until it is.
      columns.bigInteger('number');
      columns.bigInteger('user_id').notNullable().index();
      columns.string('session_id', 64).index();
      // The folded address that was given, by which a person's data are found.
      columns.string('email', 254).index();
      columns.text('page_url').notNullable();
      // JSON: inputs, display_values, labels.
      columns.text('answers').notNullable();
      columns.text('response').notNullable();
      // JSON: provider, model, usage, cost, sources.
      columns.text('made').notNullable();
      columns.text('error').notNullable();
      columns.text('error_code').notNullable();
      // Folded texts that a search looks through.
      columns.text('found_by').notNullable();
      columns.bigInteger('created_at').notNullable();
      columns.bigInteger('finished_at');
      columns.index(['form_id', 'id']);
      columns.index(['form_id', 'created_at']);
    });
    await knex.schema.createTable(formTables.counters, (columns) => {
      columns.integer('form_id').notNullable();
      // `s:` session, `a:` hash of an address, `u:` user.
      columns.text('subject').notNullable();
      columns.text('unit').notNullable();
      columns.text('per').notNullable();
      columns.bigInteger('starts_at').notNullable();
      columns.bigInteger('used').notNullable();
      columns.primary(['form_id', 'subject', 'unit', 'per', 'starts_at']);
    });
    await knex.raw(`CREATE INDEX ${formTables.counters}_starts_at ON ${formTables.counters} (starts_at)`);
  },
};
