import { randomUUID } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Staged } from './stage.ts';

/** A folder that has taken another one's place, until it is decided which stays. */
export interface Replacement {
  /** Removes the old folder. */
  keep(): Promise<void>;
  /** Removes the new folder and puts the old one back. */
  takeBack(): Promise<void>;
}

/** Puts a staged plugin where an older version of it lies. After an error the old one lies there as before. */
export async function replaceFolder({ staged, place, pluginDir }: { readonly staged: Staged; readonly place: string; readonly pluginDir: string }): Promise<Replacement> {
  const aside = join(pluginDir, `.replaced-${randomUUID()}`);
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
      const refused = join(pluginDir, `.removed-${randomUUID()}`);
      await rename(place, refused);
      await rename(aside, place);
      await remove(refused);
    },
  };
}
