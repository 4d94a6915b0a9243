import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, mkdir, mkdtemp, readFile, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isUploadPath, privatePath, safeStem, type UploadExchange, type UploadStore } from './upload-store.ts';

/**
 * Uploads in a folder that all nodes share.
 *
 * @param directory created on first use. Null: a temporary folder, for a site in memory.
 */
export function createUploadFolder(directory: string | null): UploadStore {
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
    missingHint: directory === null ? null : 'Copy the folder uploads of the former DATA_DIR.',
    check: async () => void (await root()),
    async has(file) {
      return (
        isUploadPath(file) &&
        access(join(await root(), file)).then(
          () => true,
          () => false,
        )
      );
    },
    respond: async (file, exchange) => sendFile(await root(), file, exchange),
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

async function sendFile(
  root: string,
  file: string,
  { request, response, setHeaders }: UploadExchange,
): Promise<boolean> {
  const { default: send } = await import('send');
  const stream = send(request, encodeURI(file).replaceAll('?', '%3F').replaceAll('#', '%23'), {
    root,
    index: false,
    dotfiles: 'ignore',
    cacheControl: false,
  });
  return new Promise((resolve, reject) => {
    stream.on('headers', setHeaders);
    stream.on('error', (error: Error & { status?: number }) =>
      error.status === 404 || error.status === 403 ? resolve(false) : reject(error),
    );
    stream.on('directory', () => resolve(false));
    response.once('close', () => resolve(true));
    stream.pipe(response);
  });
}
