import { createMutex, type Logger, type Migration, type PluginUpgrade, type Undo } from '#plugin-api';
import { noClaims, type PluginClaims } from './claims.ts';
import { createFailedStarts } from './failed-starts.ts';
import { createQuarantine, createWarnings, describeError } from './quarantine.ts';
import { createRunningPlugins } from './running-plugins.ts';
import { createLifecycle, type LifecycleDependencies, type PluginContexts, type PluginHealth } from './lifecycle.ts';
import { createOperations, type OperationsDependencies, type Uninstallation, type Uninstalled } from './operations.ts';
import type { HostServices } from './services.ts';
import type { InstallLimits } from './install/allowance.ts';
import { listPlugins, type PluginStatus } from './status.ts';
import {
  createStoredFailures,
  createStoredSettings,
  createStoredSlugs,
  createStoredVersions,
  type LoaderOptions,
} from './stored-state.ts';
import type { PluginSearch } from './discover.ts';
import type { Installation, Installed } from './installation.ts';
import { createUpgrades, withoutBackups, type UpgradeServices } from './upgrade.ts';

export type { HostServices } from './services.ts';
export type { PluginHealth } from './lifecycle.ts';
export type { Installation, Installed } from './installation.ts';
export type { Uninstalled } from './operations.ts';
export type { UpgradeServices } from './upgrade.ts';
export type { PluginStatus } from './status.ts';
export type { PluginFailure } from './stored-state.ts';

declare module '#plugin-api' {
  interface ActionMap {
    /** After the first start of a newer version, in the process that upgraded the data. */
    upgraded_plugin: (slug: string, versions: PluginUpgrade) => void;
    /**
     * A plugin registered something that is open, unreachable or without effect. Host and services run this action; the
     * sentence is logged and shown with the plugin until it stops.
     */
    plugin_warning: (slug: string, message: string) => void;
  }
}

/**
 * Finds, starts and stops plugins. All processes of the site share the option `active_plugins`. Errors of a plugin never leave
 * the loader, except to the caller that activates it.
 */
export interface Loader {
  /** Searches the plugin folders again. */
  discover(): Promise<PluginStatus[]>;
  /** Starts the active plugins in order, activates those with `autoActivate`, then runs the action `plugins_loaded`. */
  start(): Promise<void>;
  /** Does nothing for an active plugin. @throws Error with the reason, which is also stored if the plugin failed. */
  activate(slug: string): Promise<void>;
  /** For an inactive plugin, only clears its failure. @throws Error with the active plugins that require it. */
  deactivate(slug: string): Promise<void>;
  /**
   * Deletes the data of an inactive plugin and its folder, if an installation wrote it and it is not a Git working copy.
   * With `deleteFiles` any folder in the first plugin folder is deleted, but never that of a shipped plugin. The data are what
   * its `uninstall` deletes, its registered settings, cron events and jobs. Without `uninstall`, its tables stay.
   *
   * Waits up to 15 seconds for other processes that still start or run it; meanwhile nothing is deleted.
   *
   * @throws Error if it is active, if it still runs in another process, if its `uninstall` fails, or with `onlyWithFolder` if
   *   its folder would stay.
   */
  uninstall(slug: string, init?: Uninstallation): Promise<Uninstalled>;
  /** Installs a plugin from a folder or zip file. @throws Error with the reason, see `installation.ts`. */
  install(installation: Installation): Promise<Installed>;
  /**
   * Runs a plugin from its own folder, in this process only, before one of its slug in the plugin folders. Called again, it reloads
   * the plugin's present files; the running code stays, or starts again, if the new one cannot start. For development. Returns the
   * slug.
   *
   * @param directory absolute path, without symbolic links.
   * @throws Error with the reason.
   */
  develop(directory: string): Promise<string>;
  /** Runs the health checks of running plugins. @throws Error if the requested plugin is not running. */
  health(slug?: string): Promise<PluginHealth[]>;
  list(): PluginStatus[];
  /** Applies changes of other processes. Call it when `active_plugins` has changed. Never rejects. */
  sync(): Promise<void>;
  /** Records an error of a running plugin, which keeps running. Ignores owners that are not plugins. */
  reportFailure(slug: string, stage: string, error: unknown): void;
  /** Logs a sentence about what a plugin registered, and lists it until the plugin starts again. Ignores other owners. */
  warn(slug: string, message: string): void;
  /**
   * Stops the plugin whose code threw an error that nothing caught, and records the error. Resolves whether the site can run
   * on: false for an unknown plugin and for one that ships with the host, without which the site is not what it should be.
   */
  contain(slug: string, error: unknown): Promise<boolean>;
  /** Stops all plugins in reverse start order, without deactivating them. */
  stop(): Promise<void>;
}

export interface LoaderDependencies extends PluginSearch {
  readonly options: LoaderOptions;
  /** Slugs of plugins that this process does not start, even if they are active. Default: none. */
  readonly leftOut?: readonly string[] | 'all';
  /** Called with the folder of each plugin that starts, with links resolved. */
  readonly noteFolder?: (slug: string, directory: string) => void;
  /** Called when a plugin has stopped in this process, or could not start. */
  readonly noteEnd?: (slug: string) => void;
  /** False: a process for a command, which lists what the processes of the site have stopped. Default: true. */
  readonly isSite?: boolean;
  /** Default: none. */
  readonly contexts?: PluginContexts;
  /** Default: no other process shares the database. */
  readonly claims?: PluginClaims;
  /** See `Database`; `host` blocks all plugins. Default: none. */
  readonly findTooOld?: () => Promise<ReadonlyMap<string, string>>;
  readonly migrate: (slug: string, migrations: readonly Migration[]) => Promise<void>;
  /** Called when a plugin does not run in this process any more: another one may uninstall it. */
  readonly withdrawMigrations?: (slug: string) => void;
  /** Deletes the migration history of an uninstalled plugin, so that a new installation runs them again. */
  readonly forgetMigrations?: (slug: string) => Promise<void>;
  /** Default: migrations one by one and no backups. */
  readonly upgrades?: UpgradeServices;
  /** Size limits for installed plugins. */
  readonly limits?: InstallLimits;
  readonly services: HostServices;
  readonly log: Logger;
}

export function createLoader(dependencies: LoaderDependencies): Loader {
  const { services, log } = dependencies;
  const { clock, hooks } = services;
  const mutex = createMutex();
  const upgraded: [string, PluginUpgrade][] = [];
  let hasPendingSync = false;
  let stopped = false;
  let undoRetry: Undo = () => undefined;
  let isStarting = false;

  const reportFailure: Loader['reportFailure'] = (slug, stage, error) => {
    const plugin = runningPlugins.state().running.get(slug);
    if (plugin && !services.database.isUnavailable(error))
      failures.note(slug, { stage, message: describeError(error, plugin.source), at: clock.now() });
  };
  const parts = createParts(dependencies, {
    onUpgrade: (...upgrade) => void upgraded.push(upgrade),
    onRouteFailure: (slug, error) => reportFailure(slug, 'route', error),
    onWarning: (slug, message) => warnings.add(slug, message),
    isStarting: () => isStarting,
  });
  const { runningPlugins, failures, warnings } = parts;
  const operations = createOperations(parts);
  const list = (): PluginStatus[] => listPlugins(runningPlugins.state());

  /**
   * An operation that changes `active_plugins` waits for the listeners of the change, which call this. To avoid a deadlock,
   * it does not wait for a running operation but runs after it.
   */
  const sync = async (): Promise<void> => {
    hasPendingSync = mutex.isBusy('plugins');
    if (hasPendingSync || stopped) return;
    await runOperation(operations.sync).catch((error: unknown) =>
      log.error('Failed to sync plugins with active_plugins', { event: 'plugin_sync_failed', error }),
    );
  };
  const runOperation = <Result>(work: () => Promise<Result>): Promise<Result> =>
    mutex.runExclusive('plugins', work).finally(async () => {
      if (hasPendingSync) void sync();
      scheduleRetry();
      for (const upgrade of upgraded.splice(0)) await hooks.doActionAsync('upgraded_plugin', ...upgrade);
    });
  const startWith = async (operation: () => Promise<readonly string[]>): Promise<void> => {
    for (const slug of await runOperation(operation)) await hooks.doActionAsync('activated_plugin', slug);
  };
  const scheduleRetry = (): void => {
    undoRetry();
    const delay = stopped ? null : parts.failedStarts.nextRetryIn();
    undoRetry = delay === null ? () => undefined : clock.after(delay, () => void retry());
  };
  const retry = (): Promise<void> =>
    startWith(operations.retry).catch((error: unknown) =>
      log.error('Failed to start plugins again', { event: 'plugin_retry_failed', error }),
    );

  return {
    list,
    sync,
    reportFailure,
    warn(slug, message) {
      // Of the host it is logged each time: there is no plugin that stops.
      if (runningPlugins.state().discovery.plugins.has(slug)) warnings.add(slug, message);
      else log.warn('Registration needs attention', { event: 'plugin_warning', plugin: slug, reason: message });
    },
    async contain(slug, error) {
      const source = runningPlugins.state().discovery.plugins.get(slug);
      if (source === undefined || source.shipped) return false;
      await runOperation(() => operations.contain(slug, error));
      return true;
    },
    discover: () => runOperation(runningPlugins.discover).then(list),
    async start() {
      isStarting = true;
      await startWith(operations.start);
      await hooks.doActionAsync('plugins_loaded');
      isStarting = false;
    },
    async activate(slug) {
      if (await runOperation(() => operations.activate(slug))) await hooks.doActionAsync('activated_plugin', slug);
    },
    async deactivate(slug) {
      if (await runOperation(() => operations.deactivate(slug))) await hooks.doActionAsync('deactivated_plugin', slug);
    },
    uninstall: (slug, init) => runOperation(() => operations.uninstall(slug, init)),
    async install(installation) {
      // Loaded on installation only.
      const { install } = await import('./installation.ts');
      const installed = await runOperation(() =>
        install(installation, {
          ...parts,
          operations,
          hostVersion: dependencies.hostVersion,
          limits: dependencies.limits,
        }),
      );
      if (installed.activated) await hooks.doActionAsync('activated_plugin', installed.slug);
      return installed;
    },
    develop: (directory) => runOperation(() => operations.develop(directory)),
    health: (slug) => checkHealth(parts, slug),
    stop() {
      stopped = true;
      undoRetry();
      return mutex.runExclusive('plugins', operations.stop);
    },
  };
}

async function checkHealth(
  { runningPlugins, lifecycle }: OperationsDependencies,
  slug: string | undefined,
): Promise<PluginHealth[]> {
  const { running } = runningPlugins.state();
  if (slug !== undefined && !running.has(slug))
    throw new Error(`The plugin '${slug}' is not running, so its health cannot be checked.`);
  const asked = [...running].filter(([each, { definition }]) =>
    slug === undefined ? definition.health !== undefined : each === slug,
  );
  return Promise.all(asked.map(async ([each, plugin]) => ({ slug: each, results: await lifecycle.health(plugin) })));
}

function createParts(
  dependencies: LoaderDependencies,
  {
    isStarting,
    ...listeners
  }: Pick<LifecycleDependencies, 'onUpgrade' | 'onRouteFailure' | 'onWarning'> & {
    readonly isStarting: () => boolean;
  },
): OperationsDependencies {
  const { options, migrate, forgetMigrations, services, log, pluginDirs, leftOut = [] } = dependencies;
  const { claims = noClaims } = dependencies;
  const isLeftOut = (slug: string): boolean => leftOut === 'all' || leftOut.includes(slug);
  const { clock, documents } = services;
  const active = createStoredSlugs(options, 'active_plugins');
  const declined = createStoredSlugs(options, 'declined_plugins');
  const failures = createStoredFailures({
    ...{ options, clock, log },
    ...(dependencies.isSite !== undefined && { isSite: dependencies.isSite }),
    isWanted: (slug) => runningPlugins.isWanted(slug),
  });
  const versions = createStoredVersions(options);
  const upgrades = createUpgrades({ versions, services: dependencies.upgrades ?? withoutBackups(migrate), clock });
  const lifecycle = createLifecycle({
    services,
    migrate,
    upgrades,
    ...(dependencies.contexts && { contexts: dependencies.contexts }),
    ...listeners,
  });
  const failedStarts = createFailedStarts(clock);
  const { isUnavailable } = services.database;
  const quarantine = createQuarantine({ failures, failedStarts, isUnavailable, clock, log });
  const warnings = createWarnings(log, () => dependencies.isSite === false && isStarting());
  const settings = createStoredSettings(options);
  const runningPlugins = createRunningPlugins({
    ...dependencies,
    isLeftOut,
    claims,
    lifecycle,
    warnings,
    settings,
    active,
    failures,
    failedStarts,
    quarantine,
    database: services.database,
    clock,
  });
  return {
    ...{ runningPlugins, isLeftOut, claims, lifecycle, active, declined, failures, failedStarts, warnings, versions },
    quarantine,
    forgetMigrations,
    removeStored: async (slug) => {
      await services.jobs.removeOwner(slug);
      await services.cron.removeOwner(slug);
    },
    settings,
    pluginDir: pluginDirs[0],
    clock,
    documents,
    log,
  };
}
