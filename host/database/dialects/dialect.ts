import type { Clock, DirectWork, Knex, Logger, RowReduction, SelectByDialect } from '#plugin-api';

/** Called with the payload of one notification. */
export type NotificationCallback = (payload: string) => void;

/** Called when notifications may have been lost: drop everything derived from the database. */
export type GapCallback = () => void;

/** How a name is held: by any number of processes together, or by one alone. */
export type HoldMode = 'shared' | 'alone';

/** Ends a hold. Never rejects. */
export type Release = () => Promise<void>;

/** Sends and receives notifications; the database stores the callbacks. Holds names on the same connection. */
export interface Notifier {
  /** Sends inside the running transaction when there is one, so that it is delivered at commit or not at all. */
  send(knex: Knex, channel: string, payload: string): Promise<void>;
  /** Starts to receive a channel. Resolves once no later notification can be missed. */
  subscribe(channel: string): Promise<void>;
  unsubscribe(channel: string): Promise<void>;
  /** See `Database`. */
  hold(name: string, mode: HoldMode): Promise<Release | null>;
  /** See `Database`. */
  countHolders(name: string): Promise<number | null>;
  close(): Promise<void>;
}

export interface NotifierEvents {
  readonly received: (channel: string, payload: string) => void;
  readonly gap: GapCallback;
  /** From now on none arrives. May be called again. */
  readonly lost: () => void;
  /** They arrive again. Has an effect after `lost`. */
  readonly found: () => void;
}

export interface TableColumn {
  readonly name: string;
  /** Computed by the database; neither dumped nor restored. */
  readonly generated: boolean;
}

export interface Table {
  readonly name: string;
  readonly columns: readonly TableColumn[];
}

export type Row = Record<string, unknown>;

/** A consistent view of all tables, unaffected by writers. */
export interface Snapshot {
  readonly tables: readonly Table[];
  /** Rows of one table in batches of a few hundred. */
  rows(table: Table): AsyncIterable<readonly Row[]>;
}

/** Everything that differs between the databases. One file each; no code outside this folder depends on the dialect. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgresql';
  readonly knex: Knex;
  /** Location for operators, without a password. */
  readonly label: string;
  /** Expression: the database's time in milliseconds since the epoch, the same clock for all nodes. */
  now(): Knex.Raw;
  isUniqueViolation(error: unknown): boolean;
  /** Waits for the named lock and holds it until the transaction ends. Exclusive across all processes. */
  lock(transaction: Knex, name: string): Promise<void>;
  /** Settings for a transaction that alters tables. */
  readonly migrationSettings: Knex.TransactionConfig;
  createNotifier(events: NotifierEvents): Notifier;
  /** See DatabaseApi. @param init `transaction`: the transaction to join, or null. */
  direct<Result>(
    work: DirectWork<Result>,
    init: { readonly transaction: Knex.Transaction | null; readonly durable: boolean; readonly readOnly: boolean },
  ): Promise<Result>;
  /** See DatabaseApi. @param transaction to read in where the statement does not run in a thread. */
  readNumbers(
    select: SelectByDialect,
    values: readonly (string | number)[],
    transaction: Knex.Transaction | null,
  ): Promise<Float64Array>;
  /** See DatabaseApi. */
  reduceRows(reduction: RowReduction): Promise<Float64Array>;
  tables(knex: Knex): Promise<Table[]>;
  /** Drops the tables, including references to them. */
  dropTables(transaction: Knex, tables: readonly Table[]): Promise<void>;
  /** Inside a transaction of `migrationSettings`: runs the work with foreign keys unchecked, and checks them afterwards. */
  withoutForeignKeys(transaction: Knex, work: () => Promise<void>): Promise<void>;
  /** Sets sequences above the inserted ids. */
  resetSequences(transaction: Knex, tables: readonly Table[]): Promise<void>;
  snapshot<Result>(read: (snapshot: Snapshot) => Promise<Result>): Promise<Result>;
  /** Copies the database file while in use; undefined if not supported. */
  readonly copyToFile?: (file: string) => Promise<void>;
  close(): Promise<void>;
}

export interface DialectDependencies {
  readonly clock: Clock;
  readonly log: Logger;
}
