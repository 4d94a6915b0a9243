import type { HostApi } from '#plugin-api';
import { tables } from '../tables.ts';
import type { NumberedChunk } from './chunk-text.ts';

interface Row {
  readonly id: number;
  readonly source_id: number;
  readonly vector_id: string;
  readonly position: number;
  readonly tokens: number;
  readonly is_written: number;
}

/** The vectors that a source may have in its store. A row is added before its vector and deleted after it, so none is orphaned. */
export interface ChunkRows {
  /** Ids of the vectors that the store has confirmed. */
  written(sourceId: number): Promise<ReadonlySet<string>>;
  record(sourceId: number, chunks: readonly NumberedChunk[]): Promise<void>;
  markWritten(sourceId: number, vectorIds: readonly string[]): Promise<void>;
  /** Marks up to `limit` vectors as not written, and returns their ids: those not in `current`, or any if it is null. */
  markStale(
    sourceId: number,
    options: { readonly current: ReadonlySet<string> | null; readonly limit: number },
  ): Promise<readonly string[]>;
  remove(sourceId: number, vectorIds: readonly string[]): Promise<void>;
}

/** SQLite allows 32,766 values in a statement. */
const batchSize = 500;

export function createChunkRows({ knex }: Pick<HostApi['database'], 'knex'>): ChunkRows {
  const rows = () => knex<Row>(tables.chunks);
  const some = async (ids: readonly string[], work: (batch: readonly string[]) => Promise<unknown>): Promise<void> => {
    for (let at = 0; at < ids.length; at += batchSize) await work(ids.slice(at, at + batchSize));
  };
  return {
    async written(sourceId) {
      const found = (await rows().where({ source_id: sourceId, is_written: 1 }).select('vector_id')) as Pick<
        Row,
        'vector_id'
      >[];
      return new Set(found.map((row) => row.vector_id));
    },
    async record(sourceId, chunks) {
      for (let at = 0; at < chunks.length; at += batchSize) {
        const batch = chunks.slice(at, at + batchSize).map(({ vectorId, tokens }, index) => ({
          source_id: sourceId,
          vector_id: vectorId,
          position: at + index,
          tokens,
          is_written: 0,
        }));
        await rows().insert(batch).onConflict(['source_id', 'vector_id']).merge(['position', 'tokens']);
      }
    },
    markWritten: (sourceId, ids) =>
      some(ids, (batch) => rows().where({ source_id: sourceId }).whereIn('vector_id', batch).update({ is_written: 1 })),
    async markStale(sourceId, { current, limit }) {
      const found = (await rows().where({ source_id: sourceId }).select('vector_id')) as Pick<Row, 'vector_id'>[];
      const stale = found
        .map((row) => row.vector_id)
        .filter((id) => current?.has(id) !== true)
        .slice(0, limit);
      await some(stale, (batch) =>
        rows().where({ source_id: sourceId }).whereIn('vector_id', batch).update({ is_written: 0 }),
      );
      return stale;
    },
    remove: (sourceId, ids) =>
      some(ids, (batch) => rows().where({ source_id: sourceId }).whereIn('vector_id', batch).delete()),
  };
}
