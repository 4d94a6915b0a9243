import { randomUUID } from 'node:crypto';
import type BetterSqlite from 'better-sqlite3';
import type { Clock, Logger, Undo } from '#plugin-api';
import type { Notifier, NotifierEvents } from './dialect.ts';

/** Another process's change is seen after this many milliseconds at most. */
const pollInterval = 200;
/** Rows kept: a reader further behind is told that it missed some. */
const keptRows = 250;

interface NotificationRow {
  readonly id: number;
  readonly sender: string;
  readonly channel: string;
  readonly payload: string;
}

export interface SqliteNotifierDependencies extends NotifierEvents {
  readonly clock: Clock;
  readonly log: Logger;
  readonly connection: () => BetterSqlite.Database;
  /** Runs the callback at once, or after the commit of the running transaction. */
  readonly afterCommit: (callback: () => void) => void;
}

/** The table is the database's own: it is not part of any plugin's migrations, nor of a backup. */
export const notificationsTable = 'notifications';

export function createNotificationsTable(connection: BetterSqlite.Database): void {
  const exists = connection
    .prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?")
    .get(notificationsTable);
  if (exists === undefined) {
    connection.exec(
      `CREATE TABLE IF NOT EXISTS ${notificationsTable} (id INTEGER PRIMARY KEY AUTOINCREMENT, sender TEXT NOT NULL, channel TEXT NOT NULL, payload TEXT NOT NULL)`,
    );
  }
}

/**
 * Notifications between the processes that share a SQLite file: rows of a small table, looked for whenever
 * `PRAGMA data_version` (a read of shared memory) says that another connection has written. The own process's are
 * handed on at commit.
 */
export function createSqliteNotifier(dependencies: SqliteNotifierDependencies): Notifier {
  const { clock, log, connection, received, gap, afterCommit } = dependencies;
  const sender = randomUUID();
  const channels = new Set<string>();
  let seenVersion: unknown;
  let seenId = 0;
  let stopPolling: Undo | null = null;

  const lastId = (): number =>
    (connection().prepare(`SELECT MAX(id) AS id FROM ${notificationsTable}`).get() as { id: number | null }).id ?? 0;

  function poll(): void {
    // Inside a transaction of this process nobody else writes, and our own rows may yet be rolled back.
    if (connection().inTransaction) return;
    const version = connection().pragma('data_version', { simple: true });
    if (version === seenVersion) return;
    seenVersion = version;
    const rows = connection()
      .prepare(`SELECT * FROM ${notificationsTable} WHERE id > ? ORDER BY id`)
      .all(seenId) as NotificationRow[];
    const first = rows[0];
    if (first === undefined) return;
    if (first.id > seenId + 1) gap();
    seenId = rows.at(-1)?.id ?? seenId;
    for (const row of rows) if (row.sender !== sender && channels.has(row.channel)) received(row.channel, row.payload);
  }

  /** A poll that fails (the file is locked for recovery, say) is made up for by the next. */
  function tryPoll(): void {
    try {
      poll();
    } catch (error) {
      seenVersion = undefined;
      log.warn('Changes made by other processes could not be read; trying again.', { error: String(error) });
    }
  }

  return {
    async send(knex, channel, payload) {
      const inserted: unknown[] = await knex(notificationsTable).insert({ sender, channel, payload });
      const id = Number(inserted[0]);
      if (id % keptRows === 0)
        await knex(notificationsTable)
          .where('id', '<=', id - keptRows)
          .delete();
      afterCommit(() => {
        if (channels.has(channel)) received(channel, payload);
      });
    },
    async subscribe(channel) {
      channels.add(channel);
      if (stopPolling !== null) return;
      seenVersion = connection().pragma('data_version', { simple: true });
      seenId = lastId();
      stopPolling = clock.every(pollInterval, tryPoll);
    },
    async unsubscribe(channel) {
      channels.delete(channel);
      if (channels.size === 0) stop();
    },
    async close() {
      stop();
    },
  };

  function stop(): void {
    stopPolling?.();
    stopPolling = null;
  }
}
