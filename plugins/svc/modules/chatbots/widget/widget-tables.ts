import type { Migration } from '#plugin-api';

export const widgetTables = {
  /** What of a limit is used up: one row for each bot, visitor and period. */
  counters: 'svc_widget_counters',
  /** Answers that are being made, one row for each conversation: a lease of the node that makes it. No content. */
  turns: 'svc_widget_turns',
  /** What was done where nothing is kept, so that it counts once: hashes alone, for a day. */
  acts: 'svc_widget_acts',
} as const;

export const widgetMigration: Migration = {
  id: '0103_widget',
  async up(knex) {
    await knex.schema.createTable(widgetTables.counters, (columns) => {
      columns.integer('bot_id').notNullable();
      // `s:` session, `a:` hash of an address, `u:` user.
      columns.text('subject').notNullable();
      columns.text('unit').notNullable();
      columns.text('per').notNullable();
      columns.bigInteger('starts_at').notNullable();
      columns.bigInteger('used').notNullable();
      columns.primary(['bot_id', 'subject', 'unit', 'per', 'starts_at']);
    });
    await knex.raw(`CREATE INDEX ${widgetTables.counters}_starts_at ON ${widgetTables.counters} (starts_at)`);
    await knex.schema.createTable(widgetTables.turns, (columns) => {
      columns.text('conversation').primary();
      columns.text('message_id').notNullable();
      columns.text('token').notNullable();
      columns.bigInteger('until').notNullable();
      columns.integer('stopped').notNullable().defaultTo(0);
      // JSON of what was reserved of limits, to be given back if the node dies.
      columns.text('reserved').notNullable();
    });
    await knex.schema.createTable(widgetTables.acts, (columns) => {
      columns.text('key').primary();
      columns.text('value').notNullable();
      columns.integer('revision').notNullable();
      columns.bigInteger('expires_at').notNullable();
    });
    await knex.raw(`CREATE INDEX ${widgetTables.acts}_expires_at ON ${widgetTables.acts} (expires_at)`);
  },
};
