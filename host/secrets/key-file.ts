import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Name of the key file in the data folder. */
export const keyFileName = 'secret.key';

/**
 * Reads the site's 32-byte key; creates the file (mode 0600) if it is missing. The file appears atomically, so processes
 * that start together use the same key.
 *
 * @throws Error with a remedy when the file has no valid key, or the folder is not writable.
 */
export function readOrCreateKeyFile(dataDir: string): Buffer {
  const file = join(dataDir, keyFileName);
  return (
    parseKey(readIfExists(file) ?? create(dataDir, file)) ??
    fail(
      `The key file ${keyFileName} in DATA_DIR is damaged: it must contain 64 hexadecimal digits. ` +
        'Restore it from a backup. Without it, saved secrets cannot be read and must be entered again.',
    )
  );
}

/** The key in the file; null if it is missing or damaged. */
export function readKeyFile(dataDir: string): Buffer | null {
  try {
    return parseKey(readIfExists(join(dataDir, keyFileName)) ?? '');
  } catch {
    return null;
  }
}

/** Differs after each change of the file; null if it is missing. */
export function keyFileVersion(dataDir: string): string | null {
  const found = statSync(join(dataDir, keyFileName), { throwIfNoEntry: false });
  return found === undefined ? null : [found.ino, found.size, found.mtimeMs, found.ctimeMs].join(' ');
}

/** The key that the content of a key file holds; null if it holds none. */
export function parseKey(text: string): Buffer | null {
  return /^[0-9a-f]{64}$/.test(text.trim()) ? Buffer.from(text.trim(), 'hex') : null;
}

function fail(message: string): never {
  throw new Error(message);
}

function readIfExists(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new Error(
      `The key file ${keyFileName} in DATA_DIR cannot be read. Allow the host's user to read it, or set SECRET_KEY.`,
      { cause: error },
    );
  }
}

function create(dataDir: string, file: string): string {
  const key = randomBytes(32).toString('hex');
  const draft = `${file}.${process.pid}.${randomBytes(6).toString('hex')}`;
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    writeFileSync(draft, `${key}\n`, { mode: 0o600, flag: 'wx', flush: true });
    publish(draft, file);
  } catch (error) {
    throw new Error(
      `The key file ${keyFileName} cannot be created in DATA_DIR. Allow the host's user to write there, or set SECRET_KEY.`,
      { cause: error },
    );
  } finally {
    rmSync(draft, { force: true });
  }
  return readIfExists(file) ?? key;
}

/** A hard link is atomic and never replaces a file. File systems without hard links use an exclusive write. */
function publish(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    writeFileSync(file, readFileSync(draft), { mode: 0o600, flag: 'wx', flush: true });
  }
}
