import type { DirectValue, UserFilter } from '#plugin-api';
import type { Database } from '../database/database-contract.ts';
import { filterUsers, isId } from './user-row.ts';

type Rows = readonly (readonly unknown[])[];

/** Ids of all that a filter picks, read without making an object of each: there may be very many. */
export async function readIds(database: Pick<Database, 'knex' | 'direct'>, filter: UserFilter): Promise<number[]> {
  const { sql, bindings } = filterUsers(database.knex('users').select('id'), filter).toSQL().toNative();
  // As one text: a row for each takes longer than finding them.
  const [row] = await database.direct<Rows | Promise<Rows>>({
    sqlite: (connection) => connection.rows(`SELECT json_group_array(id) FROM (${sql})`, ...(bindings as readonly DirectValue[])),
    postgresql: async (connection) => (await connection.rows(`SELECT COALESCE(json_agg(id), '[]')::text FROM (${sql}) AS found`, bindings)).rows,
  }, { readOnly: true });
  return JSON.parse(String(row?.[0])) as number[];
}

/** Display names, by statements that are prepared once: they are asked for with every page of a list. */
export async function readNames(database: Pick<Database, 'direct'>, ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const known = ids.filter(isId);
  if (known.length === 0) return new Map();
  const rows = await database.direct<Rows | Promise<Rows>>({
    sqlite: (connection) => connection.rows('SELECT id, display_name FROM users WHERE id IN (SELECT value FROM json_each(?))', JSON.stringify(known)),
    postgresql: async (connection) => (await connection.rows('SELECT id, display_name FROM users WHERE id = ANY($1)', [known])).rows,
  }, { readOnly: true });
  return new Map(rows.map(([id, name]) => [Number(id), String(name)]));
}
