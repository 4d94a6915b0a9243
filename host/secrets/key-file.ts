import { randomBytes } from 'node:crypto';
import {
  chownSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

/** Name of the key file in the data folder. */
export const keyFileName = 'secret.key';

/**
 * Reads the site's 32-byte keys, one per line: the first encrypts, the others are only read with until a rotation is finished.
 * Creates the file (mode 0600) if it is missing. It appears atomically, so processes that start together use the same key.
 *
 * @throws Error with a remedy when the file has no valid key, or the folder is not writable.
 */
export function readOrCreateKeyFile(dataDir: string): readonly Buffer[] {
  const file = join(dataDir, keyFileName);
  return (
    parseKeys(readIfExists(file) ?? create(dataDir, file)) ??
    fail(
      `The key file ${keyFileName} in DATA_DIR is damaged: it must contain 64 hexadecimal digits, or several such lines. ` +
        'Restore it from a backup. Without it, saved secrets cannot be read and must be entered again.',
    )
  );
}

/** The keys in the file, as `readOrCreateKeyFile`; null if it is missing or damaged. */
export function readKeyFile(dataDir: string): readonly Buffer[] | null {
  try {
    return parseKeys(readIfExists(join(dataDir, keyFileName)) ?? '');
  } catch {
    return null;
  }
}

/** Differs after each change of the file; null if it is missing. */
export function keyFileVersion(dataDir: string): string | null {
  const found = statSync(join(dataDir, keyFileName), { throwIfNoEntry: false });
  return found === undefined ? null : [found.ino, found.size, found.mtimeMs, found.ctimeMs].join(' ');
}

/** The keys that the content of a key file holds; null if it holds none. */
export function parseKeys(text: string): readonly Buffer[] | null {
  const lines = text.trim().split(/\s+/);
  return lines.every((line) => /^[0-9a-f]{64}$/.test(line)) ? lines.map((line) => Buffer.from(line, 'hex')) : null;
}

/**
 * Adds a new key before those of the file. Every process that shares the file encrypts with it from then on.
 *
 * @throws Error with a remedy; the file is then unchanged.
 */
export function addKey(dataDir: string): void {
  replace(dataDir, [randomBytes(32), ...readOrCreateKeyFile(dataDir)]);
}

/** Removes keys from the file, except the first. @throws as `addKey`. */
export function dropKeys(dataDir: string, dropped: readonly Buffer[]): void {
  const [first, ...others] = readOrCreateKeyFile(dataDir);
  if (first === undefined) return;
  replace(dataDir, [first, ...others.filter((key) => !dropped.some((drop) => drop.equals(key)))]);
}

/** Atomic, and on the disk when it returns: secrets are encrypted with the new key next. The owner of the file stays. */
function replace(dataDir: string, keys: readonly Buffer[]): void {
  const file = join(dataDir, keyFileName);
  const draft = draftOf(file);
  try {
    writeFileSync(draft, keys.map((key) => `${key.toString('hex')}\n`).join(''), {
      mode: 0o600,
      flag: 'wx',
      flush: true,
    });
    const { uid, gid } = statSync(file);
    if (uid !== process.getuid?.()) chownSync(draft, uid, gid);
    renameSync(draft, file);
    syncFolder(dataDir);
  } catch (error) {
    throw new Error(
      `The key file ${keyFileName} in DATA_DIR cannot be replaced. Run the command as the host's user, with write access ` +
        'to the folder.',
      { cause: error },
    );
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Not all systems can: there the rename is as durable as the file system makes it. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function draftOf(file: string): string {
  return `${file}.${process.pid}.${randomBytes(6).toString('hex')}`;
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
  const draft = draftOf(file);
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
