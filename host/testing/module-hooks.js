// @ts-check
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { hasModuleSyntax } from '../build/files.js';

/**
 * Module hooks, in Node's loader thread, for plugins that Node loads as they are: in their own tests, and in tests of the host.
 *
 * @typedef {object} Data
 * @property {string} [folder] URL with a trailing slash. Default: every folder.
 * @property {string} pluginApi URL of the module that `#plugin-api` means.
 * @property {string} testing URL of the module that `#testing` means.
 * @property {boolean} [compiles] whether TypeScript is compiled. Default: another hook does.
 */

/**
 * Registered once for each folder.
 *
 * @type {Data[]}
 */
const registered = [];

/** @type {import('node:module').InitializeHook<Data>} */
export function initialize(data) {
  registered.push(data);
}

/** @param {string | undefined} url of a module of a plugin, or of another one. */
function find(url) {
  if (url === undefined || url.includes('/node_modules/')) return undefined;
  return registered.find(({ folder = 'file:' }) => url.startsWith(folder));
}

/** @type {import('node:module').ResolveHook} */
export async function resolve(specifier, context, next) {
  const data = find(context.parentURL);
  const url = specifier === '#plugin-api' ? data?.pluginApi : specifier === '#testing' ? data?.testing : undefined;
  if (url !== undefined) return { url, format: 'module', shortCircuit: true };
  const resolved = withoutCommonJs(await next(specifier, context));
  return find(resolved.url) && (await isModule(resolved)) ? { ...resolved, format: 'module' } : resolved;
}

/**
 * tsx looks for the exports of what it takes for CommonJS under another URL.
 *
 * @param {import('node:module').ResolveFnOutput} resolved
 */
function withoutCommonJs(resolved) {
  return find(resolved.url) ? { ...resolved, url: resolved.url.replace(/%3Ftsx-commonjs.*/, '') } : resolved;
}

/** @param {string} url */
function withoutQuery(url) {
  return url.split('?', 1)[0] ?? '';
}

/** @param {import('node:module').ResolveFnOutput} resolved */
async function isModule({ url, format }) {
  const path = withoutQuery(url);
  if (path.endsWith('.ts')) return true;
  if (!path.endsWith('.js') || format === 'module') return false;
  return hasModuleSyntax(await readFile(fileURLToPath(path), 'utf8').catch(() => ''));
}

/** @type {import('node:module').LoadHook} */
export async function load(url, context, next) {
  const path = withoutQuery(url);
  if (!find(url)?.compiles || !path.endsWith('.ts')) return next(url, context);
  const { transform } = await import('esbuild');
  const sourcefile = fileURLToPath(path);
  const { code } = await transform(await readFile(sourcefile, 'utf8'), {
    ...{ loader: 'ts', format: 'esm', target: 'node22.19', sourcefile, sourcemap: 'inline' },
    // Its own tsconfig.json is for its editor; imports stay as they are written.
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  });
  return { format: 'module', source: code, shortCircuit: true };
}
