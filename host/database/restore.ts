import type { Knex, Migration } from '#plugin-api';
import { migrationsFirst } from './backup.ts';
import { type BackupPart, isSqliteFile, readPortable } from './backup-format.ts';
import type { RestoreReport } from './database-contract.ts';
import type { Dialect, Row, Snapshot } from './dialects/dialect.ts';
import { type Migrator, migrationsTable } from './migrator.ts';
import type { Transactions } from './transactions.ts';

export interface RestoreDependencies {
  readonly dialect: Dialect;
  readonly transactions: Transactions;
  readonly migrator: Migrator;
  /** See `Database.restore`. */
  readonly onTable?: ((table: string, rows: number) => void) | undefined;
}

/** Below SQLite's 500 terms of a compound SELECT and PostgreSQL's 65,535 values of a statement. */
const rowsPerInsert = 100;

interface AppliedRow {
  readonly owner: string;
  readonly id: string;
  readonly applied_at: number;
}

/** See `Database.restore`. */
export async function restoreBackup(dependencies: RestoreDependencies, file: string): Promise<RestoreReport> {
  if (!(await isSqliteFile(file))) return restoreParts(dependencies, readPortable(file));
  const { readSqliteFile } = await import('./dialects/sqlite.ts');
  return readSqliteFile(file, (snapshot) => restoreParts(dependencies, readParts(snapshot)));
}

async function* readParts(snapshot: Snapshot): AsyncGenerator<BackupPart> {
  for (const table of migrationsFirst(snapshot.tables)) {
    yield { table: table.name };
    for await (const rows of snapshot.rows(table)) yield { rows };
  }
}

async function restoreParts(
  dependencies: RestoreDependencies,
  parts: AsyncGenerator<BackupPart>,
): Promise<RestoreReport> {
  const { dialect, transactions, migrator, onTable } = dependencies;
  return transactions.run(async (transaction) => {
    await dialect.lock(transaction, 'migrations');
    const { history, next } = await readHistory(parts);
    const migrations = findMigrations(migrator, history);
    await dialect.dropTables(transaction, await dialect.tables(transaction));
    await migrator.createTable(transaction);
    for (const { row, migration } of migrations) await migrator.apply(row.owner, migration);
    const tables = await dialect.tables(transaction);
    const count = { tables: 1, rows: history.length };
    await dialect.withoutForeignKeys(transaction, async () => {
      // Migrations may have inserted rows; the backup has their current state.
      for (const table of tables) await transaction(table.name).delete();
      await insertRows(transaction, migrationsTable, history as unknown as Row[]);
      const names = new Set(tables.map((table) => table.name));
      await insertParts(transaction, { names, parts, next, count, onTable });
    });
    await dialect.resetSequences(transaction, tables);
    return { ...count, migrated: await migrator.applyPending() };
  }, dialect.migrationSettings);
}

/** Reads the rows of the first table, and the part after them. */
async function readHistory(
  parts: AsyncGenerator<BackupPart>,
): Promise<{ history: AppliedRow[]; next: BackupPart | undefined }> {
  const first = await parts.next();
  if (first.done === true || !('table' in first.value) || first.value.table !== migrationsTable) {
    throw new Error('The backup does not list its migrations; it was not created by this program.');
  }
  const history: AppliedRow[] = [];
  for (;;) {
    const part = await parts.next();
    if (part.done === true) return { history, next: undefined };
    if ('table' in part.value) return { history, next: part.value };
    history.push(...(part.value.rows as unknown as AppliedRow[]));
  }
}

function findMigrations(
  migrator: Migrator,
  history: readonly AppliedRow[],
): { row: AppliedRow; migration: Migration }[] {
  return [...history].sort(compareApplied).map((row) => {
    const migration = migrator.find(row.owner, row.id);
    if (migration !== undefined) return { row, migration };
    const remedy =
      row.owner === 'host'
        ? 'A newer version created it: install that version first.'
        : `First activate the plugin '${row.owner}', in the version that the backup was created with.`;
    throw new Error(
      `The backup has tables of the migration '${row.id}' of '${row.owner}', which is unknown here. ${remedy} ` +
        'Nothing was changed.',
    );
  });
}

function compareApplied(one: AppliedRow, other: AppliedRow): number {
  if (one.applied_at !== other.applied_at) return one.applied_at - other.applied_at;
  if (one.owner !== other.owner)
    return one.owner === 'host' ? -1 : other.owner === 'host' ? 1 : one.owner < other.owner ? -1 : 1;
  return one.id < other.id ? -1 : 1;
}

interface Insertion {
  readonly names: ReadonlySet<string>;
  readonly parts: AsyncGenerator<BackupPart>;
  readonly next: BackupPart | undefined;
  readonly count: { tables: number; rows: number };
  readonly onTable: RestoreDependencies['onTable'];
}

async function insertParts(transaction: Knex, { names, parts, next, count, onTable }: Insertion): Promise<void> {
  let table = migrationsTable;
  for (let part = next; part !== undefined; part = await nextPart(parts)) {
    if ('table' in part) {
      table = part.table;
      count.tables++;
      if (!names.has(table))
        throw new Error(`The backup has the table '${table}', which no known migration creates. Nothing was changed.`);
      onTable?.(table, count.rows);
    } else {
      await insertRows(transaction, table, part.rows);
      count.rows += part.rows.length;
    }
  }
}

async function nextPart(parts: AsyncGenerator<BackupPart>): Promise<BackupPart | undefined> {
  const part = await parts.next();
  return part.done === true ? undefined : part.value;
}

async function insertRows(transaction: Knex, table: string, rows: readonly Row[]): Promise<void> {
  for (let start = 0; start < rows.length; start += rowsPerInsert) {
    await transaction(table).insert(rows.slice(start, start + rowsPerInsert));
  }
}
