import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { createRequire, register } from 'node:module';
import { join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PluginDefinition, Migration } from '#plugin-api';
import type { PluginSource } from './manifest.ts';
import { discover, type Places } from './discover.ts';

/** Imports plugins, and imports them anew after their files changed. */
export interface PluginImporter {
  /**
   * The default export of the entry module. The same module as before while no file of the folder changed; else the
   * whole plugin is loaded again. Code that was loaded before stays in memory, as Node never forgets a module.
   *
   * @throws what the module throws, or an Error that says what is missing from it.
   */
  load(source: PluginSource): Promise<PluginDefinition>;
  /** Waits until nothing of the folder is being read, so that another version can take its place. */
  settled(directory: string): Promise<void>;
}

interface Loaded {
  readonly generation: number;
  /** Computed beside the import, since it is only needed for the next one. */
  readonly fingerprint: Promise<string>;
  failed: boolean;
}

export function createPluginImporter(): PluginImporter {
  const loaded = new Map<string, Loaded>();
  const hooked = new Set<string>();

  const nextGeneration = async ({ directory }: PluginSource): Promise<number> => {
    const before = loaded.get(directory);
    if (!before) return 0;
    // What failed to load may have failed for a reason outside its folder; Node would only repeat the error.
    const changed = before.failed || (await before.fingerprint) !== (await fingerprintOf(directory));
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
      const state: Loaded = { generation, fingerprint: fingerprintOf(source.directory).catch(() => ''), failed: false };
      loaded.set(source.directory, state);
      try {
        return definitionOf((await import(url.href)) as { default?: unknown }, source.manifest.main);
      } catch (error) {
        state.failed = true;
        throw error;
      }
    },
    settled: async (directory) => void (await loaded.get(directory)?.fingerprint),
  };
}

/** A CommonJS entry compiled from a module has its default export one level deeper. */
function definitionOf(module: { default?: unknown }, main: string): PluginDefinition {
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

/** CommonJS modules are known by path alone, whatever the address they are imported by. */
function forgetCommonJs(directory: string): void {
  const { cache } = createRequire(import.meta.url);
  for (const path of Object.keys(cache)) {
    if (!path.startsWith(directory + sep) || path.slice(directory.length).includes(`${sep}node_modules${sep}`))
      continue;
    // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- Node's own cache is an object
    delete cache[path];
  }
}

/**
 * A hash over names, sizes and times of the plugin's own files: every start takes it, and reading hundreds of files for it
 * would hold the start up. A file that was written again with what it held counts as changed.
 */
async function fingerprintOf(directory: string): Promise<string> {
  const files = await filesOf(directory);
  const states = await Promise.all(files.map((file) => stat(file, { bigint: true })));
  const lines = states.map(
    ({ size, mtimeNs, ctimeNs, ino }, index) =>
      `${relative(directory, files[index] ?? '')}\0${[size, mtimeNs, ctimeNs, ino].join(' ')}`,
  );
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}

async function filesOf(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const lists = entries.map(async (entry): Promise<string[]> => {
    if (entry.name === 'node_modules' || entry.name.startsWith('.')) return [];
    const path = join(directory, entry.name);
    return entry.isDirectory() ? filesOf(path) : entry.isFile() ? [path] : [];
  });
  return (await Promise.all(lists)).flat().sort();
}

/**
 * The migrations of all plugins that can be imported, by slug, without starting any: a restore needs them where the
 * site cannot start.
 */
export async function readMigrations(places: Places): Promise<Map<string, readonly Migration[]>> {
  const { plugins } = await discover(places);
  const importer = createPluginImporter();
  const found = new Map<string, readonly Migration[]>();
  for (const [slug, source] of plugins) {
    const definition = await importer.load(source).catch(() => null);
    if (definition?.migrations) found.set(slug, definition.migrations);
  }
  return found;
}
