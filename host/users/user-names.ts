import type { DirectValue, UserFilter } from '#plugin-api';
import type { Database } from '../database/database-contract.ts';
import { filterUsers, isId } from './user-row.ts';

type Rows = readonly (readonly unknown[])[];

/** Ids of all that a filter picks, read without making an object of each: there may be very many. */
export async function readIds(
  database: Pick<Database, 'knex' | 'direct' | 'dialect'>,
  filter: UserFilter,
): Promise<number[]> {
  // As one text: a row for each takes longer than finding them.
  return JSON.parse(
    await (database.dialect === 'sqlite' ? idsOfSqlite(database, filter) : idsOfPostgresql(database, filter)),
  ) as number[];
}

async function idsOfSqlite(database: Pick<Database, 'knex' | 'direct'>, filter: UserFilter): Promise<string> {
  const { sql, bindings } = filterUsers(database.knex('users').select('id'), filter).toSQL().toNative();
  const [row] = await database.direct<Rows>(
    {
      sqlite: (connection) =>
        connection.rows(`SELECT json_group_array(id) FROM (${sql})`, ...(bindings as readonly DirectValue[])),
      postgresql: () => {
        throw new Error('This is for SQLite.');
      },
    },
    { readOnly: true },
  );
  return String(row?.[0]);
}

/** Planned anew each time: whether the index over parts of names is of use depends on the part. */
async function idsOfPostgresql({ knex }: Pick<Database, 'knex'>, filter: UserFilter): Promise<string> {
  const found = filterUsers(knex('users').select('id'), filter).as('found');
  const row = (await knex
    .from(found)
    .first(knex.raw("'[' || COALESCE(string_agg(id::text, ','), '') || ']' AS ids"))) as
    { readonly ids: string } | undefined;
  return row?.ids ?? '[]';
}

/** Display names, by statements that are prepared once: they are asked for with every page of a list. */
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
