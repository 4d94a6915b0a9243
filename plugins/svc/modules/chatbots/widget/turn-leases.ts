import { randomUUID } from 'node:crypto';
import type { HostApi, Undo } from '#plugin-api';
import type { Limits, Reservation } from './limits.ts';
import { widgetTables } from './widget-tables.ts';

export interface Lease {
  /** UUID of the conversation. */
  readonly conversation: string;
  readonly messageId: string;
  /** Of this claim alone: who took over has another. */
  readonly token: string;
}

export type Claim =
  { readonly kind: 'claimed'; readonly lease: Lease } | { readonly kind: 'running'; readonly messageId: string };

/** Which node answers which message. One answer at a time for each conversation, over all nodes. */
export interface TurnLeases {
  /** In the running transaction. A lease that ran out is taken over, and what it had reserved is given back. */
  claim(conversation: string, messageId: string): Promise<Claim>;
  /** What was reserved, so that it can be given back if this node dies. */
  note(lease: Lease, reserved: Reservation | null): Promise<void>;
  /** Holds it for another while. Answers whether the visitor stopped it, or null when it is lost. */
  extend(lease: Lease): Promise<{ readonly stopped: boolean } | null>;
  /** Gives it up, in the running transaction. False: it was lost, and what was made under it does not count. */
  release(lease: Lease): Promise<boolean>;
  running(conversation: string): Promise<{ readonly messageId: string } | null>;
  /** Asks the node that answers to stop. Answers whether there was one. */
  stop(conversation: string, messageId: string): Promise<boolean>;
  /** Hears of stops and ends on other nodes. */
  listen(listener: (news: TurnNews) => void): Promise<Undo>;
  /** Gives back what nodes that died had reserved. */
  sweep(): Promise<void>;
}

export interface TurnNews {
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
  /** SQLite says 1 and 0. */
  readonly is_held: boolean | number;
}

/** Milliseconds a node may be silent before another takes over. */
export const leaseTime = 30_000;
/** Milliseconds between two signs of life. */
export const leaseBeat = 10_000;

const channel = 'svc_widget_turns';

export function createTurnLeases({
  host,
  limits,
}: {
  readonly host: Pick<HostApi, 'database'>;
  readonly limits: Pick<Limits, 'settle'>;
}): TurnLeases {
  const { database } = host;
  const turns = () => database.knex(widgetTables.turns);
  const until = () => database.knex.raw('? + ?', [database.now(), leaseTime]) as unknown as number;
  const withState = () => turns().select('*', database.knex.raw('(?? > ?) as is_held', ['until', database.now()]));
  const tell = (news: TurnNews): Promise<void> => database.notify(channel, JSON.stringify(news));

  const giveBack = (row: Row): Promise<void> => giveBackReserved(limits, row);

  return {
    async claim(conversation, messageId) {
      const lease = { conversation, messageId, token: randomUUID() };
      const row = { message_id: messageId, token: lease.token, until: until(), stopped: 0, reserved: 'null' };
      for (;;) {
        const inserted = (await turns()
          .insert({ conversation, ...row })
          .onConflict('conversation')
          .ignore()
          .returning('conversation')) as unknown[];
        if (inserted.length > 0) return { kind: 'claimed', lease };
        const query = withState().where({ conversation }).first();
        const held = (await (database.dialect === 'postgresql' ? query.forUpdate() : query)) as Row | undefined;
        // Its answer ended between the two statements: the conversation is free now.
        if (held === undefined) continue;
        if (held.is_held) return { kind: 'running', messageId: held.message_id };
        await giveBack(held);
        await turns().where({ conversation }).update(row);
        return { kind: 'claimed', lease };
      }
    },
    async note({ conversation, token }, reserved) {
      if (reserved !== null)
        await turns()
          .where({ conversation, token })
          .update({ reserved: JSON.stringify(reserved) });
    },
    async extend({ conversation, token }) {
      const [row] = (await turns()
        .where({ conversation, token })
        .update({ until: until() })
        .returning('stopped')) as Pick<Row, 'stopped'>[];
      return row === undefined ? null : { stopped: row.stopped === 1 };
    },
    async release({ conversation, messageId, token }) {
      if ((await turns().where({ conversation, token }).delete()) === 0) return false;
      await tell({ kind: 'end', conversation, messageId });
      return true;
    },
    async running(conversation) {
      const row = (await withState().where({ conversation }).first()) as Row | undefined;
      return row?.is_held ? { messageId: row.message_id } : null;
    },
    async stop(conversation, messageId) {
      if ((await turns().where({ conversation, message_id: messageId }).update({ stopped: 1 })) === 0) return false;
      await tell({ kind: 'stop', conversation, messageId });
      return true;
    },
    listen: (listener) =>
      database.listen(channel, (payload) => {
        listener(JSON.parse(payload) as TurnNews);
      }),
    async sweep() {
      await database.transaction(async () => {
        const dead = (await turns().where(
          'until',
          '<',
          database.knex.raw('? - ?', [database.now(), leaseTime]),
        )) as Row[];
        for (const row of dead) {
          // Whoever takes one over meanwhile gives back what it had.
          if ((await turns().where({ conversation: row.conversation, token: row.token }).delete()) > 0)
            await giveBack(row);
        }
      });
    },
  };
}

async function giveBackReserved(limits: Pick<Limits, 'settle'>, { reserved }: Pick<Row, 'reserved'>): Promise<void> {
  const reservation = JSON.parse(reserved) as Reservation | null;
  if (reservation !== null) await limits.settle(reservation, 0);
}
