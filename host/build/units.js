// @ts-check
import { createHash, randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { hashContents, hashStates, isIn, listSources, root } from './files.js';

/** @import { Sources } from './files.js' */

/**
 * What is compiled together: the plugin API, the host, and each plugin.
 *
 * @typedef {object} Unit
 * @property {string} name of the folder in the cache.
 * @property {string} directory absolute path of the sources.
 * @property {readonly string[]} [outside] folders in it that are not part of it, absolute paths.
 * @property {readonly string[]} entries relative to the directory.
 * @property {string} [pluginApi] absolute path of the compiled `#plugin-api`.
 * @property {readonly string[]} [packages] names of packages that become part of it.
 *
 * @typedef {object} Last
 * @property {string} states of the sources when they were last read.
 * @property {string} key of their content.
 * @property {string} directory of the sources, relative to the checkout.
 * @property {readonly string[]} folders of the sources, relative to their directory.
 * @property {readonly string[]} files the sources, relative to their directory.
 */

/** Compiled versions of each unit in the cache, because running processes load parts of older ones later. */
const storedVersions = 10;

/** Read by esbuild or part of the compiler: each of them changes what is compiled. */
const shared = [
  'package.json',
  'tsconfig.json',
  ...['build', 'bundle', 'files', 'merge', 'units'].map((name) => `host/build/${name}.js`),
  // Written by each install. Packages are compiled into the host.
  ['node_modules/.package-lock.json', 'package-lock.json'].find((file) => existsSync(join(root, file))) ??
    'package.json',
].map((file) => join(root, file));

/**
 * Stores compiled units in `<cache folder>/<unit>/<key>`. The key is a hash of all sources, so compiled files are never out of
 * date, and going back to an older version finds its files again. While names, sizes, times and inodes of the sources are
 * those of the last time, no source is read and esbuild is not loaded. Several processes may compile the same unit at once:
 * each writes another folder and renames it.
 *
 * @param {string} cacheFolder absolute path. If it cannot be written, the process compiles into a temporary folder.
 */
export function createUnits(cacheFolder) {
  /** @type {string | null} */
  let temporaryFolder = null;

  return {
    /**
     * @param {Unit} unit
     * @returns {Promise<string>} absolute path of the folder with the compiled files.
     * @throws Error with file and line for invalid code.
     */
    async ensureCompiled(unit) {
      const found =
        findCurrent(cacheFolder, unit) ?? (temporaryFolder === null ? null : findCurrent(temporaryFolder, unit));
      if (found !== null) return found;
      if (temporaryFolder !== null) return compile(temporaryFolder, unit);
      try {
        return await compile(cacheFolder, unit);
      } catch (error) {
        const { code } = /** @type {NodeJS.ErrnoException} */ (error);
        if (code === undefined || !['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'ENOTDIR'].includes(code)) throw error;
        temporaryFolder = createTemporaryFolder(cacheFolder, code);
        return compile(temporaryFolder, unit);
      }
    },
  };
}

/**
 * @param {string} cacheFolder
 * @param {string} reason
 */
function createTemporaryFolder(cacheFolder, reason) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-build-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  process.stderr.write(
    `Compiled code cannot be stored in ${cacheFolder} (${reason}), so each start compiles it again. ` +
      `Run this once where the folder can be written: npm run build\n`,
  );
  return folder;
}

/**
 * @param {string} base
 * @param {Unit} unit
 * @returns {string | null} the folder with the compiled files, if they are up to date.
 */
function findCurrent(base, unit) {
  const folder = join(base, unit.name);
  const last = readLast(folder);
  if (last === null) return null;
  const { directory } = unit;
  /** @param {string} path */
  const absolute = (path) => (path === '' ? directory : directory + sep + path);
  const known = { folders: last.folders.map(absolute), files: last.files.map(absolute) };
  if (last.states === readStates(unit, known)) return markUsed(join(folder, last.key));
  const sources = listSources(directory, unit);
  const states = readStates(unit, sources);
  const key = readKey(unit, sources);
  if (!existsSync(join(folder, key))) return null;
  rememberLast(folder, { unit, states, key, sources });
  return markUsed(join(folder, key));
}

/**
 * @param {string} base
 * @param {Unit} unit
 * @returns {Promise<string>} absolute path of the folder with the compiled files.
 */
async function compile(base, unit) {
  const folder = join(base, unit.name);
  const { bundle } = await import('./bundle.js');
  for (;;) {
    const sources = listSources(unit.directory, unit);
    const states = readStates(unit, sources);
    const key = readKey(unit, sources);
    const compiled = join(folder, key);
    const unfinished = join(folder, `.${randomUUID()}`);
    mkdirSync(unfinished, { recursive: true });
    try {
      await bundle({ ...unit, files: sources.files, output: unfinished, isInCheckout: isIn(base, root) });
      // A source that changed meanwhile would be compiled under the key of its former content.
      if (readStates(unit, sources) !== states) continue;
      if (!existsSync(compiled)) renameFolder(unfinished, compiled);
      rememberLast(folder, { unit, states, key, sources });
      removeOld(folder, key);
      removeUnused(base);
      return compiled;
    } finally {
      rmSync(unfinished, { recursive: true, force: true });
    }
  }
}

/**
 * @param {string} from
 * @param {string} to may appear meanwhile with the same content, from another process.
 */
function renameFolder(from, to) {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!existsSync(to)) throw error;
  }
}

/**
 * @param {Unit} unit
 * @param {Sources} sources
 */
function readStates({ directory, entries, pluginApi = root }, { folders, files }) {
  return [hashStates(directory, [...folders, ...files, ...shared]), ...entries, relative(root, pluginApi)].join(' ');
}

/**
 * @param {Unit} unit
 * @param {Sources} sources
 */
function readKey({ directory, entries, pluginApi = root }, { files }) {
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules', 'esbuild', 'package.json'), 'utf8'));
  return createHash('sha256')
    .update([version, hashContents(directory, [...files, ...shared]), ...entries, relative(root, pluginApi)].join('\n'))
    .digest('hex')
    .slice(0, 32);
}

/**
 * @param {string} folder
 * @returns {Last | null}
 */
function readLast(folder) {
  try {
    const last = JSON.parse(readFileSync(join(folder, 'last.json'), 'utf8'));
    return Array.isArray(last.files) ? last : null;
  } catch {
    return null;
  }
}

/**
 * @param {string} folder
 * @param {object} init
 * @param {Unit} init.unit
 * @param {string} init.states
 * @param {string} init.key
 * @param {Sources} init.sources
 */
function rememberLast(folder, { unit: { directory }, states, key, sources }) {
  /** @param {string} path */
  const name = (path) => relative(directory, path);
  /** @type {Last} */
  const last = {
    ...{ states, key, directory: relative(root, directory) },
    ...{ folders: sources.folders.map(name), files: sources.files.map(name) },
  };
  const unfinished = join(folder, `.${randomUUID()}`);
  try {
    writeFileSync(unfinished, JSON.stringify(last));
    renameSync(unfinished, join(folder, 'last.json'));
  } catch {
    // A folder that cannot be written: the next start reads the sources again.
  }
}

/** @param {string} compiled */
function markUsed(compiled) {
  try {
    const { mtimeMs } = statSync(compiled);
    const now = readTime();
    if (now - mtimeMs > 3_600_000) utimesSync(compiled, now / 1000, now / 1000);
  } catch {
    if (!existsSync(compiled)) return null;
  }
  return compiled;
}

/**
 * Removes the versions that were not used for the longest time, and what a process left that ended in the middle.
 *
 * @param {string} folder
 * @param {string} current
 */
function removeOld(folder, current) {
  const versions = readdirSync(folder)
    .filter((name) => /^[0-9a-f]{32}$/.test(name) && name !== current)
    .map((name) => ({ name, usedAt: statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((left, right) => right.usedAt - left.usedAt);
  for (const { name } of versions.slice(storedVersions - 1))
    rmSync(join(folder, name), { recursive: true, force: true });
  for (const name of readdirSync(folder).filter((each) => each.startsWith('.'))) {
    const changedAt = statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (readTime() - changedAt > 3_600_000) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/**
 * Removes units whose sources are gone, such as uninstalled plugins.
 *
 * @param {string} base
 */
function removeUnused(base) {
  for (const name of readdirSync(base)) {
    const last = readLast(join(base, name));
    if (last !== null && !existsSync(join(root, last.directory)))
      rmSync(join(base, name), { recursive: true, force: true });
  }
}

/** @returns {number} milliseconds since the epoch. `performance` would load more of Node with each command. */
function readTime() {
  // eslint-disable-next-line no-restricted-syntax -- the clock belongs to the host, which is not loaded yet.
  return Date.now();
}
