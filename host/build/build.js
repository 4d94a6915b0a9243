// @ts-check
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { hasModuleSyntax, isIn, listSources, outputName, root } from './files.js';
import { followSourceMaps } from './source-maps.js';
import { createUnits } from './units.js';

/**
 * @typedef {object} CompiledPlugin
 * @property {URL} entry the module to import.
 * @property {string} version changes with any source.
 * @property {string} folder URL with a trailing slash: holds every version of the plugin's modules, and no other modules.
 */

/**
 * Compiles the host and its plugins where they are not compiled already (see `units.js`).
 *
 * @param {{readonly cacheFolder?: string}} [init] absolute path. Default: `.cache/build` in the checkout.
 */
export function createBuild({ cacheFolder = join(root, '.cache', 'build') } = {}) {
  const { ensureCompiled } = createUnits(cacheFolder);
  /** @type {Promise<string> | undefined} */
  let pluginApi;

  /**
   * Once per process: the host and all its plugins share the classes of one `#plugin-api`, also when its sources change later.
   *
   * @returns {Promise<string>} absolute path of the compiled module.
   */
  function compilePluginApi() {
    const directory = join(root, 'host', 'plugin-api');
    return (pluginApi ??= ensureCompiled({
      name: 'plugin-api',
      directory,
      entries: ['index.ts'],
    }).then((folder) => join(folder, outputName('index.ts'))));
  }

  /** @returns {Promise<string>} absolute path of the compiled files. */
  async function compileHost() {
    const directory = join(root, 'host');
    return ensureCompiled({
      name: 'host',
      directory,
      outside: [join(directory, 'plugin-api')],
      entries: ['serve.ts', 'cli/run.ts'],
      pluginApi: await compilePluginApi(),
      packages: ['commander', 'express', 'helmet', 'ipaddr.js', 'knex', 'node-cron', 'semver'],
    });
  }

  return {
    compileHost,
    compilePluginApi,
    /**
     * Imports a compiled module of the host.
     *
     * @param {string} entry path in the folder of the host: `serve.ts`.
     * @returns {Promise<any>} its exports.
     */
    async importHost(entry) {
      followSourceMaps();
      return import(pathToFileURL(join(await compileHost(), outputName(entry))).href);
    },
    /**
     * Compiles a plugin if it needs that: its entry is TypeScript, or one of its modules imports TypeScript, `#plugin-api` or
     * `#testing`, or is a module in a folder whose package.json, if there is one, does not say so. Node cannot load these. Its
     * packages are not compiled.
     *
     * @param {{readonly directory: string, readonly entry: string}} plugin absolute paths, without symbolic links.
     * @returns {Promise<CompiledPlugin | null>} null: Node can load it as it is.
     * @throws Error with file and line for invalid code.
     */
    async compilePlugin({ directory, entry }) {
      if (!/\.[mc]?ts$/.test(entry) && !listSources(directory).files.some(needsCompiling)) return null;
      // A checkout that is moved, for example into an image, keeps its compiled files.
      const path = isIn(directory, root) ? relative(root, directory) : directory;
      const main = relative(directory, entry);
      const compiled = await ensureCompiled({
        name: `${basename(directory)}-${createHash('sha256').update(path).digest('hex').slice(0, 8)}`,
        directory,
        entries: [main],
        pluginApi: await compilePluginApi(),
      });
      return {
        entry: pathToFileURL(join(compiled, outputName(main))),
        version: compiled,
        folder: pathToFileURL(join(compiled, '..', sep)).href,
      };
    },
  };
}

/** @param {string} file */
function needsCompiling(file) {
  if (!/\.[mc]?js$/.test(file)) return false;
  const text = readFileSync(file, 'utf8');
  return (
    /['"]#(?:plugin-api|testing)['"]/.test(text) ||
    /(?:from|import|import\() ?['"]\.[^'"\n]*\.[mc]?ts['"]/.test(text) ||
    (file.endsWith('.js') && hasModuleSyntax(text) && !isInModulePackage(file))
  );
}

/**
 * Whether Node takes a file that ends with `.js` as a module.
 *
 * @param {string} file absolute path.
 */
function isInModulePackage(file) {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (existsSync(manifest)) {
      try {
        return JSON.parse(readFileSync(manifest, 'utf8')).type === 'module';
      } catch {
        return false;
      }
    }
    if (folder === dirname(folder)) return false;
  }
}
