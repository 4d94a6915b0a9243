import type { DatabaseApi, Knex } from '#plugin-api';
import { tables } from './conversation-tables.ts';

const highest = (table: string): string => `(SELECT COALESCE(MAX(revision), 0) FROM ${table})`;

/** Expression: the latest revision on SQLite. The newest tombstone is never removed, so that revisions only rise. */
export const sqliteRevision = `MAX(${highest(tables.conversations)}, ${highest(tables.tombstones)})`;

/**
 * The revision that marks every change of the running transaction, so that other processes can read what changed since.
 * SQLite counts up, because it has one writer. On PostgreSQL transactions commit in any order, so the revision is the
 * id of the transaction: readers continue from the oldest transaction that was still running and miss none.
 */
export async function nextRevision(transaction: Knex.Transaction, dialect: DatabaseApi['dialect']): Promise<number> {
  if (dialect === 'postgresql') {
    const { rows } = await transaction.raw<{ rows: { revision: number }[] }>(
      'SELECT pg_current_xact_id()::text::bigint AS revision',
    );
    return Number(rows[0]?.revision);
  }
  const rows = await transaction.raw<{ revision: number }[]>(`SELECT ${sqliteRevision} + 1 AS revision`);
  return Number(rows[0]?.revision);
}
