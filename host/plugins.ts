import { checkDefinition } from './check-definition.ts';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { CliRegistry } from './cli/registry.ts';
import { hasHash, missingAsset } from './admin/registry.ts';
import type { Core } from './core.ts';
import { createSystemClock } from './clock.ts';
import { isUnexpectedError } from './loader/unexpected-error.ts';
import { createPluginClaims } from './loader/claims.ts';
import { createLoader, type HostServices, type Loader } from './loader/loader.ts';
import { changedOptionName } from './options/cached-options.ts';
import { followOption } from './rest-access.ts';
import { languageOption } from './site-settings.ts';
import { hostVersion } from './site.ts';
import type { Web } from './web.ts';

export interface PluginsDependencies {
  readonly core: Core;
  readonly web: Web;
  readonly cli: CliRegistry;
  /** See HostInit. */
  readonly only?: readonly string[];
  /** See LoaderDependencies. */
  readonly isSite?: boolean;
}

/** Options whose change by another process starts, stops or upgrades plugins. */
const pluginOptions: readonly unknown[] = ['active_plugins', 'plugin_versions', 'plugin_failures'];

/** Notifies the other processes that one of them has migrated data. */
const migrationsChannel = 'migrations';
const processId = randomUUID();

/** The plugins shipped with the host, identified by path: a copy elsewhere counts as third-party. */
const shippedDirs = ['hello', 'orders', 'sandbox', 'svc'].map((slug) =>
  fileURLToPath(new URL(`../plugins/${slug}`, import.meta.url)),
);

/** Finds the plugins and starts the active ones, then follows what other processes activate and deactivate. */
export async function createPlugins({ core, web, cli, only, ...init }: PluginsDependencies): Promise<Loader> {
  const { backups, config, database, hooks, log, options } = core;
  await followOption(core, languageOption, (locale) => core.translations.setLocale(String(locale ?? '')));
  const notifyMigrated = (): Promise<void> => database.notify(migrationsChannel, processId);
  const loader = createLoader({
    pluginDirs: config.pluginDirs,
    leftOut: config.leftOutPlugins,
    noteFolder: core.pluginFolders.add,
    noteEnd: core.pluginFolders.end,
    contexts: core.pluginFolders,
    options,
    claims: createPluginClaims({
      hold: database.hold,
      countHolders: database.countHolders,
      clock: createSystemClock(),
    }),
    migrate: async (slug, migrations) => {
      const pending = await database.pendingMigrations(slug, migrations);
      if (pending.length > 0) await database.migrateTogether(slug, migrations, notifyMigrated);
      else database.declareMigrations(slug, migrations);
    },
    upgrades: {
      pending: (slug, migrations) => database.pendingMigrations(slug, migrations),
      together: (slug, migrations, work) =>
        database.migrateTogether(slug, migrations, async () => {
          await notifyMigrated();
          return work();
        }),
      backup: (name) => backups.write(name),
      lastBackup: (slug) => backups.last(slug),
    },
    findTooOld: () => database.findTooOld(),
    withdrawMigrations: (slug) => database.withdrawMigrations(slug),
    forgetMigrations: (slug) => database.forgetMigrations(slug),
    services: createServices({ core, web, cli }),
    hostVersion,
    log,
    shippedDirs,
    ...(only && { only }),
    ...init,
  });
  hooks.addAction('plugin_warning', loader.warn);
  core.abilities.onFailure(({ owner, name, error }) => loader.reportFailure(owner, `ability ${name}`, error));
  hooks.onFailure(({ kind, owner, hook, error }) => {
    if (kind === 'action' || isUnexpectedError(error)) loader.reportFailure(owner, `${kind} ${hook}`, error);
  });
  try {
    if (only) await options.update('active_plugins', [...only]);
    await startFollowing(core, loader);
    return loader;
  } catch (error) {
    await loader.stop();
    throw error;
  }
}

/** Starts the loader. What other processes change meanwhile is applied after the start. */
async function startFollowing({ database, options }: Core, loader: Loader): Promise<void> {
  let state: 'waiting' | 'starting' | 'started' = 'waiting';
  const follow = (): void => {
    if (state !== 'waiting') void loader.sync();
  };
  await database.listen(
    'options',
    (payload) => {
      if (!pluginOptions.includes(changedOptionName(payload))) return;
      if (state === 'started' || !options.isOwnChange(payload)) follow();
    },
    follow,
  );
  await database.listen(migrationsChannel, (sender) => void (sender === processId || follow()), follow);
  state = 'starting';
  await loader.start();
  state = 'started';
}

function createServices({ core, web, cli }: PluginsDependencies): HostServices {
  const { hooks, options, secrets, cron, jobs, database, users, log, clock, http, site, content, documents, mail } =
    core;
  const { rest, views, assets, metrics } = web;
  return {
    site,
    publicPages: web.publicPages,
    hooks,
    options,
    secrets,
    rest,
    cron,
    jobs,
    abilities: core.abilities,
    admin: web.admin,
    cli,
    database,
    users,
    content: content.api,
    views,
    assets: (slug, directory) => {
      const undo = assets.add(slug, directory);
      const url = (file: string): string => {
        const found = assets.url(slug, file);
        if (!hasHash(found)) hooks.doAction('plugin_warning', slug, missingAsset(file, 'assets.url'));
        return found;
      };
      return { url, undo };
    },
    translations: (slug, directory) => ({
      api: core.translations.forPlugin(slug),
      undo: core.translations.addSource(slug, directory),
      addTexts: (texts) => core.translations.addTexts(slug, texts),
    }),
    log,
    clock,
    http,
    mail,
    metrics,
    traces: core.tracer,
    documents,
    services: core.services,
    checkDefinition,
  };
}
