// @ts-check
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Absolute path of the checkout, with a trailing slash. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Lists the files of a folder, sorted, without `node_modules` and names that begin with a dot. Synchronous, because that takes
 * a third of the processor time.
 *
 * @param {string} directory absolute path.
 * @returns {string[]} absolute paths.
 */
export function listFiles(directory) {
  return readdirSync(directory, { withFileTypes: true })
    .sort((left, right) => (left.name < right.name ? -1 : 1))
    .flatMap((entry) => {
      if (entry.name === 'node_modules' || entry.name.startsWith('.')) return [];
      const path = join(directory, entry.name);
      return entry.isDirectory() ? listFiles(path) : entry.isFile() ? [path] : [];
    });
}

/**
 * Computes a hash of the names, sizes, times and inodes of files. Reading their content would slow down every start. A file
 * that is rewritten with the same content counts as changed.
 *
 * @param {string} directory names are relative to it.
 * @param {readonly string[]} files absolute paths.
 */
export function hashStates(directory, files) {
  const hash = createHash('sha256');
  for (const file of files) {
    const { size, mtimeMs, ctimeMs, ino } = statSync(file);
    hash.update(`${relative(directory, file)}\0${size} ${mtimeMs} ${ctimeMs} ${ino}\n`);
  }
  return hash.digest('hex');
}

/**
 * Computes a hash of the names and contents of files.
 *
 * @param {string} directory names are relative to it.
 * @param {readonly string[]} files absolute paths.
 */
export function hashContents(directory, files) {
  const hash = createHash('sha256');
  for (const file of files) {
    const content = readFileSync(file);
    hash.update(`${relative(directory, file)}\0${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

/**
 * Whether esbuild can compile it.
 *
 * @param {string} file
 */
export function isCode(file) {
  return /\.([mc]?[jt]sx?|json|css|txt)$/.test(file);
}

/**
 * @param {string} file
 * @param {string} directory
 */
export function isIn(file, directory) {
  return file.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/**
 * The name of a compiled entry. All modules of a unit are in one folder, so that the way from there to a source is known.
 *
 * @param {string} entry relative to the directory of the unit.
 */
export function outputName(entry) {
  return `${entry.replace(/\.[mc]?[jt]sx?$/, '').replaceAll(sep, '.')}.mjs`;
}
