import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { foldText } from '../html/text.ts';

/** The folder of uploaded files: `YYYY/MM/name.ext`. Several nodes need one folder between them. */
export interface UploadFolder {
  /** Absolute path; made at the first use. */
  root(): Promise<string>;
  /** Stores bytes under a name of their own; answers the path below the root. */
  write(file: {
    readonly month: string;
    readonly name: string;
    readonly extension: string;
    readonly bytes: Uint8Array;
  }): Promise<string>;
  /** Null: there is no such file, or the path leads out of the folder. */
  read(file: string): Promise<Uint8Array | null>;
  /** Nothing happens when the file is gone already, or the path leads out of the folder. */
  remove(file: string): Promise<void>;
  /** Removes a folder that was made for this process alone. */
  close(): Promise<void>;
}

const pathPattern = /^\d{4}\/\d{2}\/[^/\\\0]{1,200}$/;

/** Whether this is the path of an upload, and of nothing outside the folder. */
export function isUploadPath(file: string): boolean {
  return pathPattern.test(file) && !/(?:^|\/)\./.test(file);
}

/** @param directory null: a temporary one, for a site that lives in memory. */
export function createUploadFolder(directory: string | null): UploadFolder {
  let made: Promise<string> | undefined;
  const make = async (): Promise<string> => {
    if (directory === null) return mkdtemp(join(tmpdir(), 'uploads-'));
    await mkdir(directory, { recursive: true });
    return directory;
  };
  const root = (): Promise<string> => {
    made ??= make();
    made.catch(() => (made = undefined));
    return made;
  };
  return {
    root,
    async write({ month, name, extension, bytes }) {
      const stem = safeStem(name);
      for (let attempt = 0; attempt < 100; attempt += 1) {
        // After a number of names that are taken a random one ends the search.
        const suffix = attempt === 0 ? '' : attempt < 50 ? `-${attempt}` : `-${randomBytes(4).toString('hex')}`;
        const file = `${month}/${stem}${suffix}.${extension}`;
        if (await writeNew(join(await root(), file), bytes)) return file;
      }
      throw new Error(`No free name was found for the upload '${stem}.${extension}'.`);
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
      if (directory === null && made !== undefined) await rm(await made, { recursive: true, force: true });
    },
  };
}

/** False: the name is taken. `wx` makes taking and testing one step, over all nodes. */
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

/** The name without folder and extension, of letters that are safe everywhere. Further dots would hint at other types. */
function safeStem(name: string): string {
  const base =
    name
      .split(/[/\\]/)
      .at(-1)
      ?.replace(/\.[^.]*$/, '') ?? '';
  return (
    foldText(base)
      .replace(/[^a-z0-9_-]+/g, '-')
      .replace(/^[-_]+|-+$/g, '')
      .slice(0, 100) || 'file'
  );
}
