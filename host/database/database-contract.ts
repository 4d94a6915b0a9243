import type { DatabaseApi, Migration } from '#plugin-api';

export interface AppliedMigration {
  /** `host`, or the slug of a plugin. */
  readonly owner: string;
  readonly id: string;
  /** Milliseconds since the epoch; null: known to this process and not yet applied. */
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
  /** Migrations applied after the rows were in, because the backup was made by an older version. */
  readonly migrated: number;
}

/**
 * The site's database as the host's own parts see it. `knex` used inside `transaction` takes part in that transaction,
 * even where it is called without being handed one (a hook's callback, say): SQLite has one connection, and waiting
 * for another would wait for ever.
 */
export interface Database extends DatabaseApi {
  /** Where the data is, for operators: file, or host and database name; no password. */
  readonly label: string;
  isUniqueViolation(error: unknown): boolean;
  /** Inside a transaction: waits for the named lock and holds it to the end of the transaction, over all nodes. */
  lock(name: string): Promise<void>;
  /** Stands for the transaction this call runs in; null outside. */
  currentTransaction(): object | null;
  /**
   * Applies those of the migrations that this database lacks, in the order of their ids, each in a transaction of its
   * own. Nodes that start at once take turns: each migration runs once.
   *
   * @param owner `host`, or the slug of a plugin.
   * @throws Error naming the migration when the database holds one of this owner that the list lacks (it was written by
   *   a newer version), when an id appears twice, or when a migration fails.
   */
  migrate(owner: string, migrations: readonly Migration[]): Promise<void>;
  /**
   * Applies all of the migrations that this database lacks, and then does the work, in one transaction: all of it or
   * nothing. Nodes that come at once take turns, so that the second one finds nothing left to apply. Foreign keys of
   * SQLite are not enforced inside.
   *
   * @throws what `migrate` throws, and what the work throws.
   */
  migrateTogether<Result>(
    owner: string,
    migrations: readonly Migration[],
    work: () => Promise<Result>,
  ): Promise<Result>;
  /** Ids of those of the migrations that this database lacks, in order. @throws Error as `migrate` when the database is newer. */
  pendingMigrations(owner: string, migrations: readonly Migration[]): Promise<string[]>;
  /** Makes migrations known to `restore` without applying them. */
  declareMigrations(owner: string, migrations: readonly Migration[]): void;
  /** Applies what is missing of all lists that `migrate` was called with in this process; answers how many. */
  migratePending(): Promise<number>;
  /** Forgets that the owner's migrations ran: for a plugin that was uninstalled and has removed its tables. */
  forgetMigrations(owner: string): Promise<void>;
  /** Applied ones, and those of `migrate`'s lists that are not applied. */
  migrationStatus(): Promise<AppliedMigration[]>;
  /** Rejects when the database does not answer within three seconds. */
  ping(): Promise<void>;
  /**
   * Writes the whole database, as it is at one moment, into a new file; the site may go on running.
   *
   * @param file ends with `.sqlite` or `.db`: a copy of the SQLite file (SQLite only). Any other: the portable format.
   */
  backup(file: string): Promise<BackupReport>;
  /**
   * Replaces everything in the database by what a backup of either format holds, in one transaction: after an error all
   * is as before. The tables are made by the migrations the backup names, which must be known to this process
   * (their plugins active), and are then brought up to date. Other nodes drop what they had cached.
   */
  restore(file: string): Promise<RestoreReport>;
  close(): Promise<void>;
}
