import { trimTrailing } from '#plugin-api';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { foldText } from '../html/text.ts';

/**
 * The folder of uploaded files: `YYYY/MM/name.ext`, and `private/YYYY/MM/<random>.ext` for files that are not public. Several
 * nodes must share one folder.
 */
export interface UploadFolder {
  /** Absolute path, created on first use. */
  root(): Promise<string>;
  /** Stores bytes under a unique name. Returns the path below the root. */
  write(file: {
    readonly month: string;
    readonly name: string;
    readonly extension: string;
    readonly bytes: Uint8Array;
    /** True: stored under `privatePath`, whatever its name. */
    readonly isPrivate?: boolean;
  }): Promise<string>;
  /** Moves a file; can be repeated. False: neither path exists. */
  move(from: string, to: string): Promise<boolean>;
  /** Null: the file does not exist or the path is outside the folder. */
  read(file: string): Promise<Uint8Array | null>;
  /** Ignores a missing file and a path outside the folder. */
  remove(file: string): Promise<void>;
  /** Deletes the folder if it is temporary. */
  close(): Promise<void>;
}

const pathPattern = /^(?:private\/)?\d{4}\/\d{2}\/[^/\\\0]{1,200}$/;

/** Whether the path is that of an upload inside the folder. */
function isUploadPath(file: string): boolean {
  return pathPattern.test(file) && !/(?:^|\/)\./.test(file);
}

/** Whether the path is that of a public upload inside the folder. */
export function isPublicPath(file: string): boolean {
  return isUploadPath(file) && !isPrivatePath(file);
}

/** Whether a file is stored where only checked requests get it. */
export function isPrivatePath(file: string): boolean {
  return file.startsWith('private/');
}

/** A path that cannot be guessed and is never used again. @param month `2026/05`. */
export function privatePath(month: string, extension: string): string {
  return `private/${month}/${randomBytes(16).toString('hex')}.${extension}`;
}

/** @param directory null: a temporary folder, for a site in memory. */
export function createUploadFolder(directory: string | null): UploadFolder {
  let created: Promise<string> | undefined;
  const make = async (): Promise<string> => {
    if (directory === null) return mkdtemp(join(tmpdir(), 'uploads-'));
    await mkdir(directory, { recursive: true });
    return directory;
  };
  const root = (): Promise<string> => {
    created ??= make();
    created.catch(() => (created = undefined));
    return created;
  };
  return {
    root,
    async write({ month, name, extension, bytes, isPrivate = false }) {
      if (isPrivate) {
        const file = privatePath(month, extension);
        if (await writeNew(join(await root(), file), bytes)) return file;
        throw new Error('Failed to store a private upload: its random name is taken.');
      }
      const stem = safeStem(name);
      for (let attempt = 0; attempt < 100; attempt += 1) {
        // After 50 taken names, random suffixes end the search.
        const suffix = attempt === 0 ? '' : attempt < 50 ? `-${attempt}` : `-${randomBytes(4).toString('hex')}`;
        const file = `${month}/${stem}${suffix}.${extension}`;
        if (await writeNew(join(await root(), file), bytes)) return file;
      }
      throw new Error(`Failed to find a free name for the upload '${stem}.${extension}'.`);
    },
    async move(from, to) {
      const [source, target] = [join(await root(), from), join(await root(), to)];
      if (!isUploadPath(from) || !isUploadPath(to)) return false;
      await mkdir(dirname(target), { recursive: true });
      return rename(source, target).then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          if (error.code === 'ENOENT') return existsSync(target);
          throw error;
        },
      );
    },
    async read(file) {
      if (!isUploadPath(file)) return null;
      return readFile(join(await root(), file)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null;
        throw error;
      });
    },
    async remove(file) {
      if (!isUploadPath(file)) return;
      await unlink(join(await root(), file)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
      });
    },
    async close() {
      if (directory === null && created !== undefined) await rm(await created, { recursive: true, force: true });
    },
  };
}

/** False: the name is taken. `wx` checks and creates atomically, across all nodes. */
async function writeNew(path: string, bytes: Uint8Array): Promise<boolean> {
  await mkdir(dirname(path), { recursive: true });
  try {
    await writeFile(path, bytes, { flag: 'wx', mode: 0o644 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    await unlink(path).catch(() => undefined);
    throw error;
  }
}

/** The name without folder and extension, in safe characters. Removes dots, which could suggest another type. */
function safeStem(name: string): string {
  const base =
    name
      .split(/[/\\]/)
      .at(-1)
      ?.replace(/\.[^.]*$/, '') ?? '';
  return (
    trimTrailing(
      foldText(base)
        .replace(/[^a-z0-9_-]+/g, '-')
        .replace(/^[-_]+/, ''),
      '-',
    ).slice(0, 100) || 'file'
  );
}
