import type { DatabaseApi, Knex } from '#plugin-api';
import { tables } from './conversation-tables.ts';

/**
 * The number that every change of the running transaction is marked with, so that other processes can ask what changed
 * since. SQLite counts: it has one writer. On PostgreSQL, where transactions commit in any order, it is the transaction's
 * own id: whoever asks again from the oldest one that was still running misses none.
 */
export async function nextRevision(transaction: Knex.Transaction, dialect: DatabaseApi['dialect']): Promise<number> {
  if (dialect === 'postgresql') {
    const { rows } = await transaction.raw<{ rows: { revision: number }[] }>(
      'SELECT pg_current_xact_id()::text::bigint AS revision',
    );
    return Number(rows[0]?.revision);
  }
  const rows = await transaction.raw<{ value: number }[]>(
    `UPDATE ${tables.state} SET value = value + 1 WHERE name = 'revision' RETURNING value`,
  );
  return Number(rows[0]?.value);
}
