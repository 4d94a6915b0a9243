import { access, readdir, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { endSentence, errorText } from '#plugin-api';
import { readManifest } from './manifest.ts';
import type { PluginSource } from './manifest.ts';

export interface Discovery {
  /** By slug. */
  readonly plugins: ReadonlyMap<string, PluginSource>;
  /** Errors of invalid manifests by folder name. */
  readonly broken: ReadonlyMap<string, string>;
}

export interface PluginSearch {
  /** Absolute paths, searched in order. */
  readonly pluginDirs: readonly string[];
  /** Semantic version. */
  readonly hostVersion: string;
  /** Absolute paths of single plugins, which win over those in plugin folders. Default: none. */
  readonly developed?: readonly string[];
  /** Limits discovery to these slugs. Default: all. */
  readonly only?: readonly string[];
  /** Absolute paths of plugins that ship with the host. Plugins with `autoActivate` count as shipped in any folder. */
  readonly shippedDirs?: readonly string[];
}

/** Subfolder of each plugin folder whose plugins are always active. */
const mustUseFolder = 'must-use';

/**
 * Finds folders with a `plugin.json`. A missing plugin folder counts as empty. Of two plugins with the same slug, a must-use
 * plugin wins, otherwise the one in the earlier folder.
 */
export async function discover({
  pluginDirs,
  hostVersion,
  developed = [],
  only,
  shippedDirs = [],
}: PluginSearch): Promise<Discovery> {
  const plugins = new Map<string, PluginSource>();
  const broken = new Map<string, string>();
  const searchFolders = [
    ...pluginDirs.map((pluginDir) => ({ parent: join(pluginDir, mustUseFolder), mustUse: true })),
    ...pluginDirs.map((parent) => ({ parent, mustUse: false })),
  ];
  const shipped = new Set(
    await Promise.all(shippedDirs.map((directory) => realpath(directory).catch(() => directory))),
  );
  for (const directory of developed) {
    const folder = basename(directory);
    try {
      const source = await readManifest({ directory, folder, hostVersion });
      if (source) plugins.set(folder, source);
    } catch (error) {
      broken.set(folder, errorText(error));
    }
  }
  // One that is being developed is meant to hide its installed version.
  const developedFolders = new Set(developed.map((directory) => basename(directory)));
  for (const { parent, mustUse } of searchFolders) {
    for (const folder of await listFolders(parent)) {
      if (only?.includes(folder) === false) continue;
      const reason = broken.get(folder);
      if (reason !== undefined) {
        if (!developedFolders.has(folder) && (await hasManifest(join(parent, folder))))
          broken.set(folder, `${endSentence(reason)} It hides the one of the same name in ${join(parent, folder)}.`);
        continue;
      }
      const first = plugins.get(folder);
      if (first !== undefined) {
        const isOther = first.directory !== join(parent, folder) && !developedFolders.has(folder);
        if (isOther && (await hasManifest(join(parent, folder))))
          plugins.set(folder, { ...first, hidden: [...(first.hidden ?? []), join(parent, folder)] });
        continue;
      }
      try {
        const source = await readManifest({ directory: join(parent, folder), folder, hostVersion });
        if (!source) continue;
        const isShipped = source.manifest.autoActivate === true || shipped.has(source.directory);
        plugins.set(folder, { ...source, ...(mustUse && { mustUse }), ...(isShipped && { shipped: true }) });
      } catch (error) {
        broken.set(folder, errorText(error));
      }
    }
  }
  return { plugins, broken };
}

async function hasManifest(directory: string): Promise<boolean> {
  return access(join(directory, 'plugin.json')).then(
    () => true,
    () => false,
  );
}

async function listFolders(pluginDir: string): Promise<string[]> {
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

/** @throws Error for an unknown plugin or an invalid manifest. */
export function requireSource(slug: string, { plugins, broken }: Discovery): PluginSource {
  const source = plugins.get(slug);
  if (source) return source;
  const brokenReason = broken.get(slug);
  throw new Error(
    brokenReason === undefined
      ? `The plugin '${slug}' does not exist in the plugin folders.`
      : `The plugin '${slug}' cannot be used. ${brokenReason}`,
  );
}
