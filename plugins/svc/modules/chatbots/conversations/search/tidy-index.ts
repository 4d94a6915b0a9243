import { segmentStates, tables } from '../conversation-tables.ts';
import { nextTurn } from './segment-store.ts';
import type { IndexDatabase } from './segment-store.ts';

/** Milliseconds after which no search reads a replaced segment any more. */
const keptAfterReplacement = 60_000;
/** Milliseconds after which a segment that never counted is somebody's who was killed. */
const longestBuild = 3_600_000;
/** Milliseconds that other processes have to hear of a deletion; one that slept longer reads everything anew. */
export const removalsKept = 24 * 3_600_000;
const rowsAtOnce = 2000;

/** Removes what nobody reads any more, in small steps. */
export async function tidyIndex(database: IndexDatabase): Promise<void> {
  const { knex } = database;
  const before = (age: number) => knex.raw('? - ?', [database.now(), age]);
  const gone = (await knex(tables.segments)
    .where((either) => {
      void either.where('state', segmentStates.dropped).where('changed_at', '<', before(keptAfterReplacement));
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
  await knex(tables.dead)
    .where('segment_id', '<', oldest?.id ?? 2 ** 31 - 1)
    .delete();
  await knex(tables.removals).where('removed_at', '<', before(removalsKept)).delete();
  if (gone.length > 0) await sweepTerms(database);
}

async function deletePostings({ knex }: IndexDatabase, segmentId: number): Promise<void> {
  for (;;) {
    const terms = (await knex(tables.texts)
      .where({ segment_id: segmentId })
      .orderBy('term_id')
      .limit(rowsAtOnce)
      .pluck('term_id')) as number[];
    if (terms.length === 0) return;
    // Places first: they are found by the texts.
    for (const table of [tables.places, tables.texts])
      await knex(table).where({ segment_id: segmentId }).whereIn('term_id', terms).delete();
    await nextTurn();
  }
}

/** Words that stand nowhere any more: what somebody wrote must not outlive its deletion. */
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
    const used = knex(tables.texts)
      .whereRaw('?? = ??', [`${tables.texts}.term_id`, `${tables.terms}.id`])
      .select(knex.raw('1'));
    await knex(tables.terms).where('id', '>', after).where('id', '<=', last).whereNotExists(used).delete();
    after = last;
    await nextTurn();
  }
}
