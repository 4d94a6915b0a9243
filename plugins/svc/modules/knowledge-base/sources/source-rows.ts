import { createRowMapper, type DatabaseApi, type Knex } from '#plugin-api';
import { tables } from '../tables.ts';
import type { Source, SourceFilter } from './source.ts';

export const { fromRow: toSource, toRow: toSourceRow, first, all } = createRowMapper<Source>({ others: ['identity'] });

export function sourceRows({ knex }: Pick<DatabaseApi, 'knex'>): Knex.QueryBuilder {
  return knex(tables.sources);
}

/** The row of a source, unless it was requeued. */
export function currentRow(
  database: Pick<DatabaseApi, 'knex'>,
  { id, version }: Pick<Source, 'id' | 'version'>,
): Knex.QueryBuilder {
  return sourceRows(database).where({ id, version });
}

export function filtered(
  query: Knex.QueryBuilder,
  { id, baseId, state, kind, parentId, hasText }: SourceFilter & { readonly id?: number },
): Knex.QueryBuilder {
  const found = query.where(toSourceRow({ id, baseId, state, kind, parentId }));
  return hasText ? found.whereNot({ kind: 'sitemap' }) : found;
}
