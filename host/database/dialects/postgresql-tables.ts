import type { Knex } from '#plugin-api';
import type { Row, Snapshot, Table } from './dialect.ts';

const batchSize = 500;

interface ColumnRow {
  readonly table_name: string;
  readonly column_name: string;
  readonly is_generated: boolean;
}

/** The tables of the current schema. */
export async function readPostgresqlTables(knex: Knex): Promise<Table[]> {
  const columns = await select<ColumnRow>(
    knex,
    `SELECT c.table_name, c.column_name, c.is_generated = 'ALWAYS' AS is_generated
     FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
     WHERE c.table_schema = current_schema() AND t.table_type = 'BASE TABLE' ORDER BY c.table_name, c.ordinal_position`,
  );
  const names = [...new Set(columns.map((column) => column.table_name))];
  return names.map((name) => ({
    name,
    columns: columns
      .filter((column) => column.table_name === name)
      .map((column) => ({ name: column.column_name, generated: column.is_generated })),
  }));
}

export async function dropPostgresqlTables(transaction: Knex, tables: readonly Table[]): Promise<void> {
  for (const table of tables) await transaction.raw('DROP TABLE IF EXISTS ?? CASCADE', [table.name]);
}

interface ForeignKeyRow {
  readonly table_name: string;
  readonly constraint_name: string;
  readonly definition: string;
}

/** Drops the foreign keys, runs the work and recreates them, which checks all rows. Rows may be inserted in any order. */
export async function withoutPostgresqlForeignKeys(transaction: Knex, work: () => Promise<void>): Promise<void> {
  const keys = await select<ForeignKeyRow>(
    transaction,
    `SELECT relname AS table_name, conname AS constraint_name, pg_get_constraintdef(pg_constraint.oid) AS definition
     FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
     WHERE contype = 'f' AND connamespace = current_schema()::regnamespace`,
  );
  for (const key of keys)
    await transaction.raw('ALTER TABLE ?? DROP CONSTRAINT ??', [key.table_name, key.constraint_name]);
  await work();
  for (const key of keys)
    await transaction.raw(`ALTER TABLE ?? ADD CONSTRAINT ?? ${key.definition}`, [key.table_name, key.constraint_name]);
}

export async function resetPostgresqlSequences(transaction: Knex, tables: readonly Table[]): Promise<void> {
  for (const table of tables) {
    for (const column of table.columns) {
      const [found] = await select<{ sequence: string | null }>(
        transaction,
        'SELECT pg_get_serial_sequence(?, ?) AS sequence',
        [`"${table.name}"`, column.name],
      );
      if (found?.sequence == null) continue;
      await transaction.raw('SELECT setval(?::regclass, GREATEST((SELECT MAX(??) FROM ??), 1))', [
        found.sequence,
        column.name,
        table.name,
      ]);
    }
  }
}

/** @param transaction repeatable read: all cursors see the state at its first statement. */
export async function readSnapshot<Result>(
  transaction: Knex,
  read: (snapshot: Snapshot) => Promise<Result>,
): Promise<Result> {
  const tables = await readPostgresqlTables(transaction);
  return read({ tables, rows: (table) => cursorRows(transaction, table) });
}

async function* cursorRows(transaction: Knex, table: Table): AsyncGenerator<Row[]> {
  const columns = table.columns.filter((column) => !column.generated).map((column) => column.name);
  if (columns.length === 0) return;
  await transaction.raw(`DECLARE dump NO SCROLL CURSOR FOR SELECT ${columns.map(() => '??').join(', ')} FROM ??`, [
    ...columns,
    table.name,
  ]);
  for (;;) {
    const rows = await select<Row>(transaction, `FETCH ${batchSize} FROM dump`);
    if (rows.length === 0) break;
    yield rows;
  }
  await transaction.raw('CLOSE dump');
}

async function select<Selected>(
  knex: Knex,
  sql: string,
  bindings: readonly Knex.RawBinding[] = [],
): Promise<Selected[]> {
  return (await knex.raw<{ rows: Selected[] }>(sql, bindings)).rows;
}
