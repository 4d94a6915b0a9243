// @ts-check
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, stop } from 'esbuild';
import { isIn, outputName, root } from './files.js';
import { merge } from './merge.js';

/** @import { BuildOptions, Metafile, Plugin } from 'esbuild' */
/** @import { Unit } from './units.js' */

/**
 * @typedef {Unit & {
 *   readonly files: readonly string[],
 *   readonly output: string,
 *   readonly isInCheckout: boolean,
 * }} BundleInit `files`: the sources. `output`: an empty folder. `isInCheckout`: it is in the checkout, so the checkout can be moved.
 */

/** Units that esbuild compiles at the moment. */
let running = 0;

/** @satisfies {BuildOptions} */
const common = {
  absWorkingDir: root,
  bundle: true,
  outExtension: { '.js': '.mjs' },
  format: 'esm',
  platform: 'node',
  target: 'node22.19',
  sourcemap: 'linked',
  sourcesContent: false,
  logLevel: 'silent',
};

/** A module that runs by its URL, as readers of documents do in threads. */
const moduleUrl = /new URL\(\s*'(\.{1,2}\/[^'\n]+\.[mc]?ts)',\s*import\.meta\.url,?\s*\)/g;

/**
 * Compiles a unit: few files instead of many, because each file that Node loads costs processor time. Imports stay lazy where
 * they are, and packages stay packages.
 *
 * @param {BundleInit} init
 * @throws Error with file and line for invalid code.
 */
export async function bundle(init) {
  const { directory, entries, files, output } = init;
  const sources = readSources(files);
  const modules = [...sources].flatMap(([file, text]) => findModules(file, text));
  const inputs = [...new Set([...entries.map((entry) => join(directory, entry)), ...modules])].map((input) => ({
    in: input,
    out: outputName(relative(directory, input)),
  }));
  const split = join(output, 'split');
  running += 1;
  try {
    const { metafile } = await build({
      ...common,
      entryPoints: inputs.map(({ in: input, out }) => ({ in: input, out: out.slice(0, -4) })),
      outdir: split,
      splitting: true,
      chunkNames: 'part-[hash]',
      // Without esbuild's own condition `module`: what Node would load.
      conditions: [],
      metafile: true,
      banner: { js: requireFromHere },
      plugins: [resolveImports(init), keepUrls(init, sources)],
    });
    requireListed(metafile, files);
    const merged = await merge({
      metafile,
      input: split,
      entries: inputs.map(({ out }) => out),
      options: { ...common, outdir: output },
    });
    rmSync(split, { recursive: true });
    await Promise.all(merged.map(storeSafely));
  } catch (error) {
    throw new Error(describe(error), { cause: error });
  } finally {
    running -= 1;
    // Its process holds tens of megabytes.
    if (running === 0) await stop();
  }
}

/**
 * A module that is not listed would not count as a source, so its changes would be missed.
 *
 * @param {Metafile} metafile
 * @param {readonly string[]} files
 */
function requireListed({ inputs }, files) {
  const missing = Object.keys(inputs).find((input) => !files.includes(join(root, input)) && !isOfPackage(input));
  if (missing !== undefined)
    throw new Error(`${missing} appeared while it was compiled, or is in a folder that is not searched. Start again.`);
}

/**
 * After this, not even a loss of power leaves half a file behind.
 *
 * @param {string} output relative to the checkout.
 */
async function storeSafely(output) {
  const file = await open(join(root, output), 'r+');
  try {
    await file.datasync();
  } finally {
    await file.close();
  }
}

/**
 * @param {readonly string[]} files
 * @returns {Map<string, string>} those that depend on where they are.
 */
function readSources(files) {
  /** @type {Map<string, string>} */
  const found = new Map();
  for (const file of files) {
    if (!/\.[mc]?[jt]s$/.test(file)) continue;
    const text = readFileSync(file, 'utf8');
    if (text.includes('import.meta.')) found.set(file, text);
  }
  return found;
}

/**
 * @param {string} file
 * @param {string} text
 * @returns {string[]} absolute paths.
 */
function findModules(file, text) {
  return [...text.matchAll(moduleUrl)]
    .map(([, path]) => join(dirname(file), path ?? ''))
    .filter((path) => existsSync(path));
}

/** Native modules, and large tables that few requests need. */
const outside = ['better-sqlite3', 'iconv-lite', 'mime-db', 'pg'];

/** Of knex. It loads them by name, which no site does. */
const otherDialects = /knex.lib.dialects.(?:cockroachdb|mariadb|mssql|mysql2?|oracle|oracledb|pgnative|redshift)\b/;

/** CommonJS requires modules of Node and packages. */
const requireFromHere = `import { createRequire as createRequireHere } from 'node:module';
const require = /* @__PURE__ */ (() => createRequireHere(import.meta.url))();`;

/** What `#testing` is for compiled plugins. */
const testing = join(root, 'host', 'testing', 'compiled.js');

/**
 * Leaves `#plugin-api`, `#testing` and most packages outside. A package that Node would not find from the output folder gets its path.
 *
 * @param {BundleInit} init
 * @returns {Plugin}
 */
function resolveImports({ directory, output, isInCheckout, pluginApi, packages = [] }) {
  const ownPackages = join(root, 'node_modules') + sep;
  return {
    name: 'imports',
    setup(bundler) {
      bundler.onResolve({ filter: /^#(?:plugin-api|testing)$/ }, ({ path: name }) => {
        const path = name === '#testing' ? testing : pluginApi;
        if (path === undefined) return undefined;
        return {
          path: isInCheckout ? relative(output, path).replaceAll(sep, '/') : pathToFileURL(path).href,
          external: true,
        };
      });
      bundler.onResolve({ filter: /^\.{1,2}\// }, ({ path, kind, resolveDir }) => {
        const file = join(resolveDir, path);
        if (isOfPackage(file) && otherDialects.test(file)) return { path: file, external: true };
        if (kind === 'entry-point' || isIn(file, directory) || isOfPackage(file)) return undefined;
        if (!/\.[mc]?ts$/.test(path)) return { path: pathToFileURL(file).href, external: true };
        return {
          errors: [{ text: `${path} is outside of the plugin; import only its files, packages and #plugin-api` }],
        };
      });
      bundler.onResolve({ filter: /^[^./#]/ }, async ({ path, kind, resolveDir, pluginData }) => {
        if (pluginData === 'resolving' || kind === 'entry-point' || path.startsWith('node:')) return undefined;
        const found = await bundler.resolve(path, { kind, resolveDir, pluginData: 'resolving' });
        if (found.external || found.errors.length > 0) return { path, external: true };
        if (packages.includes(packageName(path)) || (isOfPackage(resolveDir) && !outside.includes(path))) return found;
        const isOwn = isInCheckout && existsSync(join(ownPackages, packageName(path)));
        const isFromCheckout = isOwn && (resolveDir.startsWith(root) || isOfPackage(resolveDir));
        if (isFromCheckout) return { path, external: true };
        return { path: kind === 'require-call' ? found.path : pathToFileURL(found.path).href, external: true };
      });
    },
  };
}

/**
 * Keeps `import.meta` what it is for the source, because pages, assets and folders are found by it. A module that runs by its
 * URL becomes the compiled one.
 *
 * @param {BundleInit} init
 * @param {ReadonlyMap<string, string>} sources
 * @returns {Plugin}
 */
function keepUrls({ directory, output, isInCheckout }, sources) {
  return {
    name: 'urls',
    setup(bundler) {
      if (sources.size === 0) return;
      const escaped = [...sources.keys()].map((file) => file.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
      bundler.onLoad({ filter: new RegExp(`^(?:${escaped.join('|')})$`) }, ({ path }) => {
        const isMovable = isInCheckout && path.startsWith(root);
        const url = isMovable
          ? `new URL(${JSON.stringify(relative(output, path).replaceAll(sep, '/'))}, import.meta.url).href`
          : JSON.stringify(pathToFileURL(path).href);
        const contents = (sources.get(path) ?? '')
          .replace(moduleUrl, (whole, target) => {
            const module = join(dirname(path), target);
            if (!existsSync(module)) return whole;
            return `new URL('./${outputName(relative(directory, module))}', import.meta["url"])`;
          })
          .replaceAll('import.meta.url', url)
          .replaceAll('import.meta.dirname', `process.getBuiltinModule('node:url').fileURLToPath(new URL('.', ${url}))`)
          .replaceAll('import.meta["url"]', 'import.meta.url');
        return { contents, loader: /\.[mc]?ts$/.test(path) ? 'ts' : 'js' };
      });
    },
  };
}

/** @param {string} path */
function isOfPackage(path) {
  return path.split(sep).includes('node_modules');
}

/** @param {string} path of an import: `@scope/package/file.js`. */
function packageName(path) {
  return path.split('/', path.startsWith('@') ? 2 : 1).join('/');
}

/** @param {unknown} error */
function describe(error) {
  const { errors = [], message } = /** @type {import('esbuild').BuildFailure} */ (error);
  const [first] = errors;
  if (first === undefined) return message;
  const position = first.location
    ? ` (${first.location.file}:${first.location.line}:${first.location.column + 1})`
    : '';
  return `${first.text}${position}`;
}
