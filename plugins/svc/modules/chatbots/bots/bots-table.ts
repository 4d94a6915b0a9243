import type { Migration } from '#plugin-api';

export const botsTable = 'svc_bots';

/** One row per chatbot; `settings` is the JSON of BotSettings. Ids count up and are never given twice, on SQLite by AUTOINCREMENT. Times in milliseconds since the epoch. */
export const botsMigration: Migration = {
  id: '0101_bots',
  async up(knex) {
    await knex.schema.createTable(botsTable, (columns) => {
      columns.increments('id');
      columns.text('settings').notNullable();
      columns.bigInteger('created_at').notNullable();
      columns.bigInteger('updated_at').notNullable();
    });
  },
};
