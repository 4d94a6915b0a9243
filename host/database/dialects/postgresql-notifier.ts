import type { Client, QueryResult } from 'pg';
import type { Clock, Logger, Undo } from '#plugin-api';
import type { HoldMode, Notifier, NotifierEvents } from './dialect.ts';

/** PostgreSQL refuses payloads of 8,000 bytes and more. */
const maxPayload = 7_999;
const firstDelay = 100;
const longestDelay = 5_000;
/**
 * Interval of the heartbeat, in milliseconds. A network may drop packets without a word; the server's response follows all
 * notifications sent before it, so one that comes in time means that none was lost.
 */
const heartbeatInterval = 5_000;
/** Milliseconds after which a heartbeat without response means that the connection is dead. Less than the interval. */
const heartbeatLimit = 4_000;

export interface PostgresqlNotifierDependencies extends NotifierEvents {
  readonly clock: Clock;
  readonly log: Logger;
  /** Creates a client that is not connected yet. */
  readonly connect: () => Client;
  /** Rejects for a connection that keeps no session, where notifications would be lost. */
  readonly check: (client: Client) => Promise<void>;
  /** Called when a connection broke, or got no response, and the server does not respond to another one either. */
  readonly whenSilent: () => void;
  /** Number of an advisory lock. */
  readonly lockKey: (name: string) => number;
}

interface Hold {
  readonly key: number;
  readonly mode: HoldMode;
}

/**
 * LISTEN and advisory locks of the session on a dedicated connection, opened with the first of them. After a reconnect, `found`
 * signals that notifications may have been lost.
 */
export function createPostgresqlNotifier(dependencies: PostgresqlNotifierDependencies): Notifier {
  const { clock, log, lost, found, lockKey, whenSilent } = dependencies;
  const channels = new Set<string>();
  const holds = new Set<Hold>();
  let connecting: Promise<Client> | null = null;
  let closed = false;
  let undoRetry: Undo | null = null;

  const isUsed = (): boolean => channels.size + holds.size > 0;
  const open = async (): Promise<Client> => {
    const client = await openListener(dependencies, { channels, holds }, () => {
      connecting = null;
      lost();
      if (!closed && isUsed()) reconnect(firstDelay);
    });
    found();
    return client;
  };
  const openOnce = (): Promise<Client> => {
    const opening = (connecting ??= open());
    opening.catch(() => {
      if (connecting === opening) connecting = null;
    });
    return opening;
  };

  function reconnect(delay: number): void {
    undoRetry = clock.after(delay, () => {
      if (closed || !isUsed() || connecting !== null) return;
      openOnce().catch((error: unknown) => {
        log.warn('Listening to the database failed; retrying', {
          event: 'listen_failed',
          error: (error as Error).message,
        });
        // An error with a severity comes from the server.
        if (!('severity' in (error as Error))) whenSilent();
        reconnect(Math.min(delay * 2, longestDelay));
      });
    });
  }

  return {
    async send(knex, channel, payload) {
      if (Buffer.byteLength(payload) > maxPayload)
        throw new Error(
          `A notification has at most ${maxPayload} bytes; send the name of what changed, not its content.`,
        );
      await knex.raw('SELECT pg_notify(?, ?)', [channel, payload]);
    },
    async subscribe(channel) {
      channels.add(channel);
      const client = await openOnce();
      await runInOrder(client, `LISTEN ${client.escapeIdentifier(channel)}`);
    },
    async unsubscribe(channel) {
      channels.delete(channel);
      const client = await connecting?.catch(() => null);
      if (client) await runInOrder(client, `UNLISTEN ${client.escapeIdentifier(channel)}`).catch(() => {});
    },
    async hold(name, mode) {
      const hold: Hold = { key: lockKey(`hold:${name}`), mode };
      if (!(await take(await openOnce(), hold))) return null;
      holds.add(hold);
      return async () => {
        if (!holds.delete(hold)) return;
        const client = await connecting?.catch(() => null);
        if (client) await runInOrder(client, `SELECT ${lockFunction('pg_advisory_unlock', hold)}`).catch(() => {});
      };
    },
    async countHolders(name) {
      const key = lockKey(`hold:${name}`);
      const [high, low] = [Math.floor(key / 2 ** 32), key % 2 ** 32];
      const { rows } = await runInOrder(
        await openOnce(),
        `SELECT count(DISTINCT pid) AS others FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
          AND classid::bigint = ${high} AND objid::bigint = ${low} AND pid <> pg_backend_pid()
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      );
      return Number(rows[0]?.['others'] ?? 0);
    },
    async close() {
      closed = true;
      undoRetry?.();
      const client = await connecting?.catch(() => null);
      await client?.end();
    },
  };
}

const queues = new WeakMap<Client, Promise<unknown>>();

const lockFunction = (base: string, { key, mode }: Hold): string =>
  `${base}${mode === 'shared' ? '_shared' : ''}(${key})`;

/** Returns whether the lock is held now. */
async function take(client: Client, hold: Hold): Promise<boolean> {
  const { rows } = await runInOrder(client, `SELECT ${lockFunction('pg_try_advisory_lock', hold)} AS held`);
  return rows[0]?.['held'] === true;
}

/** Runs statements one at a time: the driver rejects concurrent ones. */
function runInOrder(client: Client, sql: string): Promise<QueryResult<Record<string, unknown>>> {
  const statement = (queues.get(client) ?? Promise.resolve()).then(() => client.query<Record<string, unknown>>(sql));
  queues.set(
    client,
    statement.catch(() => {}),
  );
  return statement;
}

/** @param whenLost runs once when an open connection breaks, not when opening fails. */
async function openListener(
  { clock, log, connect, check, received }: PostgresqlNotifierDependencies,
  { channels, holds }: { readonly channels: ReadonlySet<string>; readonly holds: ReadonlySet<Hold> },
  whenLost: () => void,
): Promise<Client> {
  const client = connect();
  let state: 'opening' | 'open' | 'lost' = 'opening';
  const lose = (): void => {
    const wasOpen = state === 'open';
    if (state === 'lost') return;
    state = 'lost';
    stopProbing?.();
    client.end().catch(() => {});
    if (wasOpen) whenLost();
  };
  const probe = (): void => {
    let isAwaited = true;
    const stopWaiting = clock.after(heartbeatLimit, () =>
      // What came while this process was busy is read before.
      setImmediate(() => {
        if (isAwaited) lose();
      }),
    );
    runInOrder(client, 'SELECT 1')
      .catch(lose)
      .finally(() => {
        isAwaited = false;
        stopWaiting();
      });
  };
  let stopProbing: Undo | undefined;
  client.on('error', lose);
  client.on('end', lose);
  client.on('notification', (message) => {
    received(message.channel, message.payload ?? '');
  });
  try {
    // Its own time limit ends it: a client that is ended meanwhile settles nothing.
    await client.connect();
    stopProbing = clock.every(heartbeatInterval, probe);
    await check(client);
    for (const channel of channels) await runInOrder(client, `LISTEN ${client.escapeIdentifier(channel)}`);
    for (const hold of holds)
      if (!(await take(client, hold)))
        log.warn('Another process holds what this one held before its connection broke', { event: 'hold_lost' });
    state = 'open';
    return client;
  } catch (error) {
    lose();
    throw error;
  }
}
