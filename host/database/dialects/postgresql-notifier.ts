import type { Client } from 'pg';
import type { Clock, Logger, Undo } from '#plugin-api';
import type { Notifier, NotifierEvents } from './dialect.ts';

/** PostgreSQL refuses payloads of 8,000 bytes and more. */
const maxPayload = 7_999;
const firstDelay = 100;
const longestDelay = 5_000;
/** Interval for detecting a dead connection, in milliseconds. */
const probeInterval = 30_000;

export interface PostgresqlNotifierDependencies extends NotifierEvents {
  readonly clock: Clock;
  readonly log: Logger;
  /** Creates a client that is not connected yet. */
  readonly connect: () => Client;
}

/**
 * LISTEN on a dedicated connection, opened with the first subscription. After a reconnect, `gap` signals that
 * notifications may have been lost.
 */
export function createPostgresqlNotifier(dependencies: PostgresqlNotifierDependencies): Notifier {
  const { clock, log, gap } = dependencies;
  const channels = new Set<string>();
  let connecting: Promise<Client> | null = null;
  let closed = false;
  let undoRetry: Undo | null = null;

  const open = (): Promise<Client> =>
    openListener(dependencies, channels, () => {
      connecting = null;
      if (!closed && channels.size > 0) reconnect(firstDelay);
    });

  function reconnect(delay: number): void {
    undoRetry = clock.after(delay, () => {
      if (closed || channels.size === 0 || connecting !== null) return;
      connecting = open();
      connecting.then(gap, (error: unknown) => {
        connecting = null;
        log.warn('Listening to the database failed; retrying', {
          event: 'listen_failed',
          error: (error as Error).message,
        });
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
      const client = await (connecting ??= open());
      await runInOrder(client, `LISTEN ${client.escapeIdentifier(channel)}`);
    },
    async unsubscribe(channel) {
      channels.delete(channel);
      const client = await connecting?.catch(() => null);
      if (client) await runInOrder(client, `UNLISTEN ${client.escapeIdentifier(channel)}`).catch(() => {});
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

/** Runs statements one at a time: the driver rejects concurrent ones. */
function runInOrder(client: Client, sql: string): Promise<unknown> {
  const statement = (queues.get(client) ?? Promise.resolve()).then(() => client.query(sql));
  queues.set(
    client,
    statement.catch(() => {}),
  );
  return statement;
}

/** @param whenLost runs once when an open connection breaks, not when opening fails. */
async function openListener(
  { clock, connect, received }: PostgresqlNotifierDependencies,
  channels: ReadonlySet<string>,
  whenLost: () => void,
): Promise<Client> {
  const client = connect();
  let state: 'opening' | 'open' | 'lost' = 'opening';
  const lose = (): void => {
    const wasOpen = state === 'open';
    if (state === 'lost') return;
    state = 'lost';
    stopProbing();
    client.end().catch(() => {});
    if (wasOpen) whenLost();
  };
  const stopProbing = clock.every(probeInterval, () => {
    runInOrder(client, 'SELECT 1').catch(lose);
  });
  client.on('error', lose);
  client.on('end', lose);
  client.on('notification', (message) => {
    received(message.channel, message.payload ?? '');
  });
  try {
    await client.connect();
    for (const channel of channels) await runInOrder(client, `LISTEN ${client.escapeIdentifier(channel)}`);
    state = 'open';
    return client;
  } catch (error) {
    lose();
    throw error;
  }
}
