import { lstat, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Logger } from '#plugin-api';
import type { StoredVersions } from '../stored-state.ts';
import { passingFolder, readPassing } from './temp-folder.ts';

export interface Healing {
  readonly pluginDir: string;
  readonly versions: Pick<StoredVersions, 'read'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}

/**
 * Clears up after processes that ended while they installed, upgraded or removed a plugin. An old version that was put
 * aside goes back to its place, unless the new one there has run already: then that stays, since the data is its own.
 * What a living process is at work on is left alone. Never throws: what cannot be healed is logged with what to do.
 */
export async function healPluginFolder({ pluginDir, versions, clock, log }: Healing): Promise<void> {
  const found = (await namesIn(pluginDir)).flatMap((name) => {
    const passing = readPassing(name, clock);
    return passing === null ? [] : [{ ...passing, folder: join(pluginDir, name) }];
  });
  for (const { kind, isLeftBehind, folder } of found) {
    try {
      if (!isLeftBehind) {
        if (kind === 'replaced')
          log.warn('Another process seems to be upgrading a plugin. If none is, move the folder back to its place.', {
            folder,
          });
      } else if (kind === 'replaced') await settle(folder, { pluginDir, versions, clock, log });
      else await remove(folder);
    } catch (error) {
      log.error('What an interrupted installation left behind could not be cleared up. Move or remove the folder.', {
        folder,
        error,
      });
    }
  }
}

async function settle(folder: string, { pluginDir, versions, clock, log }: Healing): Promise<void> {
  const old = await identify(folder);
  if (old === null) throw new Error('There is no plugin.json with a slug in it.');
  const place = join(pluginDir, old.slug);
  if ((await lstat(place).catch(() => null)) !== null) {
    const current = await identify(place);
    if (current !== null && current.version === (await versions.read(old.slug)) && current.version !== old.version) {
      await remove(folder);
      return log.warn(
        `The upgrade of the plugin '${old.slug}' to ${current.version} was interrupted after it had run; it stays, and version ${old.version} is removed.`,
        { plugin: old.slug },
      );
    }
    const aside = passingFolder({ pluginDir, kind: 'removed', clock });
    await rename(place, aside);
    await rename(folder, place);
    await remove(aside);
  } else await rename(folder, place);
  log.warn(
    `The upgrade of the plugin '${old.slug}' was interrupted; version ${old.version} is back in its place. Install the newer one again.`,
    { plugin: old.slug },
  );
}

/** Slug and version of the manifest alone: whether it fits this host is for the next look at all plugins. */
async function identify(folder: string): Promise<{ readonly slug: string; readonly version: string } | null> {
  try {
    const { slug, version } = JSON.parse(await readFile(join(folder, 'plugin.json'), 'utf8')) as {
      slug?: unknown;
      version?: unknown;
    };
    return typeof slug === 'string' && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug)
      ? { slug, version: String(version) }
      : null;
  } catch {
    return null;
  }
}

function remove(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true });
}

async function namesIn(directory: string): Promise<string[]> {
  // What is wrong with the folder itself is said by those who look for plugins in it.
  return readdir(directory).catch(() => []);
}
