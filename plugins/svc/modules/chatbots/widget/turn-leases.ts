import { randomUUID } from 'node:crypto';
import type { HostApi, Undo } from '#plugin-api';
import type { Limits, Reservation } from './limits.ts';
import { widgetTables } from './widget-tables.ts';

export interface Lease {
  /** UUID of the conversation. */
  readonly conversation: string;
  readonly messageId: string;
  /** Unique to this claim: a node that takes over has another. */
  readonly token: string;
}

export type Claim =
  { readonly kind: 'claimed'; readonly lease: Lease } | { readonly kind: 'running'; readonly messageId: string };

/** Leases on chat turns: across all nodes, one message of a conversation is answered at a time. */
export interface TurnLeases {
  /** Part of the running transaction. Takes over an expired lease and refunds its reservation. */
  claim(conversation: string, messageId: string): Promise<Claim>;
  /** Stores the reservation with the lease, so that it can be refunded if this node dies. */
  recordReservation(lease: Lease, reserved: Reservation | null): Promise<void>;
  /** Extends the lease. Returns whether the visitor stopped the answer, or null when the lease is lost. */
  renew(lease: Lease): Promise<{ readonly stopped: boolean } | null>;
  /** Part of the running transaction. False: the lease was lost, and the answer must be discarded. */
  release(lease: Lease): Promise<boolean>;
  findRunning(conversation: string): Promise<{ readonly messageId: string } | null>;
  /** Asks the node that is answering to stop. Returns whether the message was being answered. */
  requestStop(conversation: string, messageId: string): Promise<boolean>;
  /** Calls the listener when an answer is stopped or ends on any node. */
  listen(listener: (signal: TurnSignal) => void): Promise<Undo>;
  /** Deletes expired leases and refunds their reservations. */
  sweep(): Promise<void>;
}

export interface TurnSignal {
  readonly kind: 'stop' | 'end';
  readonly conversation: string;
  readonly messageId: string;
}

interface Row {
  readonly conversation: string;
  readonly message_id: string;
  readonly token: string;
  readonly stopped: number;
  readonly reserved: string;
  /** 1 or 0 on SQLite. */
  readonly is_held: boolean | number;
}

/** Milliseconds after which another node may take over a lease that was not renewed. */
export const leaseDuration = 30_000;
/** Milliseconds between two renewals. */
export const heartbeatInterval = 10_000;

const channel = 'svc_widget_turns';

export function createTurnLeases({
  host,
  limits,
}: {
  readonly host: Pick<HostApi, 'database'>;
  readonly limits: Pick<Limits, 'settle'>;
}): TurnLeases {
  const { database } = host;
  const table = () => database.knex(widgetTables.turns);
  const expiry = () => database.knex.raw('? + ?', [database.now(), leaseDuration]) as unknown as number;
  const selectWithState = () =>
    table().select('*', database.knex.raw('(?? > ?) as is_held', ['until', database.now()]));
  const notifyNodes = (signal: TurnSignal): Promise<void> => database.notify(channel, JSON.stringify(signal));

  async function refund({ reserved }: Pick<Row, 'reserved'>): Promise<void> {
    const reservation = JSON.parse(reserved) as Reservation | null;
    if (reservation !== null) await limits.settle(reservation, 0);
  }

  return {
    async claim(conversation, messageId) {
      const lease = { conversation, messageId, token: randomUUID() };
      const row = { message_id: messageId, token: lease.token, until: expiry(), stopped: 0, reserved: 'null' };
      for (;;) {
        const inserted = (await table()
          .insert({ conversation, ...row })
          .onConflict('conversation')
          .ignore()
          .returning('conversation')) as unknown[];
        if (inserted.length > 0) return { kind: 'claimed', lease };
        const query = selectWithState().where({ conversation }).first();
        const held = (await (database.dialect === 'postgresql' ? query.forUpdate() : query)) as Row | undefined;
        // The answer ended between the two statements: try again.
        if (held === undefined) continue;
        if (held.is_held) return { kind: 'running', messageId: held.message_id };
        await refund(held);
        await table().where({ conversation }).update(row);
        return { kind: 'claimed', lease };
      }
    },
    async recordReservation({ conversation, token }, reserved) {
      if (reserved !== null)
        await table()
          .where({ conversation, token })
          .update({ reserved: JSON.stringify(reserved) });
    },
    async renew({ conversation, token }) {
      const [row] = (await table()
        .where({ conversation, token })
        .update({ until: expiry() })
        .returning('stopped')) as Pick<Row, 'stopped'>[];
      return row === undefined ? null : { stopped: row.stopped === 1 };
    },
    async release({ conversation, messageId, token }) {
      if ((await table().where({ conversation, token }).delete()) === 0) return false;
      await notifyNodes({ kind: 'end', conversation, messageId });
      return true;
    },
    async findRunning(conversation) {
      const row = (await selectWithState().where({ conversation }).first()) as Row | undefined;
      return row?.is_held ? { messageId: row.message_id } : null;
    },
    async requestStop(conversation, messageId) {
      if ((await table().where({ conversation, message_id: messageId }).update({ stopped: 1 })) === 0) return false;
      await notifyNodes({ kind: 'stop', conversation, messageId });
      return true;
    },
    listen: (listener) =>
      database.listen(channel, (payload) => {
        listener(JSON.parse(payload) as TurnSignal);
      }),
    async sweep() {
      await database.transaction(async () => {
        const expired = (await table().where(
          'until',
          '<',
          database.knex.raw('? - ?', [database.now(), leaseDuration]),
        )) as Row[];
        for (const row of expired) {
          // A node that took the lease over in the meantime has refunded it.
          if ((await table().where({ conversation: row.conversation, token: row.token }).delete()) > 0)
            await refund(row);
        }
      });
    },
  };
}
