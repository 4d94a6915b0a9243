import { createReadStream } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { join } from 'node:path';
import type { Clock } from '#plugin-api';

export interface BackupFile {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** Database backups in a local folder. Each node has its own folder. */
export interface Backups {
  readonly directory: string;
  create(): Promise<BackupFile>;
  /** Newest first. */
  list(): Promise<BackupFile[]>;
  /** Streams the content. Null when there is no backup with this name. */
  read(name: string): Promise<Readable | null>;
  /** Returns whether the backup existed. */
  remove(name: string): Promise<boolean>;
}

export interface BackupsDependencies {
  readonly dataDir: string;
  readonly database: { readonly dialect: string; backup(file: string): Promise<unknown> };
  readonly clock: Pick<Clock, 'now'>;
}

const namePattern = /^backup-\d{8}-\d{6}(-\d+)?\.(sqlite|jsonl\.gz)$/;

export function createBackups({ dataDir, database, clock }: BackupsDependencies): Backups {
  const directory = join(dataDir, 'backups');
  const ending = database.dialect === 'sqlite' ? '.sqlite' : '.jsonl.gz';
  const describe = async (name: string): Promise<BackupFile> => {
    const { size, mtimeMs } = await stat(join(directory, name));
    return { name, size, createdAt: Math.floor(mtimeMs) };
  };
  const names = async (): Promise<string[]> => {
    try {
      return (await readdir(directory)).filter((name) => namePattern.test(name));
    } catch (error) {
      // The first backup creates the folder.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  };
  return {
    directory,
    async create() {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const moment = new Date(clock.now()).toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
      const taken = await names();
      const base = `backup-${moment}`;
      let name = base + ending;
      for (let count = 2; taken.includes(name); count += 1) name = `${base}-${count}${ending}`;
      await database.backup(join(directory, name));
      return describe(name);
    },
    async list() {
      const files = await Promise.all((await names()).map(describe));
      return files.sort((one, other) => (one.name < other.name ? 1 : -1));
    },
    async read(name) {
      return (await names()).includes(name) ? createReadStream(join(directory, name)) : null;
    },
    async remove(name) {
      if (!(await names()).includes(name)) return false;
      await rm(join(directory, name), { force: true });
      return true;
    },
  };
}
