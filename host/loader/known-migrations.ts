import type { Migration } from '#plugin-api';
import { discover, type Places } from './discover.ts';
import { createPluginImporter } from './load.ts';

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
