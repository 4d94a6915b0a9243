import { randomUUID } from 'node:crypto';
import type BetterSqlite from 'better-sqlite3';
import type { Clock, Logger, Undo } from '#plugin-api';
import type { Notifier, NotifierEvents } from './dialect.ts';

/** Polling interval for other processes' changes, in milliseconds. */
const pollInterval = 200;
/** Maximum rows in the table. A reader further behind gets a gap event. */
const maxRows = 250;

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
  /** Runs the callback at once, or after the commit of the current transaction. */
  readonly afterCommit: (callback: () => void) => void;
}

/** The table is internal: it belongs to no migrations and no backup. */
export const notificationsTable = 'notifications';

export function createNotificationsTable(connection: BetterSqlite.Database): void {
  const exists = connection
    .prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?")
    .get(notificationsTable);
  if (exists === undefined) {
    connection.exec(
      `CREATE TABLE IF NOT EXISTS ${notificationsTable} (
        id INTEGER PRIMARY KEY AUTOINCREMENT, sender TEXT NOT NULL, channel TEXT NOT NULL, payload TEXT NOT NULL)`,
    );
  }
}

/**
 * Notifications between the processes that share a SQLite file: rows of a small table, read whenever
 * `PRAGMA data_version` (a read of shared memory) shows a write by another connection. This process's own notifications
 * are delivered at commit.
 */
export function createSqliteNotifier(
  dependencies: SqliteNotifierDependencies,
): Omit<Notifier, 'hold' | 'countHolders'> {
  const { clock, log, connection, received, gap, lost, found, afterCommit } = dependencies;
  const sender = randomUUID();
  const channels = new Set<string>();
  let seenVersion: unknown;
  let seenId = 0;
  let stopPolling: Undo | null = null;

  const lastId = (): number =>
    (connection().prepare(`SELECT MAX(id) AS id FROM ${notificationsTable}`).get() as { id: number | null }).id ?? 0;

  function poll(): void {
    // During a transaction of this process no one else can write, and its own rows may be rolled back.
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

  /** If a poll fails, such as during recovery of the file, the next one catches up. */
  function tryPoll(): void {
    try {
      poll();
      found();
    } catch (error) {
      seenVersion = undefined;
      lost();
      log.warn('Failed to read changes of other processes; retrying', {
        event: 'notification_poll_failed',
        error: String(error),
      });
    }
  }

  return {
    async send(knex, channel, payload) {
      const inserted: unknown[] = await knex(notificationsTable).insert({ sender, channel, payload });
      const id = Number(inserted[0]);
      if (id % maxRows === 0)
        await knex(notificationsTable)
          .where('id', '<=', id - maxRows)
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
