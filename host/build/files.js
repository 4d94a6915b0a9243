// @ts-check
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Absolute path of the checkout, with a trailing slash. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * @typedef {object} Sources absolute paths.
 * @property {readonly string[]} folders
 * @property {readonly string[]} files
 */

/**
 * Lists the files of a folder, sorted, without `node_modules` and names that begin with a dot. Synchronous, because that takes
 * a third of the processor time.
 *
 * @param {string} directory absolute path.
 * @param {object} [init]
 * @param {readonly string[]} [init.outside] folders to leave out.
 * @param {(file: string) => boolean} [init.isSource] default: code.
 * @returns {Sources}
 */
export function listSources(directory, { outside = [], isSource = isCode } = {}) {
  /** @type {string[]} */
  const files = [];
  const folders = [directory];
  // Grows while it is read.
  for (const folder of folders)
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.name === 'node_modules' || entry.name.startsWith('.')) continue;
      const path = folder + sep + entry.name;
      if (entry.isDirectory() && !outside.includes(path)) folders.push(path);
      else if (entry.isFile() && isSource(path)) files.push(path);
    }
  return { folders: folders.sort(), files: files.sort() };
}

/**
 * Computes a hash of the names, sizes, times and inodes of files and folders; a folder's time changes with the names in it.
 * Reading them would slow down every start. A file that is rewritten with the same content counts as changed.
 *
 * @param {string} directory names are relative to it.
 * @param {readonly string[]} paths absolute.
 */
export function hashStates(directory, paths) {
  const hash = createHash('sha256');
  let text = '';
  for (const path of paths) {
    const state = statSync(path, { throwIfNoEntry: false });
    const name = isIn(path, directory) ? path.slice(directory.length) : relative(directory, path);
    text += `${name}\0${state?.size} ${state?.mtimeMs} ${state?.ctimeMs} ${state?.ino}\n`;
  }
  return hash.update(text).digest('hex');
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

/**
 * Whether the code has imports or exports, so that it is no CommonJS.
 *
 * @param {string} text
 */
export function hasModuleSyntax(text) {
  return /^(?:import\b\s*[^\s(]|export\b)/m.test(text);
}
