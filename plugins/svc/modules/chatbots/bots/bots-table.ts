import { requiredColumns, type Migration } from '#plugin-api';

export const botsTable = 'svc_bots';

/** One row per chatbot; `settings` is the JSON of BotSettings. Ids are never reused (AUTOINCREMENT on SQLite). */
export const botsMigration: Migration = {
  id: '0101_bots',
  async up(knex) {
    await knex.schema.createTable(botsTable, (columns) => {
      columns.increments('id');
      requiredColumns(columns).text('settings').bigInteger('created_at', 'updated_at');
    });
  },
};
