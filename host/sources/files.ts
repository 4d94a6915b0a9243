import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Absolute path of the checkout, with a trailing slash. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Absolute paths. */
export interface Sources {
  readonly folders: string[];
  readonly files: string[];
}

/**
 * Lists the files of a folder, sorted, without `node_modules` and names that begin with a dot. Synchronous, because that takes
 * a third of the processor time.
 *
 * @param directory absolute path.
 * @param isSource gets absolute paths. Default: all files.
 */
export function listSources(directory: string, isSource: (file: string) => boolean = () => true): Sources {
  const files: string[] = [];
  const folders = [directory];
  // Grows while it is read.
  for (const folder of folders)
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.name === 'node_modules' || entry.name.startsWith('.')) continue;
      const path = folder + sep + entry.name;
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile() && isSource(path)) files.push(path);
    }
  return { folders: folders.sort(), files: files.sort() };
}

/**
 * Computes a hash of the names, sizes, times and inodes of files and folders; a folder's time changes with the names in it.
 * Reading them would slow down every start. A file that is rewritten with the same content counts as changed.
 *
 * @param directory names are relative to it.
 * @param paths absolute.
 */
export function hashStates(directory: string, paths: readonly string[]): string {
  const lines = paths.map((path) => {
    const state = statSync(path, { throwIfNoEntry: false });
    return `${relative(directory, path)}\0${[state?.size, state?.mtimeMs, state?.ctimeMs, state?.ino].join(' ')}\n`;
  });
  return createHash('sha256').update(lines.join('')).digest('hex');
}

/**
 * Computes a hash of the names and contents of files.
 *
 * @param directory names are relative to it.
 * @param files absolute paths.
 */
export function hashContents(directory: string, files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) {
    const content = readFileSync(file);
    hash.update(`${relative(directory, file)}\0${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}
