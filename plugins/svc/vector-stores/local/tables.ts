import { requiredColumns, type Migration } from '#plugin-api';

export const tables = {
  collections: 'svc_vector_collections',
  vectors: 'svc_vectors',
  /** What vectors stand for, apart: a search reads the vectors of all and the texts of a few. */
  texts: 'svc_vector_texts',
} as const;

/** Bytes of a row from which PostgreSQL stores its vector elsewhere: as many as it can have. */
const inlineBytes = 8_160;

/** Times are milliseconds since the epoch. */
const createTables: Migration = {
  id: '0320_local_vectors',
  async up(knex, { dialect }) {
    await knex.schema.createTable(tables.collections, (table) => {
      table.increments('id');
      // cosine, euclidean or dotproduct.
      requiredColumns(table).string(255, 'name').integer('dimension').string(20, 'metric').bigInteger('created_at');
      table.unique(['name']);
    });
    await knex.schema.createTable(tables.vectors, (table) => {
      table.increments('id');
      requiredColumns(table)
        .integer('collection_id')
        // Digest of namespace and id, which together are too long for an index.
        .string(64, 'vector_key')
        .string(512, 'namespace', 'vector_id')
        // 32-bit floats, little-endian.
        .binary('vector');
      table.unique(['collection_id', 'vector_key']);
      table.index(['collection_id', 'namespace']);
    });
    await knex.schema.createTable(tables.texts, (table) => {
      table.integer('id').primary();
      // Metadata as JSON.
      requiredColumns(table).text('content', 'metadata');
    });
    if (dialect === 'sqlite') return;
    // Vectors cannot be compressed, and a read from elsewhere costs another.
    await knex.raw('ALTER TABLE ?? ALTER COLUMN vector SET STORAGE EXTERNAL', [tables.vectors]);
    await knex.raw(`ALTER TABLE ?? SET (toast_tuple_target = ${String(inlineBytes)})`, [tables.vectors]);
  },
};

export const localMigrations: readonly Migration[] = [createTables];
