import type { HostApi, Knex } from '#plugin-api';
import { taskTables } from '../tables.ts';
import type { ClaimedItem } from './item.ts';
import { toClaimed, type ItemRow } from './item-rows.ts';

/** Milliseconds a node may be silent before another takes its items over. */
export const leaseDuration = 30_000;
/** Milliseconds between two signs of life. */
export const heartbeatInterval = 8_000;

/** What becomes of an item at the end of an attempt. */
export interface Outcome {
  readonly state: 'completed' | 'failed';
  readonly message: string;
  readonly postId: number | null;
  readonly ai: { readonly provider: string; readonly model: string } | null;
}

/** The queue as workers see it: claims with leases on the database's time, fenced by tokens. */
export interface Claims {
  /** Claims an item of an active task of these types; tasks take turns, those after `last` first. Null: nothing is due. */
  claim(types: readonly string[], last: number): Promise<ClaimedItem | null>;
  /** Milliseconds until something falls due, leases of others included; null: nothing waits. */
  nextDue(types: readonly string[]): Promise<number | null>;
  /** Holds items for another while. Answers the ids of those still held. */
  renew(held: readonly ClaimedItem[]): Promise<ReadonlySet<number>>;
  /** Whether it was still held. In the running transaction; from then on nobody else takes it. */
  complete(item: ClaimedItem, outcome: Outcome): Promise<boolean>;
  /** Tells more of an item that this transaction finished. */
  amend(
    item: ClaimedItem,
    changes: { readonly message?: string; readonly postId?: number | null; readonly seenModified?: number },
  ): Promise<void>;
  /** To be tried again. @param wait milliseconds */
  postpone(item: ClaimedItem, wait: number, message: string): Promise<boolean>;
  /** Gives an item back as if it had not been begun. */
  release(item: ClaimedItem): Promise<boolean>;
}

export function createClaims({ database, clock }: Pick<HostApi, 'database' | 'clock'>, owner: string): Claims {
  const { knex } = database;
  const items = () => knex(taskTables.items);
  const later = (milliseconds: number): number =>
    knex.raw('? + ?', [database.now(), milliseconds]) as unknown as number;
  const held = ({ id, token }: ClaimedItem) => items().where({ id, token, state: 'processing' });

  /** What was put off, or whose lease ran out, is older than what is due at once. Two seeks, the second only where the first finds nothing. */
  async function claimOf(taskId: number): Promise<ItemRow | undefined> {
    const late = items()
      .select('id')
      .where({ task_id: taskId })
      .where('due_at', '>', 0)
      .where('due_at', '<=', database.now() as never)
      .orderBy(['due_at', 'id'])
      .limit(1);
    const fresh = items().select('id').where({ task_id: taskId, due_at: 0 }).orderBy('id').limit(1);
    return (await take(late)) ?? (await take(fresh));
  }

  async function take(picked: Knex.QueryBuilder): Promise<ItemRow | undefined> {
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
        const row = await claimOf(id);
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
