import { lstat, realpath, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#plugin-api';
import type { PluginSource } from '../manifest.ts';
import { passingFolder } from './passing-folder.ts';

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
