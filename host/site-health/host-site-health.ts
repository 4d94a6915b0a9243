import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type DebugSection, formatBytes } from '#plugin-api';
import type { Core } from '../core.ts';
import { readUndeclaredProxy } from '../http/undeclared-proxy.ts';
import type { Loader } from '../loader/loader.ts';
import { createSiteHealth, type SiteHealth } from './site-health.ts';
import { siteTests } from './site-tests.ts';
import { readdir, stat } from 'node:fs/promises';
import type { Database } from '../database/database-contract.ts';

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
        undeclaredProxy: () => readUndeclaredProxy(core),
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

interface DirectorySizesDependencies {
  readonly database: Pick<Database, 'knex' | 'dialect'>;
  /** Absolute folders by the name of WordPress's report. Null: the host has none. */
  readonly folders: Readonly<Record<string, string | readonly string[] | null>>;
}

interface Size {
  readonly size: string;
  readonly debug: string;
  readonly raw?: number;
}

/** Files of packages and of version control do not count. */
const skipped = new Set(['node_modules', '.git']);

/** Sizes of the folders and of the database in bytes, as text and number. */
async function readDirectorySizes({ database, folders }: DirectorySizesDependencies): Promise<Record<string, unknown>> {
  const sizes: Record<string, Size> = {};
  let total = 0;
  for (const [name, folder] of Object.entries(folders)) {
    const bytes = folder === null ? null : await sizeOfAll([folder].flat() as string[]);
    sizes[name] = bytes === null ? { size: 'not available', debug: 'directory not found' } : described(bytes);
    total += bytes ?? 0;
  }
  const stored = await databaseSize(database);
  sizes['database_size'] = described(stored);
  total += stored;
  return { raw: total, ...sizes, total_size: described(total) };
}

function described(bytes: number): Size {
  const size = formatBytes(bytes);
  return { size, debug: `${size} (${bytes} bytes)`, raw: bytes };
}

/** Null: none of them exists. */
async function sizeOfAll(folders: readonly string[]): Promise<number | null> {
  let total: number | null = null;
  for (const folder of folders) {
    const bytes = await sizeOf(folder);
    if (bytes !== null) total = (total ?? 0) + bytes;
  }
  return total;
}

async function sizeOf(folder: string): Promise<number | null> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => null);
  if (entries === null) return null;
  let total = 0;
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) total += skipped.has(entry.name) ? 0 : ((await sizeOf(path)) ?? 0);
    else if (entry.isFile())
      total += await stat(path).then(
        ({ size }) => size,
        () => 0,
      );
  }
  return total;
}

async function databaseSize({ knex, dialect }: DirectorySizesDependencies['database']): Promise<number> {
  const sql =
    dialect === 'sqlite'
      ? 'select page_count * page_size as size from pragma_page_count(), pragma_page_size()'
      : 'select pg_database_size(current_database()) as size';
  const found: unknown = await knex.raw(sql);
  const rows = (Array.isArray(found) ? found : (found as { readonly rows: unknown }).rows) as {
    size: number | string;
  }[];
  return Number(rows[0]?.size ?? 0);
}
