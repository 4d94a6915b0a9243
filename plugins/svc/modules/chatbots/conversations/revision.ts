import type { DatabaseApi, Knex } from '#plugin-api';
import { tables } from './conversation-tables.ts';

/**
 * The revision that marks every change of the running transaction, so that other processes can read what changed since.
 * SQLite uses a counter, because it has one writer. On PostgreSQL transactions commit in any order, so the revision is the
 * id of the transaction: readers continue from the oldest transaction that was still running and miss none.
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
