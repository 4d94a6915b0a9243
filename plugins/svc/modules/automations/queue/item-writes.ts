import type { HostApi } from '#plugin-api';
import { taskTables } from '../tables.ts';
import { toQueued, type QueuedItem } from './item.ts';

/** The result of the last attempt. */
export interface Outcome {
  readonly state: 'completed' | 'failed' | 'cancelled';
  readonly message: string;
  readonly postId: number | null;
  readonly ai: { readonly provider: string; readonly model: string } | null;
}

/** What the job of an item writes about it. Items that were cancelled or deleted meanwhile stay so. */
export interface ItemWrites {
  /** Begins an attempt. Null if the item does not wait for one, or a later attempt has begun. @param attempt of the job */
  begin(id: number, attempt: number): Promise<QueuedItem | null>;
  /** Finishes the item, in the transaction that ends its job. @param attempts of the job. Null if it is not open. */
  finish(
    id: number,
    attempts: number,
    outcome: Outcome & { readonly seenModified?: number | undefined },
  ): Promise<QueuedItem | null>;
  /** The next attempt comes after `wait` milliseconds. @param attempts of the job */
  postpone(id: number, attempts: number, next: { readonly message: string; readonly wait: number }): Promise<void>;
  /** The item waits without a job: its task is paused, or its task type unavailable. Later attempts count from here. */
  park(id: number): Promise<void>;
}

export function createItemWrites({ database, clock }: Pick<HostApi, 'database' | 'clock'>): ItemWrites {
  const { knex } = database;
  const open = (id: number) => knex(taskTables.items).where({ id }).whereIn('state', ['pending', 'processing']);
  const count = (attempts: number) => knex.raw('tries_from + ?', [attempts]);

  return {
    async begin(id, attempt) {
      const changes = {
        state: 'processing',
        attempts: count(attempt),
        due_at: null,
        started_at: knex.raw('coalesce(started_at, ?)', [clock.now()]),
      };
      const [row] = (await open(id)
        .whereRaw('attempts <= tries_from + ?', [attempt])
        .update(changes as never)
        .returning('*')) as object[];
      return row === undefined ? null : toQueued(row);
    },
    async finish(id, attempts, { state, message, postId, ai, seenModified }) {
      const changes = {
        state,
        message,
        post_id: postId,
        ai_provider: ai?.provider.slice(0, 100) ?? null,
        ai_model: ai?.model.slice(0, 200) ?? null,
        attempts: count(attempts),
        due_at: null,
        finished_at: clock.now(),
        ...(seenModified !== undefined && { seen_modified: seenModified }),
      };
      const [row] = (await open(id)
        .update(changes as never)
        .returning('*')) as object[];
      return row === undefined ? null : toQueued(row);
    },
    async postpone(id, attempts, { message, wait }) {
      const due = knex.raw('? + ?', [database.now(), wait]);
      const changes = { state: 'pending', message, attempts: count(attempts), due_at: wait === 0 ? null : due };
      await open(id).update(changes as never);
    },
    async park(id) {
      await open(id).update({ state: 'pending', tries_from: knex.ref('attempts'), due_at: null } as never);
    },
  };
}
