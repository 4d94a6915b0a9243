import { rename, rm, lstat, realpath } from 'node:fs/promises';
import { isInstalledFolder } from './installed-mark.ts';
import type { Clock } from '#plugin-api';
import { tempFolderPath } from './temp-folder.ts';
import type { Staged } from './stage.ts';
import { join } from 'node:path';
import type { PluginSource } from '../manifest.ts';

/** A replaced folder, until the replacement is kept or rolled back. */
export interface Replacement {
  /** Deletes the old folder. */
  keep(): Promise<void>;
  /** Deletes the new folder and restores the old one. */
  rollBack(): Promise<void>;
}

export interface Replacing {
  readonly staged: Staged;
  readonly target: string;
  readonly pluginDir: string;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Replaces the folder of an older version with a staged plugin. Restores it after an error. After a crash the next start
 * recovers it (`recover-interrupted.ts`).
 */
export async function replaceFolder({ staged, target, pluginDir, clock }: Replacing): Promise<Replacement> {
  const aside = tempFolderPath({ pluginDir, kind: 'replaced', clock });
  const remove = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });
  await rename(target, aside);
  try {
    await staged.moveTo(target);
  } catch (error) {
    await rename(aside, target);
    throw error;
  }
  return {
    keep: () => remove(aside),
    async rollBack() {
      const rejected = tempFolderPath({ pluginDir, kind: 'removed', clock });
      await rename(target, rejected);
      await rename(aside, target);
      await remove(rejected);
    },
  };
}

export interface Removing {
  readonly source: PluginSource;
  readonly pluginDir: string;
  readonly deleteFiles: boolean;
}

/**
 * Whether the folder of a plugin can be deleted: it is in the folder for installed plugins, and an installation wrote it or
 * `deleteFiles` is set.
 */
export async function isRemovable({ source, pluginDir, deleteFiles }: Removing): Promise<boolean> {
  const target = join(pluginDir, source.manifest.slug);
  const found = await lstat(target).catch(() => null);
  if (!found || (await realpath(target)) !== source.directory) return false;
  return found.isSymbolicLink() || deleteFiles || (await isInstalledFolder(source.directory));
}

/** Deletes the folder of a plugin if it is removable. Of a symbolic link it deletes only the link. Returns whether it did. */
export async function removeFolder(removing: Removing, clock: Pick<Clock, 'now'>): Promise<boolean> {
  const { source, pluginDir } = removing;
  if (!(await isRemovable(removing))) return false;
  // Renames first, so that discovery no longer finds it if deleting the files fails.
  const aside = tempFolderPath({ pluginDir, kind: 'removed', clock });
  await rename(join(pluginDir, source.manifest.slug), aside);
  await rm(aside, { recursive: true, force: true });
  return true;
}
