import { randomUUID } from 'node:crypto';
import type { Clock, Logger, Migration, Undo } from '#plugin-api';
import type { Database } from './database-contract.ts';
import type { Dialect, GapCallback, NotificationCallback, Notifier, NotifierEvents } from './dialects/dialect.ts';
import { isUnavailable, withStatementLimit } from './outages.ts';
import { createMigrator } from './migrator.ts';
import { type Transactions, createTransactions } from './transactions.ts';

export type { AppliedMigration, BackupReport, Database, RestoreReport } from './database-contract.ts';

export interface DatabaseDependencies {
  /** `postgres://...`; null: SQLite in `dataDir`. */
  readonly databaseUrl: string | null;
  /** The same database past a pooler that keeps no sessions. Default: `databaseUrl`. */
  readonly databaseDirectUrl?: string | null;
  /** Milliseconds that a PostgreSQL may take to come up. Default 0: it must be there. */
  readonly wait?: number;
  /** Absolute path; `:memory:` uses a SQLite database in memory, private to this process. */
  readonly dataDir: string;
  /** A whole SQLite database to start from with `:memory:`. Default: an empty one. */
  readonly image?: Buffer;
  readonly log: Logger;
  readonly clock: Clock;
}

const pingTimeout = 2_500;

/** How observers see statements that go past knex. */
export const directStatements = 'direct statements';

/** Notifies the other processes that all their cached data is outdated. */
const restoredChannel = 'database_restored';

/**
 * Milliseconds for which caches are believed once no notification arrives, such as a revoked key or a lowered budget. A lost
 * connection is noticed within ten seconds: with them, a node that is cut off goes by nothing older than a minute.
 */
const believedFor = 50_000;

/**
 * Opens the site's database and checks that it responds.
 *
 * @throws Error with a remedy when it cannot be opened.
 */
export async function openDatabase(dependencies: DatabaseDependencies): Promise<Database> {
  const { log, clock } = dependencies;
  let opened: Dialect | null = null;
  const transactions = createTransactions(() => {
    if (opened === null) throw new Error('The database is not open.');
    return opened.knex;
  }, log);
  opened = await openDialect(dependencies, transactions);
  return composeDatabase({ dialect: opened, transactions, log, clock });
}

/** Each driver is loaded only for its dialect. */
async function openDialect(
  { databaseUrl, databaseDirectUrl = null, wait = 0, dataDir, image, log, clock }: DatabaseDependencies,
  { afterCommit }: Transactions,
): Promise<Dialect> {
  if (databaseUrl === null) {
    const { openSqlite } = await import('./dialects/sqlite.ts');
    return openSqlite({ dataDir, ...(image && { image }), clock, log, afterCommit });
  }
  const { openPostgresql } = await import('./dialects/postgresql.ts');
  return openPostgresql({ databaseUrl, databaseDirectUrl }, { clock, log, wait });
}

interface Parts {
  readonly dialect: Dialect;
  readonly transactions: Transactions;
  readonly log: Logger;
  readonly clock: Clock;
}

function composeDatabase(parts: Parts): Database {
  const { dialect, transactions, clock } = parts;
  const { knex } = transactions;
  const migrator = createMigrator(parts);
  const observation = createObservation(dialect);
  return {
    dialect: dialect.name,
    knex,
    label: dialect.label,
    transaction: (work) => transactions.run(work),
    now: () => dialect.now(),
    isUniqueViolation: (error) => dialect.isUniqueViolation(error),
    isUnavailable,
    async lock(name) {
      if (transactions.current() === null)
        throw new Error(`The lock '${name}' was requested outside a transaction, where it has no effect.`);
      await dialect.lock(knex, name);
    },
    currentTransaction: () => transactions.current(),
    inTransaction: () => transactions.current() !== null,
    observeQueries: observation.observe,
    direct: (work, { transaction, durable = false, readOnly = false } = {}) =>
      observation.around(directStatements, () =>
        dialect.direct(work, { transaction: transaction ?? transactions.running(), durable, readOnly }),
      ),
    readNumbers: (select, values = []) => dialect.readNumbers(select, values, transactions.running()),
    reduceRows: (reduction) => dialect.reduceRows(reduction),
    afterCommit: (callback) => {
      transactions.afterCommit(callback);
    },
    migrate: (owner, migrations: readonly Migration[]) => atLeisure(() => migrator.migrate(owner, migrations)),
    migrateTogether: (owner, migrations, work) => atLeisure(() => migrator.migrateTogether(owner, migrations, work)),
    pendingMigrations: (owner, migrations) => migrator.pending(owner, migrations),
    declareMigrations: (owner, migrations) => migrator.declare(owner, migrations),
    migratePending: () => atLeisure(() => migrator.migratePending()),
    forgetMigrations: (owner) => migrator.forget(owner),
    withdrawMigrations: (owner) => migrator.withdraw(owner),
    migrationStatus: () => migrator.status(),
    findTooOld: () => migrator.findTooOld(),
    async ping() {
      // SQLite answers SELECT 1 without looking at the file, also while another process has locked it.
      const read = dialect.name === 'sqlite' ? 'SELECT 1 FROM sqlite_master LIMIT 1' : 'SELECT 1';
      await withStatementLimit(pingTimeout, async () => knex.raw(read).timeout(pingTimeout));
    },
    backup: (file) => atLeisure(async () => (await import('./backup.ts')).writeBackup(dialect, clock, file)),
    ...composeNotifications(parts, async (file, onTable) =>
      atLeisure(async () =>
        (await import('./restore.ts')).restoreBackup({ dialect, transactions, migrator, onTable }, file),
      ),
    ),
  };
}

/** Work whose statements may take long. */
const atLeisure = <Result>(work: () => Result): Result => withStatementLimit(Infinity, work);

type BeginQuery = (sql: string) => () => void;

/** A statement as knex's events have it; those of a transaction itself have no id. */
interface SentQuery {
  readonly sql: string;
  readonly __knexQueryUid?: string;
}

/** Follows statements: those of knex by its events, in and outside of transactions, and those that go past it. */
function createObservation({ knex }: Pick<Dialect, 'knex'>) {
  const observers = new Set<BeginQuery>();
  let isListening = false;
  const open = new Map<string, () => void>();
  const begin = (sql: string): (() => void) => {
    const ends = [...observers].map((observe) => observe(sql));
    return () => ends.forEach((end) => end());
  };
  const end = ({ __knexQueryUid: id = '' }: SentQuery): void => {
    open.get(id)?.();
    open.delete(id);
  };
  const listen = (): void => {
    knex.on('query', ({ sql, __knexQueryUid: id }: SentQuery) => {
      const ended = begin(sql);
      if (id === undefined) ended();
      else open.set(id, ended);
    });
    knex.on('query-response', (_response: unknown, query: SentQuery) => end(query));
    knex.on('query-error', (_error: unknown, query: SentQuery) => end(query));
  };
  return {
    async around<Result>(sql: string, work: () => Promise<Result>): Promise<Result> {
      if (observers.size === 0) return work();
      const ended = begin(sql);
      return work().finally(ended);
    },
    observe(observer: BeginQuery): Undo {
      if (!isListening) listen();
      isListening = true;
      observers.add(observer);
      return () => void observers.delete(observer);
    },
  };
}

/** The members that notify other processes, listen to them, or keep them away. */
function composeNotifications(
  { dialect, transactions: { knex }, log, clock }: Parts,
  restoreTables: Database['restore'],
): Pick<Database, 'restore' | 'notify' | 'listen' | 'hold' | 'countHolders' | 'close'> {
  const self = randomUUID();
  const notifications = createNotifications({ log, clock });
  const notifier = dialect.createNotifier(notifications);
  const whenRestored = (sender: string): void => {
    if (sender !== self) notifications.gap();
  };
  return {
    async restore(file, onTable) {
      const report = await restoreTables(file, onTable);
      await notifier.send(knex, restoredChannel, self);
      notifications.gap();
      return report;
    },
    async notify(channel, payload) {
      assertChannel(channel);
      await notifier.send(knex, channel, payload);
    },
    async listen(channel, callback, onGap) {
      assertChannel(channel);
      const undoRestored = await notifications.listen(notifier, restoredChannel, {
        callback: whenRestored,
        onGap: undefined,
      });
      const undo = await notifications.listen(notifier, channel, { callback, onGap });
      return () => {
        undo();
        undoRestored();
      };
    },
    hold: (name, mode) => notifier.hold(name, mode),
    countHolders: (name) => notifier.countHolders(name),
    async close() {
      notifications.stop();
      await notifier.close();
      await dialect.close();
    },
  };
}

interface Listener {
  readonly callback: NotificationCallback;
  readonly onGap: GapCallback | undefined;
}

interface Notifications extends NotifierEvents {
  listen(notifier: Notifier, channel: string, listener: Listener): Promise<Undo>;
  stop(): void;
}

/**
 * Dispatches received notifications to listeners. A listener that throws is logged; the others still run. While none arrive,
 * everything derived from the database is dropped again and again, because statements may still reach it.
 */
function createNotifications({ log, clock }: Pick<Parts, 'log' | 'clock'>): Notifications {
  const channels = new Map<string, { readonly listeners: Set<Listener>; readonly ready: Promise<void> }>();

  function runSafely(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      log.error('Listener of database notifications failed', { event: 'notification_listener_failed', error });
    }
  }

  const gap = (): void => {
    for (const { listeners } of channels.values())
      for (const { onGap } of listeners) if (onGap !== undefined) runSafely(onGap);
  };
  let stopDropping: Undo | undefined;
  const stop = (): void => {
    stopDropping?.();
    stopDropping = undefined;
  };

  return {
    received(channel, payload) {
      for (const listener of channels.get(channel)?.listeners ?? [])
        runSafely(() => {
          listener.callback(payload);
        });
    },
    gap,
    lost: () => void (stopDropping ??= clock.every(believedFor, gap)),
    found() {
      if (stopDropping !== undefined) gap();
      stop();
    },
    stop,
    async listen(notifier, channel, listener) {
      const entry = channels.get(channel) ?? { listeners: new Set<Listener>(), ready: notifier.subscribe(channel) };
      channels.set(channel, entry);
      entry.listeners.add(listener);
      try {
        await entry.ready;
      } catch (error) {
        channels.delete(channel);
        throw error;
      }
      return () => {
        if (!entry.listeners.delete(listener) || entry.listeners.size > 0) return;
        channels.delete(channel);
        notifier.unsubscribe(channel).catch((error: unknown) => {
          log.warn('Failed to stop listening to a database channel', { event: 'unlisten_failed', channel, error });
        });
      };
    },
  };
}

function assertChannel(channel: string): void {
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(channel)) {
    throw new Error(
      `'${channel}' is not a valid channel; use up to 63 lower-case letters, digits and '_', starting with a letter.` +
        (channel.includes('-') ? ` Write '_' for each '-' of a plugin's slug.` : ''),
    );
  }
}
