import { requiredColumns, type Migration } from '#plugin-api';

/**
 * Tables of the vector stores' fakes and of captured mail. Ids and orders are compared byte by byte on both dialects, so that pages
 * come in the same order everywhere.
 */
export const migrations: readonly Migration[] = [
  {
    id: '0001_vectors',
    up: async (knex, { dialect }) => {
      const bytewise = dialect === 'postgresql' ? 'text collate "C"' : 'text';
      await knex.schema.createTable('sandbox_collections', (table) => {
        table.string('id', 36).primary();
        table.string('store', 30).notNullable();
        table.specificType('scope', bytewise).notNullable();
        table.specificType('name', bytewise).notNullable();
        requiredColumns(table).text('definition').bigInteger('created_at');
        table.unique(['store', 'scope', 'name']);
      });
      await knex.schema.createTable('sandbox_records', (table) => {
        table.string('collection_id', 36).notNullable();
        table.specificType('namespace', bytewise).notNullable();
        table.specificType('record_id', bytewise).notNullable();
        table.specificType('position', bytewise).notNullable();
        requiredColumns(table).binary('vector').text('content');
        table.primary(['collection_id', 'namespace', 'record_id']);
        table.unique(['collection_id', 'namespace', 'position']);
      });
    },
  },
  {
    id: '0002_mails',
    up: (knex) =>
      knex.schema.createTable('sandbox_mails', (table) => {
        table.string('id', 36).primary();
        requiredColumns(table).bigInteger('captured_at').text('recipients', 'subject', 'body');
      }),
  },
];

/** What uninstalling drops. */
export const tables = ['sandbox_records', 'sandbox_collections', 'sandbox_mails'] as const;
