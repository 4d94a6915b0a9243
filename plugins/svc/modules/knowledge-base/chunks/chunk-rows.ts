import type { HostApi } from '#plugin-api';
import { tables } from '../tables.ts';
import type { NumberedChunk } from './numbered-chunks.ts';

interface Row {
  readonly id: number;
  readonly source_id: number;
  readonly vector_id: string;
  readonly place: number;
  readonly tokens: number;
  readonly is_written: number;
}

/** Which vectors a source may have in its store. A row is there before its vector and until after it: none is ever forgotten. */
export interface ChunkRows {
  /** Ids of those known to be in the store. */
  written(sourceId: number): Promise<ReadonlySet<string>>;
  note(sourceId: number, chunks: readonly NumberedChunk[]): Promise<void>;
  markWritten(sourceId: number, vectorIds: readonly string[]): Promise<void>;
  /** Some whose vectors are to go: those not among `kept`, or all. They count as not written from now on. */
  takeStale(
    sourceId: number,
    options: { readonly kept: ReadonlySet<string> | null; readonly limit: number },
  ): Promise<readonly string[]>;
  forget(sourceId: number, vectorIds: readonly string[]): Promise<void>;
}

/** SQLite's statements take 32,766 values. */
const atOnce = 500;

export function createChunkRows({ knex }: Pick<HostApi['database'], 'knex'>): ChunkRows {
  const rows = () => knex<Row>(tables.chunks);
  const some = async (ids: readonly string[], work: (batch: readonly string[]) => Promise<unknown>): Promise<void> => {
    for (let at = 0; at < ids.length; at += atOnce) await work(ids.slice(at, at + atOnce));
  };
  return {
    async written(sourceId) {
      const found = (await rows().where({ source_id: sourceId, is_written: 1 }).select('vector_id')) as Pick<
        Row,
        'vector_id'
      >[];
      return new Set(found.map((row) => row.vector_id));
    },
    async note(sourceId, chunks) {
      for (let at = 0; at < chunks.length; at += atOnce) {
        const batch = chunks.slice(at, at + atOnce).map(({ vectorId, tokens }, place) => ({
          source_id: sourceId,
          vector_id: vectorId,
          place: at + place,
          tokens,
          is_written: 0,
        }));
        await rows().insert(batch).onConflict(['source_id', 'vector_id']).merge(['place', 'tokens']);
      }
    },
    markWritten: (sourceId, ids) =>
      some(ids, (batch) => rows().where({ source_id: sourceId }).whereIn('vector_id', batch).update({ is_written: 1 })),
    async takeStale(sourceId, { kept, limit }) {
      const found = (await rows().where({ source_id: sourceId }).select('vector_id')) as Pick<Row, 'vector_id'>[];
      const stale = found
        .map((row) => row.vector_id)
        .filter((id) => kept?.has(id) !== true)
        .slice(0, limit);
      await some(stale, (batch) =>
        rows().where({ source_id: sourceId }).whereIn('vector_id', batch).update({ is_written: 0 }),
      );
      return stale;
    },
    forget: (sourceId, ids) =>
      some(ids, (batch) => rows().where({ source_id: sourceId }).whereIn('vector_id', batch).delete()),
  };
}
