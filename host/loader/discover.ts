import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { readManifest } from './manifest.ts';
import type { PluginSource } from './manifest.ts';

/** What is in the plugin folders. */
export interface Discovery {
  /** By slug. */
  readonly plugins: ReadonlyMap<string, PluginSource>;
  /** Folders with a manifest that cannot be used, by name of the folder, with the reason. */
  readonly broken: ReadonlyMap<string, string>;
}

/** Where to look. */
export interface Places {
  /** Absolute paths, searched in order. */
  readonly pluginDirs: readonly string[];
  /** Semantic version. */
  readonly hostVersion: string;
  /** Slugs of the only plugins to look at. Default: all. */
  readonly only?: readonly string[];
  /** Absolute paths of the folders of plugins that come with the host. One with `autoActivate` comes with it wherever it lies. */
  readonly shippedDirs?: readonly string[];
}

/** In each plugin folder: what lies in it is always active. */
const mustUseFolder = 'must-use';

/**
 * Looks for folders with a `plugin.json`. A plugin folder that does not exist counts as empty; of two plugins of the
 * same slug one that must be used counts, else the one in the earlier plugin folder, as with a path.
 */
export async function discover({ pluginDirs, hostVersion, only, shippedDirs = [] }: Places): Promise<Discovery> {
  const plugins = new Map<string, PluginSource>();
  const broken = new Map<string, string>();
  const places = [
    ...pluginDirs.map((pluginDir) => ({ place: join(pluginDir, mustUseFolder), mustUse: true })),
    ...pluginDirs.map((place) => ({ place, mustUse: false })),
  ];
  const shipped = new Set(
    await Promise.all(shippedDirs.map((directory) => realpath(directory).catch(() => directory))),
  );
  for (const { place, mustUse } of places) {
    for (const folder of await foldersOf(place)) {
      if (plugins.has(folder) || broken.has(folder) || only?.includes(folder) === false) continue;
      try {
        const source = await readManifest({ directory: join(place, folder), folder, hostVersion });
        if (!source) continue;
        const comes = source.manifest.autoActivate === true || shipped.has(source.directory);
        plugins.set(folder, { ...source, ...(mustUse && { mustUse }), ...(comes && { shipped: true }) });
      } catch (error) {
        broken.set(folder, error instanceof Error ? error.message : String(error));
      }
    }
  }
  return { plugins, broken };
}

async function foldersOf(pluginDir: string): Promise<string[]> {
  try {
    const entries = await readdir(pluginDir, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
      .map(({ name }) => name)
      .filter((name) => name !== mustUseFolder && !name.startsWith('.'))
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
