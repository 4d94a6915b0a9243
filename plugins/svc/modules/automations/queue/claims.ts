import type { HostApi, Knex } from '#plugin-api';
import { taskTables } from '../tables.ts';
import type { ClaimedItem } from './item.ts';
import { toClaimed, type ItemRow } from './item.ts';

/** Time without a heartbeat after which other nodes may claim an item, in milliseconds. */
export const leaseDuration = 30_000;
/** Milliseconds between two lease renewals. */
export const heartbeatInterval = 8_000;

/** The result of the last attempt. */
export interface Outcome {
  readonly state: 'completed' | 'failed';
  readonly message: string;
  readonly postId: number | null;
  readonly ai: { readonly provider: string; readonly model: string } | null;
}

/** The queue for workers: claims with leases on the database's clock, and fencing tokens. */
export interface Claims {
  /** Claims a due item of an active task of these types, in round-robin order after the task `last`. Null if none is due. */
  claim(types: readonly string[], last: number): Promise<ClaimedItem | null>;
  /** Milliseconds until the next item is due or a lease expires; null if there is neither. */
  nextDue(types: readonly string[]): Promise<number | null>;
  /** Renews the leases. Returns the ids of the items that are still held. */
  renew(held: readonly ClaimedItem[]): Promise<ReadonlySet<number>>;
  /** Finishes the item, in the running transaction. Returns false if the lease is lost. */
  complete(item: ClaimedItem, outcome: Outcome): Promise<boolean>;
  /** Adds to the result of an item that the same transaction completed. */
  amend(
    item: ClaimedItem,
    changes: { readonly message?: string; readonly postId?: number | null; readonly seenModified?: number },
  ): Promise<void>;
  /** Makes the item due again later. @param wait milliseconds */
  postpone(item: ClaimedItem, wait: number, message: string): Promise<boolean>;
  /** Returns the item to the queue without counting the attempt. */
  release(item: ClaimedItem): Promise<boolean>;
}

export function createClaims({ database, clock }: Pick<HostApi, 'database' | 'clock'>, owner: string): Claims {
  const { knex } = database;
  const items = () => knex(taskTables.items);
  const later = (milliseconds: number): number =>
    knex.raw('? + ?', [database.now(), milliseconds]) as unknown as number;
  const held = ({ id, token }: ClaimedItem) => items().where({ id, token, state: 'processing' });

  /** Retries and expired leases come before new items. Two index seeks; the second only if the first finds nothing. */
  async function claimFromTask(taskId: number): Promise<ItemRow | undefined> {
    const late = items()
      .select('id')
      .where({ task_id: taskId })
      .where('due_at', '>', 0)
      .where('due_at', '<=', database.now() as never)
      .orderBy(['due_at', 'id'])
      .limit(1);
    const fresh = items().select('id').where({ task_id: taskId, due_at: 0 }).orderBy('id').limit(1);
    return (await claimRow(late)) ?? (await claimRow(fresh));
  }

  async function claimRow(picked: Knex.QueryBuilder): Promise<ItemRow | undefined> {
    if (database.dialect === 'postgresql') void picked.forUpdate().skipLocked();
    const plusOne = (column: string): number => knex.raw('?? + 1', [column]) as unknown as number;
    const started = knex.raw('coalesce(??, ?)', ['started_at', clock.now()]) as unknown as number;
    const [row] = (await items()
      .where('id', '=', picked as never)
      .update({
        state: 'processing',
        owner,
        due_at: later(leaseDuration),
        token: plusOne('token'),
        attempts: plusOne('attempts'),
        started_at: started,
      })
      .returning('*')) as ItemRow[];
    return row;
  }

  const tasksWithDue = (types: readonly string[]) => {
    const due = items()
      .select(knex.raw('1'))
      .where('task_id', knex.ref(`${taskTables.tasks}.id`))
      .where('due_at', '<=', database.now() as never);
    return knex(taskTables.tasks)
      .where({ status: 'active' })
      .whereIn('type', [...types])
      .whereExists(due);
  };

  return {
    async claim(types, last) {
      const ids = (await tasksWithDue(types)
        .orderByRaw('case when id > ? then 0 else 1 end, id', [last])
        .pluck('id')) as number[];
      for (const id of ids) {
        const row = await claimFromTask(id);
        if (row !== undefined) return toClaimed(row);
      }
      return null;
    },
    async nextDue(types) {
      const active = knex(taskTables.tasks)
        .select('id')
        .where({ status: 'active' })
        .whereIn('type', [...types]);
      const [row] = (await items()
        .whereIn('task_id', active)
        .whereNotNull('due_at')
        .select(knex.raw('min(due_at) - ? as wait', [database.now()]))) as { readonly wait: number | string | null }[];
      return row?.wait === null || row === undefined ? null : Math.max(0, Number(row.wait));
    },
    async renew(claimed) {
      const ids = claimed.map(({ id }) => id);
      const rows = (await items()
        .whereIn('id', ids)
        .where({ owner, state: 'processing' })
        .update({ due_at: later(leaseDuration) })
        .returning(['id', 'token'])) as { readonly id: number; readonly token: number }[];
      const tokens = new Map(rows.map(({ id, token }) => [id, token]));
      return new Set(claimed.filter(({ id, token }) => tokens.get(id) === token).map(({ id }) => id));
    },
    async complete(item, { state, message, postId, ai }) {
      const changes = {
        state,
        message,
        post_id: postId,
        ai_provider: ai?.provider.slice(0, 100) ?? null,
        ai_model: ai?.model.slice(0, 200) ?? null,
        attempts: item.attempts,
        due_at: null,
        owner: null,
        finished_at: clock.now(),
      };
      return (await held(item).update(changes)) > 0;
    },
    async amend({ id }, { message, postId, seenModified }) {
      const changes = {
        ...(message !== undefined && { message }),
        ...(postId !== undefined && { post_id: postId }),
        ...(seenModified !== undefined && { seen_modified: seenModified }),
      };
      if (Object.keys(changes).length > 0) await items().where({ id }).update(changes);
    },
    postpone: async (item, wait, message) =>
      (await held(item).update({ state: 'pending', message, due_at: later(wait), owner: null })) > 0,
    release: async (item) =>
      (await held(item).update({ state: 'pending', due_at: 0, attempts: item.attempts - 1, owner: null })) > 0,
  };
}
