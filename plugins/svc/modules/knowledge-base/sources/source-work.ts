import type { HostApi } from '#plugin-api';
import { tables } from '../tables.ts';
import { SourceChangedError, type SourceWork } from './source.ts';
import { currentRow, first, sourceRows, toSourceRow } from './source-rows.ts';

const maxMessageLength = 1_000;

/** See SourceWork. */
export function createSourceWork({ database, clock }: Pick<HostApi, 'database' | 'clock'>): SourceWork {
  const { knex } = database;
  const unfinished = (id: number) => sourceRows(database).where({ id }).whereNot({ state: 'indexed' });
  /** `state` for a source that is indexed; one that is deleted keeps its state. */
  const unlessDeleting = (state: string) => knex.raw(`case when state = 'deleting' then state else ? end`, [state]);

  return {
    begin: (id) =>
      first(
        unfinished(id)
          .update({ state: unlessDeleting('indexing'), updated_at: clock.now() })
          .returning('*'),
      ),
    async progress(source, { message, total, done }) {
      // It is sent without waiting, so it may arrive after the result.
      const running = currentRow(database, source).whereIn('state', ['indexing', 'deleting']);
      const count = await running.update({
        ...toSourceRow({ message: message?.slice(0, maxMessageLength), chunksTotal: total, chunksDone: done }),
        updated_at: clock.now(),
      });
      if (count === 0) throw new SourceChangedError();
    },
    async finish(source, { title, url, contentHash, message, chunks }, transaction) {
      const update = currentRow(database, source)
        .where({ state: 'indexing' })
        .update({
          state: 'indexed',
          title: title.slice(0, 500),
          url,
          content_hash: contentHash,
          message: message.slice(0, maxMessageLength),
          chunks_total: chunks,
          chunks_done: chunks,
          indexed_at: clock.now(),
          updated_at: clock.now(),
        });
      return (await (transaction === undefined ? update : update.transacting(transaction))) > 0;
    },
    end: (id, state, message) =>
      first(
        unfinished(id)
          .update({
            state: unlessDeleting(state),
            updated_at: clock.now(),
            ...(message !== null && { message: message.slice(0, maxMessageLength) }),
          })
          .returning('*'),
      ),
    remove: (source) =>
      database.transaction(async () => {
        if ((await currentRow(database, source).where({ state: 'deleting' }).delete()) === 0) return false;
        await knex(tables.chunks).where({ source_id: source.id }).delete();
        await knex(tables.contents).where({ source_id: source.id }).delete();
        return true;
      }),
  };
}
