import type { Knex } from 'knex';
import type { Undo } from './undo.ts';

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
  /** Whether this call runs inside `transaction`, however deep below. */
  inTransaction(): boolean;
  /** Runs the callback after the commit of the running transaction (never after a rollback), or at once outside of one. */
  afterCommit(callback: () => void): void;
  /** Expression: the database's time in milliseconds since the epoch. All nodes share that clock: leases are measured by it. */
  now(): Knex.Raw;
  /**
   * Whether an error tells of the state the database is in (locked, full, out of reach, shutting down) and not of what was
   * asked of it: the same may succeed a little later. A statement whose connection broke may have been carried out.
   */
  isUnavailable(error: unknown): boolean;
  /**
   * Tells all processes of the site, this one included, within a second. Inside a transaction it is sent at commit.
   *
   * @param channel lower-case letters, digits and `_`; begin it with the plugin's slug.
   * @param payload at most 7,999 bytes.
   */
  notify(channel: string, payload: string): Promise<void>;
  /** @param onGap runs when notifications may have been lost (the connection broke, the database was restored). */
  listen(channel: string, callback: (payload: string) => void, onGap?: () => void): Promise<Undo>;
  /**
   * Hand-written SQL, prepared once and run thousands of times a second, where the query builder would cost more than the
   * statement. Inside a transaction the work takes part in it. Outside, SQLite's work is one transaction of its own, and
   * each of PostgreSQL's statements is one.
   */
  direct<T>(work: DirectWork<T>, init?: DirectInit): Promise<T>;
}

/** One of both runs, by the dialect. */
export interface DirectWork<T> {
  /** Synchronous: all of it holds SQLite's one write lock, and nothing else of this process runs meanwhile. Keep it to a few milliseconds. */
  readonly sqlite: (connection: SqliteConnection) => T;
  readonly postgresql: (connection: PostgresqlConnection) => Promise<T>;
}

export interface DirectInit {
  /** Default: the transaction this call runs in, if any. */
  readonly transaction?: Knex.Transaction;
  /** On the disk when the promise resolves, even if the power goes: SQLite otherwise may lose the last moments then, though never with the process. Default false. */
  readonly durable?: boolean;
  /** Nothing is written: SQLite then does not take its one write lock, and waits for nobody who writes. Default false. */
  readonly readOnly?: boolean;
}

export type DirectValue = string | number | bigint | Uint8Array | null;

export interface SqliteConnection {
  /** Answers the number of rows changed, and the id of the last row inserted. Placeholders are `?`. */
  run(sql: string, ...values: readonly DirectValue[]): { readonly changes: number; readonly lastId: number };
  /** Rows as arrays of their columns' values. */
  rows(sql: string, ...values: readonly DirectValue[]): readonly (readonly unknown[])[];
}

export interface PostgresqlConnection {
  /** Rows as arrays of their columns' values, and the number of rows changed. Placeholders are `$1`; arrays may be handed in. */
  rows(
    sql: string,
    values?: readonly unknown[],
  ): Promise<{ readonly rows: readonly (readonly unknown[])[]; readonly changes: number }>;
}
