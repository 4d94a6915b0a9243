import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Name of the key file in the data folder. */
export const keyFileName = 'secret.key';

/**
 * Reads the 32 bytes of the site's key, after making the file (mode 0600) when there is none. Processes that start at
 * the same time agree: the file appears complete or not at all, and whoever comes second reads the first one's.
 *
 * @throws Error with the remedy when the file is there but holds no key, or the folder cannot be written.
 */
export function readOrCreateKeyFile(dataDir: string): Buffer {
  const file = join(dataDir, keyFileName);
  const text = readIfThere(file) ?? create(dataDir, file);
  if (!/^[0-9a-f]{64}$/.test(text)) {
    throw new Error(
      `The key file ${keyFileName} in DATA_DIR is damaged: it must hold 64 hexadecimal digits. Restore it from a backup; without it saved secrets cannot be read and must be entered again.`,
    );
  }
  return Buffer.from(text, 'hex');
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new Error(
      `The key file ${keyFileName} in DATA_DIR cannot be read. Give the host's user the right to read it, or set SECRET_KEY.`,
      { cause: error },
    );
  }
}

function create(dataDir: string, file: string): string {
  const key = randomBytes(32).toString('hex');
  const draft = `${file}.${process.pid}.${randomBytes(6).toString('hex')}`;
  try {
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(draft, `${key}\n`, { mode: 0o600, flag: 'wx', flush: true });
    publish(draft, file);
  } catch (error) {
    throw new Error(
      `The key file ${keyFileName} cannot be made in DATA_DIR. Let the host's user write there, or set SECRET_KEY.`,
      { cause: error },
    );
  } finally {
    rmSync(draft, { force: true });
  }
  return readIfThere(file) ?? key;
}

/** A hard link is made whole and never replaces a file; where the file system has none, an exclusive write must do. */
function publish(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    writeFileSync(file, readFileSync(draft), { mode: 0o600, flag: 'wx', flush: true });
  }
}
