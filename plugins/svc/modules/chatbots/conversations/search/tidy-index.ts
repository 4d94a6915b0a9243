import { segmentStates, tables } from '../conversation-tables.ts';
import { yieldToEventLoop } from './segment-store.ts';
import type { IndexDatabase } from './segment-store.ts';

/** Milliseconds after which no search reads a replaced segment any more. */
const replacedSegmentLifetime = 60_000;
/** Milliseconds after which an unfinished segment belongs to a process that was killed. */
const longestBuild = 3_600_000;
/** Milliseconds. A process that paused longer reads the whole catalogue again. */
export const tombstoneLifetime = 24 * 3_600_000;
const rowsAtOnce = 2000;

/** Removes unused segments, terms and tombstones, in small steps. */
export async function tidyIndex(database: IndexDatabase): Promise<void> {
  const { knex } = database;
  const before = (age: number) => knex.raw('? - ?', [database.now(), age]);
  const gone = (await knex(tables.segments)
    .where((either) => {
      void either.where('state', segmentStates.dropped).where('changed_at', '<', before(replacedSegmentLifetime));
      void either.orWhere(
        (building) =>
          void building.where('state', segmentStates.building).where('changed_at', '<', before(longestBuild)),
      );
    })
    .pluck('id')) as number[];
  for (const id of gone) {
    await deletePostings(database, id);
    await knex(tables.segments).where({ id }).delete();
  }
  const oldest = (await knex(tables.segments).min({ id: 'id' }).first()) as { id: number | null } | undefined;
  await knex(tables.indexTombstones)
    .where('segment_id', '<', oldest?.id ?? 2 ** 31 - 1)
    .delete();
  await knex(tables.tombstones).where('removed_at', '<', before(tombstoneLifetime)).delete();
  if (gone.length > 0) await sweepTerms(database);
}

async function deletePostings({ knex }: IndexDatabase, segmentId: number): Promise<void> {
  for (;;) {
    const terms = (await knex(tables.postings)
      .where({ segment_id: segmentId })
      .orderBy('term_id')
      .limit(rowsAtOnce)
      .pluck('term_id')) as number[];
    if (terms.length === 0) return;
    // Positions first: they are found by the texts.
    for (const table of [tables.positions, tables.postings])
      await knex(table).where({ segment_id: segmentId }).whereIn('term_id', terms).delete();
    await yieldToEventLoop();
  }
}

/** Removes unused terms, so that words of deleted messages do not stay. */
async function sweepTerms({ knex }: IndexDatabase): Promise<void> {
  const building = (await knex(tables.segments).where({ state: segmentStates.building }).first('id')) !== undefined;
  if (building) return;
  for (let after = 0; ;) {
    const ids = (await knex(tables.terms)
      .where('id', '>', after)
      .orderBy('id')
      .limit(rowsAtOnce)
      .pluck('id')) as number[];
    const last = ids.at(-1);
    if (last === undefined) return;
    const used = knex(tables.postings)
      .whereRaw('?? = ??', [`${tables.postings}.term_id`, `${tables.terms}.id`])
      .select(knex.raw('1'));
    await knex(tables.terms).where('id', '>', after).where('id', '<=', last).whereNotExists(used).delete();
    after = last;
    await yieldToEventLoop();
  }
}
