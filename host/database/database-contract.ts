import type { DatabaseApi, Migration, Undo } from '#plugin-api';
import type { HoldMode, Release } from './dialects/dialect.ts';

export interface AppliedMigration {
  /** `host`, or the slug of a plugin. */
  readonly owner: string;
  readonly id: string;
  /** Milliseconds since the epoch; null: known to this process, not applied yet. */
  readonly appliedAt: number | null;
}

export interface BackupReport {
  readonly file: string;
  /** `copy`: a SQLite file; `portable`: rows as JSON lines, gzipped, for either database. */
  readonly format: 'copy' | 'portable';
  readonly tables: number;
  readonly rows: number;
}

export interface RestoreReport {
  readonly tables: number;
  readonly rows: number;
  /** Migrations applied after the rows were inserted, because an older version created the backup. */
  readonly migrated: number;
}

/**
 * The site's database as used by the host. `knex` used inside `transaction` takes part in that transaction, even in code
 * that does not receive it (such as a hook's callback): SQLite has one connection, and waiting for another one would
 * block forever.
 */
export interface Database extends DatabaseApi {
  /** Location for operators: file, or host and database name; no password. */
  readonly label: string;
  isUniqueViolation(error: unknown): boolean;
  /** Inside a transaction: waits for the named lock and holds it until the transaction ends. Exclusive across all nodes. */
  lock(name: string): Promise<void>;
  /**
   * Holds a name until it is released or this process ends, in whatever way: nothing is written, and nothing expires. Never
   * waits: null while other processes hold it alone, or hold it at all when `alone` is asked for. Each caller has a hold of
   * its own. A database in memory belongs to one process, so its names are always free. After the connection to PostgreSQL
   * broke, holds are taken again as soon as it is back.
   */
  hold(name: string, mode: HoldMode): Promise<Release | null>;
  /** Number of other processes that hold the name; null where the database cannot count them, which is SQLite. */
  countHolders(name: string): Promise<number | null>;
  /**
   * From now on calls `begin` before each statement of this process, and what it returns after it. A statement for which `begin`
   * throws fails so. Statements of `readNumbers` are left out.
   */
  observeQueries(begin: (sql: string) => () => void): Undo;
  /** Identifies the transaction this call runs in; null outside. */
  currentTransaction(): object | null;
  /**
   * Applies the pending migrations in the order of their ids, each in its own transaction. A lock across nodes ensures
   * that each migration runs once.
   *
   * @param owner `host`, or the slug of a plugin.
   * @throws Error naming the migration when the database has one of this owner that is not in the list (a newer version
   *   wrote it), when an id appears twice, or when a migration fails.
   */
  migrate(owner: string, migrations: readonly Migration[]): Promise<void>;
  /**
   * Applies all pending migrations and then does the work, in one transaction: all or nothing. A lock across nodes lets
   * a second node find nothing left to apply. SQLite foreign keys are not enforced inside.
   *
   * @throws what `migrate` throws, and what the work throws.
   */
  migrateTogether<Result>(
    owner: string,
    migrations: readonly Migration[],
    work: () => Promise<Result>,
  ): Promise<Result>;
  /** Ids of the pending migrations, in order. @throws Error as `migrate` when the database is newer. */
  pendingMigrations(owner: string, migrations: readonly Migration[]): Promise<string[]>;
  /** Registers migrations for `restore` without applying them. */
  declareMigrations(owner: string, migrations: readonly Migration[]): void;
  /** Applies all pending migrations of the lists passed to `migrate` in this process. Returns their number. */
  migratePending(): Promise<number>;
  /**
   * Sentences by owner of the migrations known here: newer code, in another process, took away what the code of this one needs.
   * The owner must not use the data any more. Migrations that only add do not count.
   */
  findTooOld(): Promise<ReadonlyMap<string, string>>;
  /** Removes the record of the owner's migrations: for an uninstalled plugin that has dropped its tables. */
  forgetMigrations(owner: string): Promise<void>;
  /** Takes back what `declareMigrations` or `migrate` registered in this process: the owner does not run here any more. */
  withdrawMigrations(owner: string): void;
  /** Applied migrations, and pending ones of the lists passed to `migrate`. */
  migrationStatus(): Promise<AppliedMigration[]>;
  /** Rejects when the database does not respond within three seconds. */
  ping(): Promise<void>;
  /**
   * Writes a consistent snapshot of the whole database to a new file, while the site keeps running.
   *
   * @param file ends with `.sqlite` or `.db`: a copy of the SQLite file (SQLite only). Any other: the portable format.
   */
  backup(file: string): Promise<BackupReport>;
  /**
   * Replaces the database with a backup of either format, in one transaction: an error leaves it unchanged. The backup's
   * migrations create the tables, so their plugins must be active in this process; newer migrations follow. Other nodes
   * drop their caches.
   *
   * @param onTable called when a table begins. @param rows restored before it
   */
  restore(file: string, onTable?: (table: string, rows: number) => void): Promise<RestoreReport>;
  close(): Promise<void>;
}
