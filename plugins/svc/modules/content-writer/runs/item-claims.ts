import { randomUUID } from 'node:crypto';
import type { HostApi, Knex } from '#plugin-api';
import { contentTableNames } from '../content-tables.ts';
import type { ContentDraft } from '../write/draft.ts';
import { claimedOf, draftColumns, type ItemRow } from './item-rows.ts';
import type { Claimed } from './item.ts';

/** Milliseconds a process may be silent before another takes over. */
export const leaseTime = 60_000;
/** Milliseconds between two signs of life. */
export const leaseBeat = 15_000;

/** Who works on which item of a batch, over all nodes. Nothing that is written under a lease that was lost counts. */
export interface ItemClaims {
  /** Items that are due, and those whose process fell silent; each is this process's for the time of a lease. */
  claim(most: number): Promise<readonly Claimed[]>;
  /** False: it is lost, or was cancelled. */
  extend(item: Claimed): Promise<boolean>;
  /** Keeps the parts written so far. False: the lease is lost. */
  keep(item: Claimed, draft: ContentDraft): Promise<boolean>;
  /** In the running transaction, before what it makes: takes the item for completed. False: it is lost, and nothing may be made. */
  complete(item: Claimed, draft: ContentDraft): Promise<boolean>;
  /** In the same transaction. */
  describe(item: Claimed, result: { readonly postId: number | null; readonly message: string }): Promise<void>;
  fail(item: Claimed, message: string): Promise<void>;
  /** Tried again after so many milliseconds; `counted`: as another attempt. */
  postpone(item: Claimed, wait: number, again: { readonly message: string; readonly counted: boolean }): Promise<void>;
  /** Milliseconds until the next item is due, by the database's clock; null: there is none. */
  nextIn(): Promise<number | null>;
}

export function createItemClaims({ database, clock }: Pick<HostApi, 'database' | 'clock'>): ItemClaims {
  const items = () => database.knex(contentTableNames.items);
  const after = (milliseconds: number): number =>
    database.knex.raw('? + ?', [database.now(), milliseconds]) as unknown as number;
  const held = ({ id, lease }: Claimed) => items().where({ id, lease, status: 'processing' });
  const stamp = () => ({ updated_at: clock.now() });
  const isDue = (query: Knex.QueryBuilder): void =>
    void query
      .whereIn('status', ['pending', 'processing'])
      .whereNotNull('batch_id')
      .where('due_at', '<=', database.now());

  return {
    claim: (most) =>
      database.transaction(async () => {
        const query = items().select('id').where(isDue).orderBy(['position', 'id']).limit(most);
        const rows = (await (database.dialect === 'postgresql' ? query.forUpdate().skipLocked() : query)) as {
          readonly id: number;
        }[];
        const claimed: Claimed[] = [];
        for (const { id } of rows) {
          const [row] = (await items()
            .where({ id })
            .update({ status: 'processing', lease: randomUUID(), due_at: after(leaseTime), ...stamp() })
            .increment('attempts', 1)
            .returning('*')) as ItemRow[];
          if (row) claimed.push(claimedOf(row));
        }
        return claimed;
      }),
    extend: async (item) => (await held(item).update({ due_at: after(leaseTime) })) > 0,
    keep: async (item, draft) =>
      (await held(item).update({ ...draftColumns(draft), due_at: after(leaseTime), ...stamp() })) > 0,
    complete: async (item, draft) =>
      (await held(item).update({ status: 'completed', lease: null, ...draftColumns(draft), ...stamp() })) > 0,
    async describe({ id }, { postId, message }) {
      await items().where({ id }).update({ post_id: postId, message });
    },
    async fail(item, message) {
      await held(item).update({ status: 'failed', lease: null, message, ...stamp() });
    },
    async postpone(item, wait, { message, counted }) {
      const changed = { status: 'pending', lease: null, message, due_at: after(wait), ...stamp() };
      await (counted ? held(item).update(changed) : held(item).update(changed).decrement('attempts', 1));
    },
    async nextIn() {
      const row = (await items()
        .whereIn('status', ['pending', 'processing'])
        .whereNotNull('batch_id')
        .orderBy('due_at')
        .first(database.knex.raw('due_at - ? as wait', [database.now()]))) as
        { readonly wait: number | string } | undefined;
      return row === undefined ? null : Math.max(0, Number(row.wait));
    },
  };
}
