import type { DirectValue, UserFilter } from '#plugin-api';
import type { Database } from '../database/database-contract.ts';
import { filterUsers, isId } from './user-row.ts';

type Rows = readonly (readonly unknown[])[];

/** Ids of all users that match a filter, without creating user objects, because there may be very many. */
export async function readIds(
  database: Pick<Database, 'knex' | 'direct' | 'dialect'>,
  filter: UserFilter,
): Promise<number[]> {
  // As one text, because transferring a row per id would take longer than the search.
  return JSON.parse(
    await (database.dialect === 'sqlite' ? readSqliteIds(database, filter) : readPostgresqlIds(database, filter)),
  ) as number[];
}

async function readSqliteIds(database: Pick<Database, 'knex' | 'direct'>, filter: UserFilter): Promise<string> {
  const { sql, bindings } = filterUsers(database.knex('users').select('id'), filter).toSQL().toNative();
  const [row] = await database.direct<Rows>(
    {
      sqlite: (connection) =>
        connection.rows(`SELECT json_group_array(id) FROM (${sql})`, ...(bindings as readonly DirectValue[])),
      postgresql: () => {
        throw new Error('This query is for SQLite only.');
      },
    },
    { readOnly: true },
  );
  return String(row?.[0]);
}

/** Not a prepared statement: whether the trigram index helps depends on the search text. */
async function readPostgresqlIds({ knex }: Pick<Database, 'knex'>, filter: UserFilter): Promise<string> {
  const found = filterUsers(knex('users').select('id'), filter).as('found');
  const row = (await knex
    .from(found)
    .first(knex.raw("'[' || COALESCE(string_agg(id::text, ','), '') || ']' AS ids"))) as
    { readonly ids: string } | undefined;
  return row?.ids ?? '[]';
}

/** Reads display names with prepared statements, because every page of a list needs them. */
export async function readNames(
  database: Pick<Database, 'direct'>,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const known = ids.filter(isId);
  if (known.length === 0) return new Map();
  const rows = await database.direct<Rows | Promise<Rows>>(
    {
      sqlite: (connection) =>
        connection.rows(
          'SELECT id, display_name FROM users WHERE id IN (SELECT value FROM json_each(?))',
          JSON.stringify(known),
        ),
      postgresql: async (connection) =>
        (await connection.rows('SELECT id, display_name FROM users WHERE id = ANY($1)', [known])).rows,
    },
    { readOnly: true },
  );
  return new Map(rows.map(([id, name]) => [Number(id), String(name)]));
}
