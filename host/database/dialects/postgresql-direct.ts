import type { ClientBase } from 'pg';
import type { Knex, PostgresqlConnection } from '#plugin-api';
import type { Dialect } from './dialect.ts';

/** Conditions, because the planner expects two groups of each; of a remainder it expects as many as there are rows. */
const sixteenGroups = 'number % 2 = 0, number % 4 > 1, number % 8 > 3, number % 16 > 7';

/**
 * Returns numbers as bytes, because a row for each costs ten times the processor time, and in several rows, because a large one
 * would block the event loop. The statement has no name: a plan for any values would be wrong for most.
 */
export function createPostgresqlReadNumbers(knex: Knex): Dialect['readNumbers'] {
  return async ({ postgresql: select }, values, transaction) => {
    const { client } = (transaction ?? knex) as { readonly client: Knex.Client };
    const connection = (await client.acquireConnection()) as ClientBase;
    try {
      const statement = {
        text: `SELECT string_agg(int8send(number), '') FROM (${select}) AS numbers (number) GROUP BY ${sixteenGroups}`,
        values: [...values],
        rowMode: 'array' as const,
      };
      const { rows } = await connection.query<Buffer[]>(statement);
      return toNumbers(rows.flat());
    } finally {
      if (transaction === null) await client.releaseConnection(connection);
    }
  };
}

function toNumbers(parts: readonly Buffer[]): Float64Array {
  const numbers = new Float64Array(parts.reduce((total, { length }) => total + length, 0) / 8);
  let count = 0;
  for (const part of parts)
    for (let at = 0; at < part.length; at += 8)
      numbers[count++] = part.readInt32BE(at) * 2 ** 32 + part.readUInt32BE(at + 4);
  return numbers;
}

/** Named statements: the server parses and plans each text once per connection. */
export function createPostgresqlDirect(knex: Knex): Dialect['direct'] {
  const names = new Map<string, string>();
  const nameOf = (sql: string): string => {
    const name = names.get(sql) ?? `direct_${String(names.size)}`;
    names.set(sql, name);
    return name;
  };

  const connectionOf = (client: ClientBase): PostgresqlConnection => ({
    async rows(sql, values = []) {
      const statement = { name: nameOf(sql), text: sql, values: values as unknown[], rowMode: 'array' as const };
      const { rows, rowCount } = await client.query<unknown[]>(statement);
      return { rows, changes: rowCount ?? 0 };
    },
  });

  return async ({ postgresql: work }, { transaction }) => {
    const { client } = (transaction ?? knex) as { readonly client: Knex.Client };
    const connection = (await client.acquireConnection()) as ClientBase;
    try {
      return await work(connectionOf(connection));
    } finally {
      // A transaction's connection is released with the transaction.
      if (transaction === null) await client.releaseConnection(connection);
    }
  };
}
