import { createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Clock } from '#plugin-api';
import { backupFormat, encodeRow, isSqliteFileName } from './backup-format.ts';
import type { BackupReport } from './database-contract.ts';
import type { Dialect, Snapshot, Table } from './dialects/dialect.ts';
import { migrationsTable } from './migrator.ts';

/**
 * Writes a backup to a temporary file and renames it when complete, so that a file of the given name is never partial.
 * Only the owner may read it: it contains password hashes and encrypted secrets.
 */
export async function writeBackup(dialect: Dialect, clock: Clock, file: string): Promise<BackupReport> {
  if (existsSync(file)) throw new Error(`${file} already exists; choose a new file name.`);
  const partial = `${file}.partial`;
  try {
    const report = isSqliteFileName(file)
      ? await writeCopy(dialect, partial)
      : await writePortable(dialect, clock, partial);
    await rename(partial, file);
    return { ...report, file };
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function writeCopy(dialect: Dialect, file: string): Promise<Omit<BackupReport, 'file'>> {
  if (dialect.copyToFile === undefined) {
    throw new Error(
      'Only a SQLite database can be copied to a .sqlite or .db file; ' +
        'name the file backup.jsonl.gz to get the portable format.',
    );
  }
  createWriteStream(file, { mode: 0o600 }).end();
  await dialect.copyToFile(file);
  return dialect.snapshot(async (snapshot) => {
    let rows = 0;
    for (const table of snapshot.tables) for await (const batch of snapshot.rows(table)) rows += batch.length;
    return { format: 'copy' as const, tables: snapshot.tables.length, rows };
  });
}

async function writePortable(dialect: Dialect, clock: Clock, file: string): Promise<Omit<BackupReport, 'file'>> {
  return dialect.snapshot(async (snapshot) => {
    const count = { rows: 0 };
    const header = JSON.stringify({ format: backupFormat, version: 1, dialect: dialect.name, created_at: clock.now() });
    await pipeline(
      Readable.from(lines(snapshot, header, count)),
      createGzip(),
      createWriteStream(file, { mode: 0o600 }),
    );
    return { format: 'portable' as const, tables: snapshot.tables.length, rows: count.rows };
  });
}

/** A header; for each table its name and columns, then its rows as arrays; at the end the number of rows. */
async function* lines(snapshot: Snapshot, header: string, count: { rows: number }): AsyncGenerator<string> {
  yield `${header}\n`;
  for (const table of migrationsFirst(snapshot.tables)) {
    const columns = table.columns.filter((column) => !column.generated).map((column) => column.name);
    yield `${JSON.stringify({ table: table.name, columns })}\n`;
    for await (const batch of snapshot.rows(table)) {
      count.rows += batch.length;
      yield batch.map((row) => `${JSON.stringify(encodeRow(row, columns))}\n`).join('');
    }
  }
  yield `${JSON.stringify({ end: count.rows })}\n`;
}

/** A restore starts with the migrations: they create the tables for the other rows. */
export function migrationsFirst(tables: readonly Table[]): Table[] {
  return [...tables].sort(
    (one, other) => Number(other.name === migrationsTable) - Number(one.name === migrationsTable),
  );
}
