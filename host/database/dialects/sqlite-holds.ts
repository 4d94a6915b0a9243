import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite from 'better-sqlite3';
import type { Notifier } from './dialect.ts';

/** In `DATA_DIR`. */
const folderName = 'locks';

/**
 * Holds of the processes that share a SQLite file: one empty file for each name, locked by SQLite itself, whose locks the
 * operating system ends with the process. They are not in WAL mode: there a reader would not keep a writer away.
 *
 * @param dataDir null for a database in memory, which belongs to one process.
 */
export function createSqliteHolds(dataDir: string | null): Pick<Notifier, 'hold' | 'countHolders'> & { close(): void } {
  const open = new Set<BetterSqlite.Database>();
  const release = (connection: BetterSqlite.Database): void => {
    if (open.delete(connection)) connection.close();
  };
  return {
    async hold(name, mode) {
      if (dataDir === null) return async () => {};
      const connection = openFile(join(dataDir, folderName), name);
      open.add(connection);
      try {
        connection.exec(mode === 'alone' ? 'BEGIN EXCLUSIVE' : 'BEGIN');
        // The lock begins with the first read.
        connection.prepare('SELECT count(*) FROM sqlite_master').get();
        return async () => release(connection);
      } catch (error) {
        release(connection);
        if ((error as { code?: unknown }).code === 'SQLITE_BUSY') return null;
        throw error;
      }
    },
    countHolders: async () => null,
    close() {
      for (const connection of open) release(connection);
    },
  };
}

function openFile(folder: string, name: string): BetterSqlite.Database {
  const file = join(folder, `${name.replaceAll(/[^a-z0-9-]/g, '-')}.lock`);
  try {
    mkdirSync(folder, { recursive: true });
    return new BetterSqlite(file, { timeout: 0 });
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new Error(`The file ${file} cannot be opened (${reason}). Make the folder writable.`, { cause: error });
  }
}
