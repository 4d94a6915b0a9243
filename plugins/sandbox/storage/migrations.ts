import type { Migration } from '#plugin-api';

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
        table.text('definition').notNullable();
        table.bigInteger('created_at').notNullable();
        table.unique(['store', 'scope', 'name']);
      });
      await knex.schema.createTable('sandbox_records', (table) => {
        table.string('collection_id', 36).notNullable();
        table.specificType('namespace', bytewise).notNullable();
        table.specificType('record_id', bytewise).notNullable();
        table.specificType('position', bytewise).notNullable();
        table.binary('vector').notNullable();
        table.text('content').notNullable();
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
        table.bigInteger('captured_at').notNullable();
        table.text('recipients').notNullable();
        table.text('subject').notNullable();
        table.text('body').notNullable();
      }),
  },
];

/** What uninstalling drops. */
export const tables = ['sandbox_records', 'sandbox_collections', 'sandbox_mails'] as const;
