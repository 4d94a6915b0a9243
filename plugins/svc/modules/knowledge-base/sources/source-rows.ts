import type { DatabaseApi, Knex } from '#plugin-api';
import { tables } from '../tables.ts';
import type { Source, SourceFilter, SourceKind, SourceOrigin, SourceState } from './source.ts';

export interface SourceRow {
  readonly id: number;
  readonly base_id: number;
  readonly identity: string;
  readonly kind: SourceKind;
  readonly title: string;
  readonly url: string;
  readonly post_id: number | null;
  readonly parent_id: number | null;
  readonly state: SourceState;
  readonly message: string;
  readonly origin: SourceOrigin;
  readonly version: number;
  readonly content_hash: string;
  readonly chunks_total: number;
  readonly chunks_done: number;
  readonly created_at: number | string;
  readonly updated_at: number | string;
  readonly indexed_at: number | string | null;
}

export function sourceRows({ knex }: Pick<DatabaseApi, 'knex'>): Knex.QueryBuilder<SourceRow, SourceRow[]> {
  return knex<SourceRow>(tables.sources) as Knex.QueryBuilder<SourceRow, SourceRow[]>;
}

/** The row of a source, unless it was requeued. */
export function currentRow(
  database: Pick<DatabaseApi, 'knex'>,
  { id, version }: Pick<Source, 'id' | 'version'>,
): Knex.QueryBuilder<SourceRow, SourceRow[]> {
  return sourceRows(database).where({ id, version });
}

export function filtered(
  query: Knex.QueryBuilder<SourceRow, SourceRow[]>,
  { id, baseId, state, kind, parentId }: SourceFilter & { readonly id?: number },
): Knex.QueryBuilder<SourceRow, SourceRow[]> {
  return query.where({
    ...(id !== undefined && { id }),
    ...(baseId !== undefined && { base_id: baseId }),
    ...(state !== undefined && { state }),
    ...(kind !== undefined && { kind }),
    ...(parentId !== undefined && { parent_id: parentId }),
  });
}

export function toSource(row: SourceRow): Source {
  return {
    id: row.id,
    baseId: row.base_id,
    kind: row.kind,
    title: row.title,
    url: row.url,
    postId: row.post_id,
    parentId: row.parent_id,
    state: row.state,
    message: row.message,
    origin: row.origin,
    version: row.version,
    contentHash: row.content_hash,
    chunksTotal: row.chunks_total,
    chunksDone: row.chunks_done,
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    indexedAt: row.indexed_at === null ? null : Number(row.indexed_at),
  };
}
