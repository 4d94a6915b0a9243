import type { Migration } from '#plugin-api';

/** Values are JSON text in both databases: PostgreSQL's jsonb would reorder object members. */
export const migrations: readonly Migration[] = [
  {
    id: '0001_options',
    up: async (knex) => {
      await knex.schema.createTable('options', (table) => {
        table.string('name', 191).primary();
        table.text('value').notNullable();
        table.boolean('autoload').notNullable().defaultTo(true).index();
      });
    },
  },
];
