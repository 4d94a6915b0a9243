import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { asRecord, type PluginDefinition, type Migration } from '#plugin-api';
import { hashStates, listSources } from '../sources/files.ts';
import { isShipped } from './shipped.ts';
import { followGenerations } from '../sources/module-hooks.ts';
import type { PluginSource } from './manifest.ts';
import { discover, type PluginSearch } from './discover.ts';

/** Imports plugins, and imports them again after their files changed. */
export interface PluginImporter {
  /**
   * Returns the default export of the entry module. Reloads the whole plugin if a file of its folder has changed, unless it ships
   * with the host. Old code stays in memory, because Node never unloads modules.
   *
   * @throws errors of the module, or an Error for an invalid default export.
   */
  load(source: PluginSource): Promise<PluginDefinition>;
}

interface LoadedModule {
  generation: number;
  /** Of all files of the plugin. */
  fingerprint: string;
  failed: boolean;
}

/**
 * State of a plugin's files by folder. Node keeps the code of a module for the life of the process, so the state at its first
 * import is the one to compare with, whichever importer asks.
 */
const firstFingerprints = new Map<string, string>();

export function createPluginImporter(): PluginImporter {
  const loaded = new Map<string, LoadedModule>();

  return {
    async load(source) {
      const { directory } = source;
      const before = loaded.get(directory);
      const state: LoadedModule = { generation: before?.generation ?? 0, fingerprint: '', failed: true };
      loaded.set(directory, state);
      state.fingerprint = readFingerprint(directory, before === undefined);
      // The cause may be outside the folder, and without a new generation Node would repeat the error.
      if (before && (before.failed || before.fingerprint !== state.fingerprint)) state.generation += 1;
      const entry = pathToFileURL(source.entry);
      if (state.generation > 0) {
        followGenerations(`${pathToFileURL(directory).href}/`);
        forgetCommonJs(directory);
        entry.searchParams.set('generation', String(state.generation));
      }
      const module = (await import(entry.href).catch((error: unknown) => explainSyntax(error, directory))) as {
        default?: unknown;
      };
      const definition = readDefinition(module, source.manifest.main);
      state.failed = false;
      return definition;
    },
  };
}

/**
 * Adds the place to the error of code that cannot be read, which Node has in the first line of the stack at most, and what TypeScript
 * must be like.
 */
async function explainSyntax(error: unknown, directory: string): Promise<never> {
  if (!(error instanceof SyntaxError)) throw error;
  const position = positionOf(error.stack) ?? (await findBroken(directory));
  if (position === null) throw error;
  const advice =
    (error as NodeJS.ErrnoException).code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX'
      ? '. Node removes types and changes nothing else: write constants instead of enums, and no namespaces and parameter properties'
      : /\.ts:\d+$/.test(position) && error.message.includes('does not provide an export')
        ? '. If it is a type, write import type'
        : '';
  throw new Error(`${error.message}${advice} (${position})`, { cause: error });
}

/** `path:line`, from what Node writes before the message. */
function positionOf(text = ''): string | null {
  const [first = ''] = text.split(/\r?\n/, 1);
  return /^(?:file:\/\/)?(.+\.[mc]?[jt]s:\d+)$/.exec(first.replace(/\?generation=\d+/, ''))?.[1] ?? null;
}

/** Of JavaScript modules Node names no position: it is asked about each file, of the first hundred. */
async function findBroken(directory: string): Promise<string | null> {
  const { files } = listSources(directory, (file) => /\.[mc]?js$/.test(file));
  for (const file of files.slice(0, 100)) {
    const checked = promisify(execFile)(process.execPath, ['--check', file]);
    const position = await checked.then(
      () => null,
      ({ stderr }: { stderr?: string }) => positionOf(stderr),
    );
    if (position !== null) return position;
  }
  return null;
}

/**
 * What ships with the host changes with it, in another process: its files, hundreds of them, are not looked at.
 *
 * @param isFirst whether the importer imports the plugin for the first time.
 */
function readFingerprint(directory: string, isFirst: boolean): string {
  if (isShipped(directory)) return '';
  const known = isFirst ? firstFingerprints.get(directory) : undefined;
  const fingerprint = known ?? hashStates(directory, listSources(directory).files);
  if (isFirst) firstFingerprints.set(directory, fingerprint);
  return fingerprint;
}

/** CommonJS compiled from an ES module has its default export one level deeper. */
function readDefinition(module: { default?: unknown }, main: string): PluginDefinition {
  const exported = module.default as (Partial<PluginDefinition> & { default?: Partial<PluginDefinition> }) | undefined;
  const definition = exported?.default ?? exported;
  if (typeof definition !== 'object')
    throw new Error(`${main} has no default export; write: export default { register(host) {} }`);
  if (typeof definition.register !== 'function')
    throw new Error(
      `The default export of ${main} has no function 'register'; write: export default { register(host) {} }`,
    );
  for (const name of ['activate', 'deactivate', 'uninstall', 'upgrade', 'health'] as const) {
    if (definition[name] !== undefined && typeof definition[name] !== 'function')
      throw new Error(`'${name}' in the default export of ${main} must be a function.`);
  }
  if (definition.migrations !== undefined && !Array.isArray(definition.migrations))
    throw new Error(`'migrations' in the default export of ${main} must be an array.`);
  definition.migrations?.forEach((migration, index) => requireMigration(migration, index, main));
  return definition as PluginDefinition;
}

/** @throws Error without a name under which it is recorded, or without work. */
function requireMigration(migration: unknown, index: number, main: string): void {
  const { id, up } = asRecord(migration);
  if (typeof id !== 'string' || id.trim() === '')
    throw new Error(
      `Migration ${index + 1} in the default export of ${main} has no 'id'. Give it one that never changes, such as '0001_items'.`,
    );
  if (typeof up !== 'function')
    throw new Error(`The migration '${id}' in the default export of ${main} has no function 'up'.`);
}

/** Node caches CommonJS modules by path, regardless of the import URL. */
function forgetCommonJs(directory: string): void {
  const { cache } = createRequire(import.meta.url);
  for (const path of Object.keys(cache)) {
    if (!path.startsWith(directory + sep) || path.slice(directory.length).includes(`${sep}node_modules${sep}`))
      continue;
    // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- the cache of Node is an object
    delete cache[path];
  }
}

/**
 * Reads the migrations of all plugins by slug without starting any, because a restore needs them even if the site cannot
 * start.
 */
export async function readMigrations(search: PluginSearch): Promise<Map<string, readonly Migration[]>> {
  const { plugins } = await discover(search);
  const importer = createPluginImporter();
  const found = new Map<string, readonly Migration[]>();
  for (const [slug, source] of plugins) {
    const definition = await importer.load(source).catch(() => null);
    if (definition?.migrations) found.set(slug, definition.migrations);
  }
  return found;
}
