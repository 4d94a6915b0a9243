import type { Clock, DirectWork, Knex, Logger } from '#plugin-api';

/** Called with the payload of one notification. */
export type NotificationCallback = (payload: string) => void;

/** Called when notifications may have been lost: drop whatever you derived from the database. */
export type GapCallback = () => void;

/** Where notifications go to and come from; the callbacks are kept by the database. */
export interface Notifier {
  /** Sends inside the running transaction when there is one, so that it is delivered at commit or not at all. */
  send(knex: Knex, channel: string, payload: string): Promise<void>;
  /** Begins to receive a channel. Resolves once nothing sent from then on is missed. */
  subscribe(channel: string): Promise<void>;
  unsubscribe(channel: string): Promise<void>;
  close(): Promise<void>;
}

export interface NotifierEvents {
  readonly received: (channel: string, payload: string) => void;
  readonly gap: GapCallback;
}

export interface TableColumn {
  readonly name: string;
  /** The database computes it: it is neither dumped nor restored. */
  readonly generated: boolean;
}

export interface Table {
  readonly name: string;
  readonly columns: readonly TableColumn[];
}

export type Row = Record<string, unknown>;

/** A consistent view of all tables, unmoved by writers. */
export interface Snapshot {
  readonly tables: readonly Table[];
  /** Rows of one table in batches of a few hundred. */
  rows(table: Table): AsyncIterable<readonly Row[]>;
}

/** All that differs between the databases. One file each; nothing outside this folder asks which one runs. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgresql';
  readonly knex: Knex;
  /** What operators see of the address: no password. */
  readonly label: string;
  /** Expression: the database's time in milliseconds since the epoch, the same clock for all nodes. */
  now(): Knex.Raw;
  isUniqueViolation(error: unknown): boolean;
  /** See DatabaseApi. */
  isUnavailable(error: unknown): boolean;
  /** Waits for the named lock and holds it until the transaction ends. One holder over all processes. */
  lock(transaction: Knex, name: string): Promise<void>;
  /** Settings of a transaction in which tables may be altered. */
  readonly migrationSettings: Knex.TransactionConfig;
  createNotifier(events: NotifierEvents): Notifier;
  /** See DatabaseApi. @param init `transaction`: the one to take part in, or null. */
  direct<Result>(
    work: DirectWork<Result>,
    init: { readonly transaction: Knex.Transaction | null; readonly durable: boolean; readonly readOnly: boolean },
  ): Promise<Result>;
  tables(knex: Knex): Promise<Table[]>;
  /** Removes the tables, whatever refers to them. */
  dropTables(transaction: Knex, tables: readonly Table[]): Promise<void>;
  /** Inside a transaction of `migrationSettings`: runs the work with foreign keys unchecked, and checks them afterwards. */
  withoutForeignKeys(transaction: Knex, work: () => Promise<void>): Promise<void>;
  /** Makes generated identifiers go on above those that were inserted by hand. */
  resetSequences(transaction: Knex, tables: readonly Table[]): Promise<void>;
  snapshot<Result>(read: (snapshot: Snapshot) => Promise<Result>): Promise<Result>;
  /** A byte-wise copy made while the database is in use; undefined where there is none. */
  readonly copyToFile?: (file: string) => Promise<void>;
  close(): Promise<void>;
}

export interface DialectDependencies {
  readonly clock: Clock;
  readonly log: Logger;
}
