import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Database } from './database/database.ts';

/** The backups that are made by themselves, before something is upgraded: `DATA_DIR/backups/<name>.jsonl.gz`. */
export interface Backups {
  /**
   * Writes everything in the database down, and removes all but the last five of the same owner.
   *
   * @param name `<owner>-...-<time>`, where the time sorts as a text.
   * @returns the file as one would type it after `db restore`; null where the database is in memory alone.
   */
  write(name: string): Promise<string | null>;
  /** The last one of the owner (a plugin's slug, or `host`), as `write` names it; null: there is none. */
  last(owner: string): Promise<string | null>;
}

const kept = 5;
const ending = '.jsonl.gz';
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
  const filesOf = async (owner: string): Promise<string[]> => {
    if (dataDir === memory || !existsSync(directory)) return [];
    const names = (await readdir(directory)).filter((name) => name.endsWith(ending) && ownerOf(name) === owner);
    return names.sort((one, other) => (timeOf(one) < timeOf(other) ? -1 : 1));
  };
  return {
    async write(name) {
      if (dataDir === memory) return null;
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const file = join(directory, `${name}${ending}`);
      // Nodes that start at once may ask for one name in the same millisecond; either backup is the one from before.
      const passing = join(directory, `.${randomUUID()}${ending}`);
      await database.backup(passing);
      await rename(passing, file);
      const files = await filesOf(ownerOf(name));
      for (const old of files.slice(0, -kept)) await rm(join(directory, old), { force: true });
      return typed(file);
    },
    async last(owner) {
      const name = (await filesOf(owner)).at(-1);
      return name === undefined ? null : typed(join(directory, name));
    },
  };
}

/** Short where it lies below the folder that commands are run in. */
function typed(file: string): string {
  const below = relative(process.cwd(), file);
  return below.startsWith('..') ? file : below;
}

/** Slugs hold dashes, so the owner ends where the first version begins; the host's names go on with a migration. */
function ownerOf(name: string): string {
  return /^(.*?)-(?=\d+\.\d+\.\d+|\d+_)/.exec(name)?.[1] ?? '';
}

function timeOf(name: string): string {
  return /(\d{8}T\d+Z)/.exec(name)?.[1] ?? '';
}
