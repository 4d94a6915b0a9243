import type { Client } from 'pg';
import type { Clock, Logger, Undo } from '#plugin-api';
import type { Notifier, NotifierEvents } from './dialect.ts';

/** PostgreSQL refuses payloads of 8,000 bytes and more. */
const maxPayload = 7_999;
const firstDelay = 100;
const longestDelay = 5_000;
/** A connection that died without a word is noticed after this time, in milliseconds. */
const probeInterval = 30_000;

export interface PostgresqlNotifierDependencies extends NotifierEvents {
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a client that is not connected yet. */
  readonly connect: () => Client;
}

/**
 * LISTEN on a connection of its own, opened with the first subscription. When it breaks it is opened again, and `gap`
 * tells that notifications may have been lost meanwhile.
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
        log.warn('Listening to the database failed; trying again.', { error: (error as Error).message });
        reconnect(Math.min(delay * 2, longestDelay));
      });
    });
  }

  return {
    async send(knex, channel, payload) {
      if (Buffer.byteLength(payload) > maxPayload)
        throw new Error(
          `A notification holds at most ${maxPayload} bytes; send the name of what changed, not its content.`,
        );
      await knex.raw('SELECT pg_notify(?, ?)', [channel, payload]);
    },
    async subscribe(channel) {
      channels.add(channel);
      const client = await (connecting ??= open());
      await inTurn(client, `LISTEN ${client.escapeIdentifier(channel)}`);
    },
    async unsubscribe(channel) {
      channels.delete(channel);
      const client = await connecting?.catch(() => null);
      if (client) await inTurn(client, `UNLISTEN ${client.escapeIdentifier(channel)}`).catch(() => {});
    },
    async close() {
      closed = true;
      undoRetry?.();
      const client = await connecting?.catch(() => null);
      await client?.end();
    },
  };
}

const turns = new WeakMap<Client, Promise<unknown>>();

/** One statement after the other: the driver takes a second one meanwhile for a mistake. */
function inTurn(client: Client, sql: string): Promise<unknown> {
  const turn = (turns.get(client) ?? Promise.resolve()).then(() => client.query(sql));
  turns.set(
    client,
    turn.catch(() => {}),
  );
  return turn;
}

/** @param whenLost runs once when the connection breaks after it stood, not when it could not be opened. */
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
    inTurn(client, 'SELECT 1').catch(lose);
  });
  client.on('error', lose);
  client.on('end', lose);
  client.on('notification', (message) => {
    received(message.channel, message.payload ?? '');
  });
  try {
    await client.connect();
    for (const channel of channels) await inTurn(client, `LISTEN ${client.escapeIdentifier(channel)}`);
    state = 'open';
    return client;
  } catch (error) {
    lose();
    throw error;
  }
}
