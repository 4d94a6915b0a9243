import { rename, rm, lstat, realpath } from 'node:fs/promises';
import type { Clock } from '#plugin-api';
import { passingFolder } from './temp-folder.ts';
import type { Staged } from './stage.ts';
import { join } from 'node:path';
import type { PluginSource } from '../manifest.ts';

/** A folder that has taken another one's place, until it is decided which stays. */
export interface Replacement {
  /** Removes the old folder. */
  keep(): Promise<void>;
  /** Removes the new folder and puts the old one back. */
  takeBack(): Promise<void>;
}

export interface Replacing {
  readonly staged: Staged;
  readonly place: string;
  readonly pluginDir: string;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Puts a staged plugin where an older version of it lies. After an error the old one lies there as before; after a crash
 * the next start sees to it (`heal.ts`).
 */
export async function replaceFolder({ staged, place, pluginDir, clock }: Replacing): Promise<Replacement> {
  const aside = passingFolder({ pluginDir, kind: 'replaced', clock });
  const remove = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });
  await rename(place, aside);
  try {
    await staged.moveTo(place);
  } catch (error) {
    await rename(aside, place);
    throw error;
  }
  return {
    keep: () => remove(aside),
    async takeBack() {
      const refused = passingFolder({ pluginDir, kind: 'removed', clock });
      await rename(place, refused);
      await rename(aside, place);
      await remove(refused);
    },
  };
}

/**
 * Removes the folder of a plugin that lies in the folder where plugins are installed; of a link only the link. Answers
 * whether it did: plugins of other folders are somebody else's.
 */
export async function removeFolder({
  source,
  pluginDir,
  clock,
}: {
  readonly source: PluginSource;
  readonly pluginDir: string;
  readonly clock: Pick<Clock, 'now'>;
}): Promise<boolean> {
  const place = join(pluginDir, source.manifest.slug);
  const found = await lstat(place).catch(() => null);
  if (!found || (await realpath(place)) !== source.directory) return false;
  // Gone at once, whatever happens while its files are removed.
  const aside = passingFolder({ pluginDir, kind: 'removed', clock });
  await rename(place, aside);
  await rm(aside, { recursive: true, force: true });
  return true;
}
