import type { Knex } from 'knex';

export type { Knex };

/** One step of a plugin's tables, run once per database, in order of `id`, inside a transaction. */
export interface Migration {
  /** Sortable and never changed once released, for example `0001_events`. */
  readonly id: string;
  up(knex: Knex, database: { readonly dialect: DatabaseApi['dialect'] }): Promise<void>;
}

/**
 * The site's database: SQLite in the data folder, or PostgreSQL. `knex` builds queries that work on both;
 * a plugin's tables are named `<slug>_<name>`.
 */
export interface DatabaseApi {
  readonly dialect: 'sqlite' | 'postgresql';
  readonly knex: Knex;
  /** Commits when `work` resolves, rolls back when it rejects. */
  transaction<T>(work: (transaction: Knex.Transaction) => Promise<T>): Promise<T>;
}
