import type { HostApi } from '#plugin-api';
import { bodyStates, tables } from './migrations.ts';

const { deliveries, events, attempts } = tables;
const day = 86_400_000;
const failedDays = 7;
const batch = 500;

/**
 * Deletes delivered deliveries after `deliveredDays` and failed ones after seven days (contract 8), in small batches.
 * Returns how many.
 */
export async function sweep({ database }: Pick<HostApi, 'database'>, deliveredDays: number): Promise<number> {
  let removed = 0;
  for (const { state, days } of [
    { state: 'delivered', days: deliveredDays },
    { state: 'failed', days: failedDays },
  ]) {
    for (let found = batch; found === batch;) {
      found = await sweepBatch(database, state, days * day);
      removed += found;
    }
  }
  return removed;
}

/**
 * Deletes temporary bodies of events without open deliveries. Usually the result of the last delivery does it; this covers
 * events whose deliveries all failed before they were queued, and removed endpoints.
 */
export async function deleteTemporaryBodies({ database }: Pick<HostApi, 'database'>): Promise<void> {
  const { knex } = database;
  const ids: number[] = await knex(events)
    .where({ body_state: bodyStates.temporary })
    .whereNotExists(
      knex(deliveries)
        .select(knex.raw('1'))
        .whereRaw('event_id = ??', [`${events}.id`])
        .whereNotNull('due_at'),
    )
    .pluck('id');
  for (let start = 0; start < ids.length; start += batch) {
    const part = ids.slice(start, start + batch);
    await knex(deliveries).whereIn('event_id', part).whereNotNull('body').update({ body: null });
    await knex(events)
      .whereIn('id', part)
      .update({
        body: Buffer.alloc(0),
        context: null,
        body_state: bodyStates.notKept,
        body_deleted_at: database.now(),
      });
  }
}

async function sweepBatch(database: HostApi['database'], state: string, age: number): Promise<number> {
  return database.transaction(async (knex) => {
    // Ids grow with time: ordering by id finds the oldest without another index.
    const rows: { id: number; event_id: number }[] = await knex(deliveries)
      .where({ state })
      .where('finished_at', '<', knex.raw('? - ?', [database.now(), age]))
      .orderBy('id')
      .limit(batch)
      .select('id', 'event_id');
    if (rows.length === 0) return 0;
    const ids = rows.map(({ id }) => id);
    // `state` again: a delivery may have been retried in the meantime.
    await knex(deliveries).whereIn('id', ids).where({ state }).delete();
    await knex(attempts)
      .whereIn('delivery_id', ids)
      .whereNotExists(
        knex(deliveries)
          .select(knex.raw('1'))
          .whereRaw('id = ??', [`${attempts}.delivery_id`]),
      )
      .delete();
    await knex(events)
      .whereIn(
        'id',
        rows.map(({ event_id: id }) => id),
      )
      .whereNotExists(
        knex(deliveries)
          .select(knex.raw('1'))
          .whereRaw('event_id = ??', [`${events}.id`]),
      )
      .delete();
    return rows.length;
  });
}
