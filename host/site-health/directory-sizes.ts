import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { formatBytes } from '#plugin-api';
import type { Database } from '../database/database-contract.ts';

export interface DirectorySizesDependencies {
  readonly database: Pick<Database, 'knex' | 'dialect'>;
  /** Absolute folders by the name of WordPress's report. Null: the host has none. */
  readonly folders: Readonly<Record<string, string | readonly string[] | null>>;
}

interface Size {
  readonly size: string;
  readonly debug: string;
  readonly raw?: number;
}

/** Files of packages and of version control do not count. */
const skipped = new Set(['node_modules', '.git']);

/** Sizes of the folders and of the database in bytes, as text and number. */
export async function readDirectorySizes({
  database,
  folders,
}: DirectorySizesDependencies): Promise<Record<string, unknown>> {
  const sizes: Record<string, Size> = {};
  let total = 0;
  for (const [name, folder] of Object.entries(folders)) {
    const bytes = folder === null ? null : await sizeOfAll([folder].flat() as string[]);
    sizes[name] = bytes === null ? { size: 'not available', debug: 'directory not found' } : described(bytes);
    total += bytes ?? 0;
  }
  const stored = await databaseSize(database);
  sizes['database_size'] = described(stored);
  total += stored;
  return { raw: total, ...sizes, total_size: described(total) };
}

function described(bytes: number): Size {
  const size = formatBytes(bytes);
  return { size, debug: `${size} (${bytes} bytes)`, raw: bytes };
}

/** Null: none of them exists. */
async function sizeOfAll(folders: readonly string[]): Promise<number | null> {
  let total: number | null = null;
  for (const folder of folders) {
    const bytes = await sizeOf(folder);
    if (bytes !== null) total = (total ?? 0) + bytes;
  }
  return total;
}

async function sizeOf(folder: string): Promise<number | null> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => null);
  if (entries === null) return null;
  let total = 0;
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) total += skipped.has(entry.name) ? 0 : ((await sizeOf(path)) ?? 0);
    else if (entry.isFile())
      total += await stat(path).then(
        ({ size }) => size,
        () => 0,
      );
  }
  return total;
}

async function databaseSize({ knex, dialect }: DirectorySizesDependencies['database']): Promise<number> {
  const sql =
    dialect === 'sqlite'
      ? 'select page_count * page_size as size from pragma_page_count(), pragma_page_size()'
      : 'select pg_database_size(current_database()) as size';
  const found: unknown = await knex.raw(sql);
  const rows = (Array.isArray(found) ? found : (found as { readonly rows: unknown }).rows) as {
    size: number | string;
  }[];
  return Number(rows[0]?.size ?? 0);
}
