import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { createRequire, register } from 'node:module';
import { join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PluginDefinition, Migration } from '#plugin-api';
import type { PluginSource } from './manifest.ts';
import { discover, type PluginSearch } from './discover.ts';

/** Imports plugins, and imports them again after their files changed. */
export interface PluginImporter {
  /**
   * Returns the default export of the entry module. Reloads the whole plugin if a file of its folder has changed. Old code
   * stays in memory, because Node never unloads modules.
   *
   * @throws errors of the module, or an Error for an invalid default export.
   */
  load(source: PluginSource): Promise<PluginDefinition>;
  /** Waits until the folder is no longer being read, so that it can be replaced. */
  settled(directory: string): Promise<void>;
}

interface LoadedModule {
  readonly generation: number;
  /** Computed in parallel with the import, because only the next import needs it. */
  readonly fingerprint: Promise<string>;
  failed: boolean;
}

/**
 * State of a plugin's files by the URL of the entry module that was imported. Node keeps the code of a URL for the life of
 * the process, so the state at its first import is the one to compare with, whichever importer asks.
 */
const fingerprints = new Map<string, Promise<string>>();

export function createPluginImporter(): PluginImporter {
  const loaded = new Map<string, LoadedModule>();
  const hooked = new Set<string>();

  const nextGeneration = async ({ directory }: PluginSource): Promise<number> => {
    const before = loaded.get(directory);
    if (!before) return 0;
    // The cause may be outside the folder, and without a new generation Node would repeat the error.
    const changed = before.failed || (await before.fingerprint) !== (await computeFingerprint(directory));
    return changed ? before.generation + 1 : before.generation;
  };

  return {
    async load(source) {
      const generation = await nextGeneration(source);
      const url = pathToFileURL(source.entry);
      if (generation > 0) {
        if (!hooked.has(source.directory))
          register('./reload-hooks.ts', import.meta.url, {
            data: { folder: `${pathToFileURL(source.directory).href}/` },
          });
        hooked.add(source.directory);
        forgetCommonJs(source.directory);
        url.searchParams.set('generation', String(generation));
      }
      const fingerprint = fingerprints.get(url.href) ?? computeFingerprint(source.directory).catch(() => '');
      fingerprints.set(url.href, fingerprint);
      const state: LoadedModule = { generation, fingerprint, failed: false };
      loaded.set(source.directory, state);
      try {
        return readDefinition((await import(url.href)) as { default?: unknown }, source.manifest.main);
      } catch (error) {
        state.failed = true;
        throw error;
      }
    },
    settled: async (directory) => void (await loaded.get(directory)?.fingerprint),
  };
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
  return definition as PluginDefinition;
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
 * Computes a hash of the names, sizes and times of the plugin files. Reading their content would slow down every start. A file
 * that is rewritten with the same content counts as changed.
 */
async function computeFingerprint(directory: string): Promise<string> {
  const files = await listFiles(directory);
  const states = await Promise.all(files.map((file) => stat(file, { bigint: true })));
  const lines = states.map(
    ({ size, mtimeNs, ctimeNs, ino }, index) =>
      `${relative(directory, files[index] ?? '')}\0${[size, mtimeNs, ctimeNs, ino].join(' ')}`,
  );
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}

async function listFiles(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const lists = entries.map(async (entry): Promise<string[]> => {
    if (entry.name === 'node_modules' || entry.name.startsWith('.')) return [];
    const path = join(directory, entry.name);
    return entry.isDirectory() ? listFiles(path) : entry.isFile() ? [path] : [];
  });
  return (await Promise.all(lists)).flat().sort();
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
