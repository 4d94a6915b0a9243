import type { HostApi, Knex } from '#plugin-api';
import { emitPlaced } from './event.ts';

export const states = ['waiting', 'sent'] as const;
export type OrderState = (typeof states)[number];

export interface Order {
  readonly id: number;
  readonly customer: string;
  /** Cents. */
  readonly total: number;
  readonly state: OrderState;
  /** Milliseconds. */
  readonly created_at: number;
  /** Milliseconds. null before it is sent, and for orders that version 1.0 sent. */
  readonly sent_at: number | null;
}

export interface OrderSearch {
  readonly state?: OrderState;
  readonly limit: number;
  readonly offset?: number;
}

/** The plugin's own table. All else goes through it. */
export interface Orders {
  /** Stores an order and its event together: either both are stored, or neither is. */
  add(order: Pick<Order, 'customer' | 'total'>): Promise<Order>;
  get(id: number): Promise<Order | null>;
  /** Newest first. */
  find(search: OrderSearch): Promise<Order[]>;
  count(state?: OrderState): Promise<number>;
  /** @param transaction the one that completes the job. */
  markSent(id: number, transaction: Knex.Transaction): Promise<void>;
}

declare module '#plugin-api' {
  interface SyncFilterMap {
    /** Changes the total of an order, in cents, before it is stored. */
    orders_total: (total: number, customer: string) => number;
  }
}

export function createOrders(host: HostApi): Orders {
  const { database, hooks, clock } = host;
  const table = (state?: OrderState): Knex.QueryBuilder =>
    database.knex('orders_orders').where(state === undefined ? {} : { state });
  return {
    add: ({ customer, total }) =>
      database.transaction(async (transaction) => {
        const row: Omit<Order, 'id'> = {
          customer,
          total: hooks.applyFilters('orders_total', total, customer),
          state: 'waiting',
          created_at: clock.now(),
          sent_at: null,
        };
        const [inserted] = await transaction('orders_orders').insert(row).returning('id');
        const order = { id: Number(inserted.id), ...row };
        await emitPlaced(host, order);
        return order;
      }),
    async get(id) {
      const row = await table().where({ id }).first();
      return row === undefined ? null : toOrder(row);
    },
    async find({ state, limit, offset = 0 }) {
      const rows = await table(state).orderBy('id', 'desc').limit(limit).offset(offset);
      return rows.map(toOrder);
    },
    async count(state) {
      const [row] = await table(state).count({ count: '*' });
      return Number(row?.count ?? 0);
    },
    async markSent(id, transaction) {
      await transaction('orders_orders').where({ id }).update({ state: 'sent', sent_at: clock.now() });
    },
  };
}

/** PostgreSQL returns large integers as text. */
function toOrder({ id, customer, total, state, created_at, sent_at }: Order): Order {
  return {
    id,
    customer,
    total,
    state,
    created_at: Number(created_at),
    sent_at: sent_at === null ? null : Number(sent_at),
  };
}
