import type { UserFilter } from '#plugin-api';
import type { Database } from '../database/database-contract.ts';
import { filterUsers, isId } from './user-row.ts';

type Rows = readonly (readonly unknown[])[];

/** Ids of all users that match a filter, without blocking the event loop, because there may be very many. */
export async function readIds(database: Pick<Database, 'knex' | 'readNumbers'>, filter: UserFilter): Promise<number[]> {
  const { sql, bindings } = filterUsers(database.knex('users').select('id'), filter).toSQL().toNative();
  return [...(await database.readNumbers({ sqlite: sql, postgresql: sql }, bindings as (string | number)[]))];
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
