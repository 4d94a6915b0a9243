import { lstat, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Logger } from '#plugin-api';
import type { StoredVersions } from '../stored-state.ts';
import { tempFolderPath, parseTempFolderName } from './temp-folder.ts';

export interface Recovery {
  readonly pluginDir: string;
  readonly versions: Pick<StoredVersions, 'read'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}

/**
 * Cleans up after processes that ended while installing, upgrading or removing a plugin. Restores the old version unless the
 * new one has already run and changed the data. Skips folders of running processes. Never throws: logs errors with the
 * required action.
 */
export async function recoverInterrupted({ pluginDir, versions, clock, log }: Recovery): Promise<void> {
  const folders = (await namesIn(pluginDir)).flatMap((name) => {
    const parsed = parseTempFolderName(name, clock);
    return parsed === null ? [] : [{ ...parsed, folder: join(pluginDir, name) }];
  });
  for (const { kind, isStale, folder } of folders) {
    try {
      if (!isStale) {
        if (kind === 'replaced')
          log.warn('Plugin upgrade in another process found; if none is running, move the folder back', {
            event: 'plugin_upgrade_in_progress',
            folder,
          });
      } else if (kind === 'replaced') await restoreReplaced(folder, { pluginDir, versions, clock, log });
      else await remove(folder);
    } catch (error) {
      log.error('Failed to clean up an interrupted installation; move or delete the folder', {
        event: 'plugin_cleanup_failed',
        folder,
        error,
      });
    }
  }
}

async function restoreReplaced(folder: string, { pluginDir, versions, clock, log }: Recovery): Promise<void> {
  const old = await readIdentity(folder);
  if (old === null) throw new Error('The folder has no plugin.json with a slug.');
  const target = join(pluginDir, old.slug);
  if ((await lstat(target).catch(() => null)) !== null) {
    const current = await readIdentity(target);
    if (current !== null && current.version === (await versions.read(old.slug)) && current.version !== old.version) {
      await remove(folder);
      return log.warn('Interrupted plugin upgrade completed; the new version has already run', {
        event: 'plugin_upgrade_completed',
        plugin: old.slug,
        version: current.version,
        removed: old.version,
      });
    }
    const aside = tempFolderPath({ pluginDir, kind: 'removed', clock });
    await rename(target, aside);
    await rename(folder, target);
    await remove(aside);
  } else await rename(folder, target);
  log.warn('Interrupted plugin upgrade rolled back; install the newer version again', {
    event: 'plugin_upgrade_rolled_back',
    plugin: old.slug,
    version: old.version,
  });
}

/** Reads slug and version only. Discovery checks the rest of the manifest. */
async function readIdentity(folder: string): Promise<{ readonly slug: string; readonly version: string } | null> {
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
  // Discovery reports errors of the folder itself.
  return readdir(directory).catch(() => []);
}
