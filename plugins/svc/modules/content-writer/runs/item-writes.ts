import type { HostApi } from '#plugin-api';
import { contentTableNames } from '../content-tables.ts';
import type { ContentDraft } from '../write/draft.ts';
import { toItem, draftColumns, type Item, type ItemStatus } from './item.ts';

/** What the job of a text writes about it. Texts that were cancelled or deleted meanwhile stay so. */
export interface ItemWrites {
  /** Marks the text as being written. Null if it does not wait for that. */
  begin(id: number, attempt: number): Promise<Item | null>;
  /** Stores the sections written so far. False if the text was cancelled, or a later attempt writes it. */
  saveDraft(item: Item, draft: ContentDraft): Promise<boolean>;
  /** Call it in the transaction that completes the job. */
  complete(item: Item, draft: ContentDraft, postId: number | null): Promise<boolean>;
  /** The next attempt comes later, or none does. */
  end(id: number, status: 'pending' | 'failed' | 'cancelled', message: string): Promise<void>;
}

export function createItemWrites({ database, clock }: Pick<HostApi, 'database' | 'clock'>): ItemWrites {
  const inStatus = (id: number, ...statuses: readonly ItemStatus[]) =>
    database.knex(contentTableNames.items).where({ id }).whereIn('status', statuses);
  const held = ({ id, attempts }: Item) => inStatus(id, 'processing').where({ attempts });
  const stamp = () => ({ updated_at: clock.now() });

  return {
    async begin(id, attempts) {
      // A failed one if its job runs again.
      const [row] = (await inStatus(id, 'pending', 'processing', 'failed')
        .update({ status: 'processing', attempts, ...stamp() })
        .returning('*')) as object[];
      return row === undefined ? null : toItem(row);
    },
    saveDraft: async (item, draft) => (await held(item).update({ ...draftColumns(draft), ...stamp() })) > 0,
    complete: async (item, draft, postId) =>
      (await held(item).update({
        ...{ status: 'completed', message: '', post_id: postId },
        ...draftColumns(draft),
        ...stamp(),
      })) > 0,
    async end(id, status, message) {
      await inStatus(id, 'pending', 'processing').update({ status, message, ...stamp() });
    },
  };
}
