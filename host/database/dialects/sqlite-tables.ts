import type BetterSqlite from 'better-sqlite3';
import type { Knex } from '#plugin-api';
import type { Row, Table } from './dialect.ts';
import { notificationsTable } from './sqlite-notifier.ts';

const batchSize = 500;

type Select = (sql: string) => Promise<Row[]>;

/** The ordinary tables with their columns. Virtual tables and their shadow tables are left out: triggers fill them. */
export async function readSqliteTables(source: Knex | BetterSqlite.Database): Promise<Table[]> {
  const select = selectFrom(source);
  const names = (await select("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"))
    .map((row) => String(row['name']))
    .filter((name) => !name.startsWith('sqlite_') && name !== notificationsTable)
    .sort();
  const tables: Table[] = [];
  for (const name of names) {
    const columns = await select(`SELECT name, hidden FROM pragma_table_xinfo(${quoteText(name)})`);
    tables.push({
      name,
      columns: columns.map((column) => ({ name: String(column['name']), generated: column['hidden'] !== 0 })),
    });
  }
  return tables;
}

export async function dropSqliteTables(transaction: Knex, tables: readonly Table[]): Promise<void> {
  const select = selectFrom(transaction);
  // Virtual tables first: dropping one drops its shadow tables.
  const virtual = await select("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'virtual'");
  for (const name of [...virtual.map((row) => String(row['name'])), ...tables.map((table) => table.name)]) {
    await transaction.schema.dropTableIfExists(name);
  }
}

export async function* sqliteRows(reader: BetterSqlite.Database, table: Table): AsyncGenerator<Row[]> {
  const columns = table.columns.filter((column) => !column.generated).map((column) => quoteName(column.name));
  if (columns.length === 0) return;
  let batch: Row[] = [];
  for (const row of reader
    .prepare(`SELECT ${columns.join(', ')} FROM ${quoteName(table.name)}`)
    .iterate() as Iterable<Row>) {
    batch.push(row);
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function selectFrom(source: Knex | BetterSqlite.Database): Select {
  if (typeof source === 'function') return async (sql) => await source.raw<Row[]>(sql);
  return async (sql) => source.prepare(sql).all() as Row[];
}

const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`;
