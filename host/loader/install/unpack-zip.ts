import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Entry, ZipFile } from 'yauzl';
import { createAllowance, type Allowance, type InstallLimits } from './allowance.ts';
import { InstallError } from './allowance.ts';

/**
 * Unpacks a zip into an empty folder, entry by entry. Nothing in it is trusted: names must stay inside, links and
 * encrypted entries are refused, sizes are counted while they are inflated.
 *
 * @throws InstallError that says what is wrong with the zip.
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
  // Needed by those who install, not by every start.
  const { openPromise } = await import('yauzl');
  try {
    const zip = await openPromise(file, { lazyEntries: true, strictFileNames: true, autoClose: false });
    try {
      for await (const entry of zip.eachEntry()) await unpackEntry({ zip, entry, target, allowance });
    } finally {
      zip.close();
    }
  } catch (error) {
    throw refusalOf(error);
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
  // What macOS adds to the zips it makes.
  if (fileName.startsWith('__MACOSX/') || /(^|\/)\.DS_Store$/.test(fileName)) return;
  allowance.entry();
  const path = join(target, fileName);
  if (fileName.includes('\0') || !path.startsWith(target + sep))
    throw new InstallError(`The zip holds '${printable(fileName)}', which leads out of the plugin's folder.`);
  const type = fileTypeOf(entry);
  if (type !== 'file' && type !== 'folder')
    throw new InstallError(
      `The zip holds '${printable(fileName)}', which is neither a file nor a folder; links are not taken.`,
    );
  if (entry.isEncrypted()) throw new InstallError('The zip is encrypted; pack it without a password.');
  if (type === 'folder') {
    await mkdir(path, { recursive: true });
    return;
  }
  await mkdir(dirname(path), { recursive: true });
  // `wx`: a name that comes twice is refused, and nothing that is there is ever written through.
  await pipeline(
    await zip.openReadStreamPromise(entry),
    allowance.meter(),
    createWriteStream(path, { flags: 'wx', mode: 0o644 }),
  );
}

/** Unix modes stand in the upper half of the attributes; zips made elsewhere have none. */
function fileTypeOf({ fileName, externalFileAttributes, versionMadeBy }: Entry): 'file' | 'folder' | 'other' {
  const isUnix = versionMadeBy >> 8 === 3 || versionMadeBy >> 8 === 19;
  const kind = (externalFileAttributes >>> 16) & 0o170000;
  if (isUnix && kind !== 0 && kind !== 0o100000 && kind !== 0o040000) return 'other';
  return fileName.endsWith('/') ? 'folder' : 'file';
}

function printable(name: string): string {
  return name.replace(/[^\x20-\x7e]/g, '?').slice(0, 200);
}

/** Errors of the disk stay what they are; all others come from what is in the zip. */
function refusalOf(error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof InstallError) return error;
  if (code === 'EEXIST' || code === 'EISDIR' || code === 'ENOTDIR')
    return new InstallError('The zip holds two entries of the same name.', { cause: error });
  if (code === 'ENAMETOOLONG') return new InstallError('The zip holds a name that is too long.', { cause: error });
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code)) return error as Error;
  return new InstallError(`The zip cannot be unpacked: ${printable(message)}.`, { cause: error });
}
