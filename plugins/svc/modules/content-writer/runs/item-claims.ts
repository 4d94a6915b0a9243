import { randomUUID } from 'node:crypto';
import type { HostApi, Knex } from '#plugin-api';
import { contentTableNames } from '../content-tables.ts';
import type { ContentDraft } from '../write/draft.ts';
import { toClaimed, draftColumns, type ItemRow } from './item.ts';
import type { Claimed } from './item.ts';

/** Time without a renewal after which other processes may claim an item, in milliseconds. */
export const leaseDuration = 60_000;
/** Milliseconds between two lease renewals. */
export const heartbeatInterval = 15_000;

/** Claims of batch items, over all nodes. Writes under a lost lease have no effect. */
export interface ItemClaims {
  /** Claims due items and items with an expired lease. */
  claim(limit: number): Promise<readonly Claimed[]>;
  /** Renews the lease. False if it is lost or the item was cancelled. */
  renew(item: Claimed): Promise<boolean>;
  /** Stores the sections written so far. False if the lease is lost. */
  saveDraft(item: Claimed, draft: ContentDraft): Promise<boolean>;
  /** Completes the item. Call it first in the transaction that creates the post; false if the lease is lost. */
  complete(item: Claimed, draft: ContentDraft): Promise<boolean>;
  /** Adds the result, in the same transaction. */
  amend(item: Claimed, result: { readonly postId: number | null; readonly message: string }): Promise<void>;
  fail(item: Claimed, message: string): Promise<void>;
  /** Makes the item due after `wait` milliseconds. `counted`: the attempt counts. */
  postpone(item: Claimed, wait: number, again: { readonly message: string; readonly counted: boolean }): Promise<void>;
  /** Milliseconds until the next item is due, on the database's clock; null if there is none. */
  nextDue(): Promise<number | null>;
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
    claim: (limit) =>
      database.transaction(async () => {
        const query = items().select('id').where(isDue).orderBy(['position', 'id']).limit(limit);
        const rows = (await (database.dialect === 'postgresql' ? query.forUpdate().skipLocked() : query)) as {
          readonly id: number;
        }[];
        const claimed: Claimed[] = [];
        for (const { id } of rows) {
          const [row] = (await items()
            .where({ id })
            .update({ status: 'processing', lease: randomUUID(), due_at: after(leaseDuration), ...stamp() })
            .increment('attempts', 1)
            .returning('*')) as ItemRow[];
          if (row) claimed.push(toClaimed(row));
        }
        return claimed;
      }),
    renew: async (item) => (await held(item).update({ due_at: after(leaseDuration) })) > 0,
    saveDraft: async (item, draft) =>
      (await held(item).update({ ...draftColumns(draft), due_at: after(leaseDuration), ...stamp() })) > 0,
    complete: async (item, draft) =>
      (await held(item).update({ status: 'completed', lease: null, ...draftColumns(draft), ...stamp() })) > 0,
    async amend({ id }, { postId, message }) {
      await items().where({ id }).update({ post_id: postId, message });
    },
    async fail(item, message) {
      await held(item).update({ status: 'failed', lease: null, message, ...stamp() });
    },
    async postpone(item, wait, { message, counted }) {
      const changed = { status: 'pending', lease: null, message, due_at: after(wait), ...stamp() };
      await (counted ? held(item).update(changed) : held(item).update(changed).decrement('attempts', 1));
    },
    async nextDue() {
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
