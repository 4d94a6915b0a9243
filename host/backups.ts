import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Database } from './database/database.ts';

/** Automatic backups before upgrades: `DATA_DIR/backups/<name>.jsonl.gz`. */
export interface Backups {
  /**
   * Backs up the whole database and deletes all but the owner's last five backups.
   *
   * @param name `<owner>-...-<time>`, where the time sorts as text.
   * @returns the path to pass to `db restore`; null when the database is in memory.
   */
  write(name: string): Promise<string | null>;
  /** Path of the latest backup of the owner (a plugin's slug, or `host`), or null. */
  last(owner: string): Promise<string | null>;
}

const maxBackups = 5;
const extension = '.jsonl.gz';
const memory = ':memory:';

export function createBackups({
  database,
  dataDir,
}: {
  readonly database: Pick<Database, 'backup'>;
  readonly dataDir: string;
}): Backups {
  const directory = join(dataDir, 'backups');
  /** Oldest first. */
  const listFiles = async (owner: string): Promise<string[]> => {
    if (dataDir === memory || !existsSync(directory)) return [];
    const names = (await readdir(directory)).filter((name) => name.endsWith(extension) && parseOwner(name) === owner);
    return names.sort((one, other) => (parseTime(one) < parseTime(other) ? -1 : 1));
  };
  return {
    async write(name) {
      if (dataDir === memory) return null;
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const file = join(directory, `${name}${extension}`);
      // Nodes that start together may use the same name in the same millisecond; either backup predates the upgrade.
      const partial = join(directory, `.${randomUUID()}${extension}`);
      await database.backup(partial);
      await rename(partial, file);
      const files = await listFiles(parseOwner(name));
      for (const old of files.slice(0, -maxBackups)) await rm(join(directory, old), { force: true });
      return displayPath(file);
    },
    async last(owner) {
      const name = (await listFiles(owner)).at(-1);
      return name === undefined ? null : displayPath(join(directory, name));
    },
  };
}

/** Relative if the file is below the working folder. */
function displayPath(file: string): string {
  const below = relative(process.cwd(), file);
  return below.startsWith('..') ? file : below;
}

/** Slugs contain dashes, so the owner ends before the first version, or for the host before a migration id. */
function parseOwner(name: string): string {
  return /^(.*?)-(?=\d+\.\d+\.\d+|\d+_)/.exec(name)?.[1] ?? '';
}

function parseTime(name: string): string {
  return /(\d{8}T\d+Z)/.exec(name)?.[1] ?? '';
}
