import type { Knex } from 'knex';
import type { Undo } from './undo.ts';

export type { Knex };

/** A schema change, run once per database, in order of `id`, in a transaction. */
export interface Migration {
  /** Sortable and never changed once released, for example `0001_events`. */
  readonly id: string;
  up(knex: Knex, database: { readonly dialect: DatabaseApi['dialect'] }): Promise<void>;
  /**
   * For a migration that takes away what earlier code needs (a column, a table, a meaning): the id of the migration whose code
   * needs it no longer, of an earlier release. Processes that do not know that one stop using the data. Without it, code of the
   * release before must be able to go on.
   */
  readonly contracts?: string;
}

/**
 * The site's database: SQLite in the data folder, or PostgreSQL. `knex` builds queries that work on both;
 * a plugin's tables are named `<slug>_<name>`, with `_` for each `-` of the slug.
 */
export interface DatabaseApi {
  readonly dialect: 'sqlite' | 'postgresql';
  readonly knex: Knex;
  /** Commits when `work` resolves, rolls back when it rejects. */
  transaction<T>(work: (transaction: Knex.Transaction) => Promise<T>): Promise<T>;
  /** Whether this call runs inside `transaction`, at any depth. */
  inTransaction(): boolean;
  /** Runs the callback after the commit of the current transaction (never after a rollback), or at once outside of one. */
  afterCommit(callback: () => void): void;
  /** Expression: the database's time in milliseconds since the epoch. All nodes share that clock; leases use it. */
  now(): Knex.Raw;
  /**
   * Whether an error is caused by the state of the database (locked, full, unreachable, shutting down) and not by the
   * statement: a retry may succeed. If the connection broke, the statement may have been executed.
   */
  isUnavailable(error: unknown): boolean;
  /**
   * Notifies all processes of the site, including this one, within a second. Inside a transaction it is sent at commit.
   *
   * @param channel lower-case letters, digits and `_`; start it with the plugin's slug, with `_` for each `-`.
   * @param payload at most 7,999 bytes.
   */
  notify(channel: string, payload: string): Promise<void>;
  /** @param onGap runs when notifications may have been lost (the connection broke, the database was restored). */
  listen(channel: string, callback: (payload: string) => void, onGap?: () => void): Promise<Undo>;
  /**
   * Prepared SQL for statements that run thousands of times per second, where the query builder costs more than the
   * statement. Inside a transaction the work takes part in it. Outside, the work is one transaction on SQLite; on
   * PostgreSQL each statement is one.
   */
  direct<T>(work: DirectWork<T>, init?: DirectInit): Promise<T>;
  /**
   * Runs one SELECT that may take seconds, without blocking the event loop, and returns its numbers row after row, in its order.
   * None may be null. SQLite runs it in a thread with a read-only connection, which sees what was committed before the
   * call and nothing of a running transaction; a database in memory has no such thread. PostgreSQL plans it for these values.
   */
  readNumbers(select: SelectByDialect, values?: readonly (string | number)[]): Promise<Float64Array>;
  /**
   * Reads the rows of one SELECT in a thread, with a connection that only reads, and reduces them there to numbers: for work on
   * many rows that SQL cannot do. The rows are never all in memory, except those of a database in memory, which has no such
   * thread. Sees what was committed before the call, and nothing of a running transaction.
   *
   * @throws what the reducer throws, by its message; the reason of the signal
   */
  reduceRows(reduction: RowReduction): Promise<Float64Array>;
}

export interface RowReduction {
  readonly select: SelectByDialect;
  /** Default: none. */
  readonly values?: readonly (string | number)[];
  /** The module of the reducer, which has no host. */
  readonly module: URL;
  /** Name of the exported function that gets the input and returns a RowReducer. */
  readonly reducer: string;
  /** Cloneable. */
  readonly input: unknown;
  /** Ends the thread, also in the middle of a computation. */
  readonly signal?: AbortSignal | undefined;
}

/** Reduces the rows of one SELECT. */
export interface RowReducer {
  /** Gets the values of one row, in the order of its columns. Binary values are Uint8Arrays. */
  add(row: readonly unknown[]): void;
  /** Called after the last row. */
  end(): readonly number[];
}

/** One SELECT for each database. Placeholders are `?` on SQLite and `$1` on PostgreSQL. */
export interface SelectByDialect {
  readonly sqlite: string;
  readonly postgresql: string;
}

/** The function for the current dialect runs. */
export interface DirectWork<T> {
  /** Synchronous: holds SQLite's only write lock and blocks this process. Keep it to a few milliseconds. */
  readonly sqlite: (connection: SqliteConnection) => T;
  readonly postgresql: (connection: PostgresqlConnection) => Promise<T>;
}

export interface DirectInit {
  /** Default: the current transaction, if any. */
  readonly transaction?: Knex.Transaction;
  /**
   * Whether the data is on disk when the promise resolves. Otherwise SQLite may lose the last writes in a power failure, but not
   * in a crash of the process. Default false.
   */
  readonly durable?: boolean;
  /** Whether the work only reads: SQLite then takes no write lock and does not wait for writers. Default false. */
  readonly readOnly?: boolean;
}

export type DirectValue = string | number | bigint | Uint8Array | null;

export interface SqliteConnection {
  /** Returns the number of changed rows and the id of the last inserted row. Placeholders are `?`. */
  run(sql: string, ...values: readonly DirectValue[]): { readonly changes: number; readonly lastId: number };
  /** Rows as arrays of their columns' values. */
  rows(sql: string, ...values: readonly DirectValue[]): readonly (readonly unknown[])[];
}

export interface PostgresqlConnection {
  /** Rows as arrays of their columns' values, and the number of rows changed. Placeholders are `$1`; arrays are allowed. */
  rows(
    sql: string,
    values?: readonly unknown[],
  ): Promise<{ readonly rows: readonly (readonly unknown[])[]; readonly changes: number }>;
}
