import { requiredColumns, type Migration } from '#plugin-api';
import { createTables, dropDefaultMinimumMatch } from '../../../kit/migrations.ts';

export const botsTable = 'svc_bots';

/** One row per chatbot; `settings` is the JSON of BotSettings. Ids are never reused (AUTOINCREMENT on SQLite). */
export const botsMigration = createTables('0101_bots', {
  [botsTable](columns) {
    columns.increments('id');
    requiredColumns(columns).text('settings').bigInteger('created_at', 'updated_at');
  },
});

export const minimumMatchMigration: Migration = {
  id: '0250_bot_minimum_match',
  up: (knex) => dropDefaultMinimumMatch(knex, botsTable),
};
