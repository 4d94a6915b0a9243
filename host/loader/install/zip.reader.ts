import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Entry, ZipFile } from 'yauzl';
import { DocumentError, endSentence } from '#plugin-api';
import { createAllowance, InstallError, type Allowance, type InstallLimits } from './allowance.ts';

/**
 * Unpacks a zip file into an empty folder. The file is untrusted: names must stay inside the folder, links and encrypted
 * entries are rejected, and sizes are counted while inflating.
 *
 * @throws DocumentError with the reason.
 */
export async function unpackZip({
  file,
  target,
  limits,
}: {
  readonly file: string;
  readonly target: string;
  readonly limits?: InstallLimits;
}): Promise<void> {
  const allowance = createAllowance(limits);
  // Loaded on installation only, not on every start.
  const { openPromise } = await import('yauzl');
  try {
    const zip = await openPromise(file, { lazyEntries: true, strictFileNames: true, autoClose: false });
    try {
      for await (const entry of zip.eachEntry()) await unpackEntry({ zip, entry, target, allowance });
    } finally {
      zip.close();
    }
  } catch (error) {
    throw toDocumentError(error);
  }
}

interface Unpacking {
  readonly zip: ZipFile;
  readonly entry: Entry;
  readonly target: string;
  readonly allowance: Allowance;
}

async function unpackEntry({ zip, entry, target, allowance }: Unpacking): Promise<void> {
  const { fileName } = entry;
  // Metadata that macOS adds to zip files.
  if (fileName.startsWith('__MACOSX/') || /(^|\/)\.DS_Store$/.test(fileName)) return;
  allowance.entry();
  const path = join(target, fileName);
  if (fileName.includes('\0') || !path.startsWith(target + sep))
    throw new DocumentError(`The zip file contains '${printable(fileName)}', which leaves the plugin folder.`);
  const type = entryType(entry);
  if (type !== 'file' && type !== 'folder')
    throw new DocumentError(
      `The zip file contains '${printable(fileName)}', which is not a file or folder; links are not allowed.`,
    );
  if (entry.isEncrypted()) throw new DocumentError('The zip file is encrypted; pack it without a password.');
  if (type === 'folder') {
    await mkdir(path, { recursive: true });
    return;
  }
  await mkdir(dirname(path), { recursive: true });
  // `wx` rejects duplicate names and never overwrites existing files.
  await pipeline(
    await zip.openReadStreamPromise(entry),
    allowance.meter(),
    createWriteStream(path, { flags: 'wx', mode: 0o644 }),
  );
}

/** The upper half of the attributes contains the Unix mode, if the zip file was created on Unix. */
function entryType({ fileName, externalFileAttributes, versionMadeBy }: Entry): 'file' | 'folder' | 'other' {
  const isUnix = versionMadeBy >> 8 === 3 || versionMadeBy >> 8 === 19;
  const kind = (externalFileAttributes >>> 16) & 0o170000;
  if (isUnix && kind !== 0 && kind !== 0o100000 && kind !== 0o040000) return 'other';
  return fileName.endsWith('/') ? 'folder' : 'file';
}

function printable(name: string): string {
  return name.replace(/[^\x20-\x7e]/g, '?').slice(0, 200);
}

/** Keeps file system errors. All others are caused by the content of the zip file. */
function toDocumentError(error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof InstallError || error instanceof DocumentError) return new DocumentError(message);
  if (code === 'EEXIST' || code === 'EISDIR' || code === 'ENOTDIR')
    return new DocumentError('The zip file contains two entries with the same name.');
  if (code === 'ENAMETOOLONG') return new DocumentError('The zip file contains a name that is too long.');
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code)) return error as Error;
  return new DocumentError(`The zip file cannot be unpacked: ${endSentence(printable(message))}`);
}
