import type { HostApi } from '#plugin-api';
import { contentTableNames } from '../content-tables.ts';

const day = 86_400_000;
/** Batches that were looked over and never begun. */
const draftDays = 2;
/** Everything else; posts stay. */
export const keptDays = 180;

/** Forgets batches that nobody began and texts that are old. May run on several nodes at once. */
export async function sweepRuns({ database, clock }: Pick<HostApi, 'database' | 'clock'>): Promise<void> {
  const { knex } = database;
  const { batches, items } = contentTableNames;
  const now = clock.now();
  const busy = knex(items).distinct('batch_id').whereIn('status', ['pending', 'processing']).whereNotNull('batch_id');
  await database.transaction(async () => {
    const old = (await knex(batches)
      .select('id')
      .where({ status: 'draft' })
      .where('updated_at', '<', now - draftDays * day)
      .union([
        knex(batches)
          .select('id')
          .where('updated_at', '<', now - keptDays * day)
          .whereNotIn('id', busy),
      ])) as { readonly id: number }[];
    const ids = old.map(({ id }) => id);
    if (ids.length > 0) {
      await knex(items).whereIn('batch_id', ids).delete();
      await knex(batches).whereIn('id', ids).delete();
    }
    await knex(items)
      .whereNull('batch_id')
      .where('updated_at', '<', now - keptDays * day)
      .delete();
  });
}
