import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DebugSection } from '#plugin-api';
import type { Core } from '../core.ts';
import type { Loader } from '../loader/loader.ts';
import { readDirectorySizes } from './directory-sizes.ts';
import { createSiteHealth, type SiteHealth } from './site-health.ts';
import { siteTests } from './site-tests.ts';

export interface HostSiteHealth {
  readonly siteHealth: SiteHealth;
  /** Sizes of folders and of the database, as WordPress names them. */
  readonly directorySizes: () => Promise<Readonly<Record<string, unknown>>>;
}

/** The Site Health of this host. @param plugins known only once they are loaded. */
export function createHostSiteHealth({
  core,
  plugins,
}: {
  readonly core: Core;
  readonly plugins: () => Pick<Loader, 'list' | 'health'>;
}): HostSiteHealth {
  const { config, database, hooks, log, site, clock } = core;
  return {
    siteHealth: createSiteHealth({
      hooks,
      log,
      clock,
      tests: siteTests({
        siteUrl: () => site.url,
        mayChangeFiles: () => !config.disallowFileMods,
        ping: () => database.ping(),
        clock,
      }),
      pluginHealth: () => plugins().health(),
      sections: () => describeHost(core, plugins()),
    }),
    directorySizes: () =>
      readDirectorySizes({
        database,
        folders: {
          wordpress_size: fileURLToPath(new URL('..', import.meta.url)),
          themes_size: fileURLToPath(new URL('../../views/site', import.meta.url)),
          plugins_size: config.pluginDirs,
          uploads_size: config.dataDir === ':memory:' ? null : join(config.dataDir, 'uploads'),
          // The theme uses fonts of the system.
          fonts_size: null,
        },
      }),
  };
}

async function describeHost(
  { database, site, content, users }: Core,
  plugins: Pick<Loader, 'list'>,
): Promise<Record<string, DebugSection>> {
  const field = (label: string, value: string | number | boolean) => ({ label, value });
  return {
    'wp-core': {
      label: 'Site',
      fields: {
        version: field('Version of the host', site.version),
        home_url: field('Address', site.url),
        timezone: field('Time zone', await site.timezone()),
        https_status: field('HTTPS', site.url.startsWith('https:')),
        posts: field('Posts', await content.api.posts.count({ status: 'any' })),
        user_count: field('Users', await users.count()),
      },
    },
    'wp-plugins-active': {
      label: 'Plugins',
      fields: Object.fromEntries(
        plugins.list().map(({ slug, name, version, state }) => [slug, field(name, `${version}, ${state}`)]),
      ),
    },
    'wp-server': {
      label: 'Server',
      fields: {
        node: field('Node.js', process.version),
        platform: field('System', `${process.platform} ${process.arch}`),
        role: field('Role of this node', site.role),
        memory: field('Memory in use (MB)', Math.round(process.memoryUsage().rss / 1_048_576)),
      },
    },
    'wp-database': {
      label: 'Database',
      fields: { extension: field('Kind', database.dialect) },
    },
  };
}
