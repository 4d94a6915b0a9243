import { join } from 'node:path';
import type { Migration } from '#plugin-api';
import { createLoader } from '../../../host/loader/loader.ts';
import type { Loader, PluginStatus } from '../../../host/loader/loader.ts';
import { createFakeClock } from '../../../host/testing/fake-clock.ts';
import type { FakeClock } from '../../../host/testing/fake-clock.ts';
import { createPluginFolders } from './plugin-folders.ts';
import type { PluginFolders } from './plugin-folders.ts';
import { createCountedServices } from './services.ts';
import type { CountedServices } from './services.ts';

/** A loader with a plugin folder and services of its own. */
export interface LoaderBench {
  readonly folders: PluginFolders;
  readonly services: CountedServices;
  readonly loader: Loader;
  readonly clock: FakeClock;
  /** Slugs and ids in the order they were migrated. */
  readonly migrated: string[];
  status(slug: string): PluginStatus;
  /** A second process of the same site. */
  beside(init?: { readonly leftOut?: readonly string[] | 'all' }): {
    readonly loader: Loader;
    readonly services: CountedServices;
  };
}

/**
 * @param shipped folders of plugins that come with the host.
 */
export async function createLoaderBench({
  shipped = [],
}: { readonly shipped?: readonly string[] } = {}): Promise<LoaderBench> {
  const folders = await createPluginFolders();
  const clock = createFakeClock();
  const services = createCountedServices({ clock });
  const migrated: string[] = [];
  const migrate = async (slug: string, migrations: readonly Migration[]): Promise<void> =>
    void migrated.push(...migrations.map(({ id }) => `${slug} ${id}`));
  const make = (each: CountedServices, leftOut: readonly string[] | 'all' = []): Loader =>
    createLoader({
      pluginDirs: [folders.directory],
      shippedDirs: shipped.map((slug) => join(folders.directory, slug)),
      options: each.options,
      migrate,
      services: each,
      leftOut,
      hostVersion: '1.0.0',
      log: each.log,
    });
  const loader = make(services);
  return {
    folders,
    services,
    loader,
    clock,
    migrated,
    status(slug) {
      const found = loader.list().find((plugin) => plugin.slug === slug);
      if (!found) throw new Error(`The plugin '${slug}' is not listed.`);
      return found;
    },
    beside({ leftOut } = {}) {
      const others = createCountedServices({ clock, stored: services.stored });
      return { services: others, loader: make(others, leftOut) };
    },
  };
}
