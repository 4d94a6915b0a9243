import { randomUUID } from 'node:crypto';
import { lstat, realpath, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { PluginSource } from '../manifest.ts';

/**
 * Removes the folder of a plugin that lies in the folder where plugins are installed; of a link only the link. Answers
 * whether it did: plugins of other folders are somebody else's.
 */
export async function removeFolder({ source, pluginDir }: { readonly source: PluginSource; readonly pluginDir: string }): Promise<boolean> {
  const place = join(pluginDir, source.manifest.slug);
  const found = await lstat(place).catch(() => null);
  if (!found || (await realpath(place)) !== source.directory) return false;
  // Gone at once, whatever happens while its files are removed.
  const aside = join(pluginDir, `.removed-${randomUUID()}`);
  await rename(place, aside);
  await rm(aside, { recursive: true, force: true });
  return true;
}
