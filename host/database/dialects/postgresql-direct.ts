import type { ClientBase } from 'pg';
import type { Knex, PostgresqlConnection } from '#plugin-api';
import type { Dialect } from './dialect.ts';

/** The statement has no name: a plan for any values would be wrong for most. */
export function createPostgresqlReadNumbers(knex: Knex): Dialect['readNumbers'] {
  return async ({ postgresql: text }, values, transaction) => {
    const { client } = (transaction ?? knex) as { readonly client: Knex.Client };
    const connection = (await client.acquireConnection()) as ClientBase;
    try {
      const { rows } = await connection.query<number[]>({ text, values: [...values], rowMode: 'array' });
      return Float64Array.from(rows.flat());
    } finally {
      if (transaction === null) await client.releaseConnection(connection);
    }
  };
}

/**
 * Named statements: the server parses and plans each text once per connection.
 *
 * @param isPooled whether a pooler may run each transaction on another connection, where no name is known
 */
export function createPostgresqlDirect(knex: Knex, isPooled: boolean): Dialect['direct'] {
  const names = new Map<string, string>();
  const named = (sql: string): { readonly name?: string } => {
    if (isPooled) return {};
    const name = names.get(sql) ?? `direct_${String(names.size)}`;
    names.set(sql, name);
    return { name };
  };

  const connectionOf = (client: ClientBase): PostgresqlConnection => ({
    async rows(sql, values = []) {
      const statement = { ...named(sql), text: sql, values: values as unknown[], rowMode: 'array' as const };
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
