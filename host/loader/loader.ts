import type { Logger, Migration, PluginUpgrade } from '#plugin-api';
import { createFence, describeError } from './quarantine.ts';
import { createFleet } from './running-plugins.ts';
import { createLifecycle, type LifecycleDependencies, type PluginHealth } from './lifecycle.ts';
import { createOperations, type OperationsDependencies } from './operations.ts';
import type { HostServices } from './services.ts';
import type { InstallLimits } from './install/allowance.ts';
import { listPlugins, type PluginStatus } from './status.ts';
import { createStoredFailures, createStoredSlugs, type LoaderOptions, createStoredVersions } from './stored-state.ts';
import type { Places } from './discover.ts';
import type { Installation, Installed } from './installation.ts';
import { createUpgrades, type UpgradeServices } from './upgrade.ts';

export type { HostServices } from './services.ts';
export type { PluginHealth } from './lifecycle.ts';
export type { Installation, Installed } from './installation.ts';
export type { UpgradeServices } from './upgrade.ts';
export type { PluginStatus } from './status.ts';
export type { PluginFailure } from './stored-state.ts';

declare module '#plugin-api' {
  interface ActionMap {
    /** After the first start of a newer version, in the process that upgraded the data. */
    upgraded_plugin: (slug: string, versions: PluginUpgrade) => void;
  }
}

/**
 * Finds, starts, stops and watches plugins. Which are active stands in the option `active_plugins`, shared by all
 * processes of the site; each process runs its own. What a plugin throws never leaves the loader, except to who asked
 * for that plugin's activation.
 */
export interface Loader {
  /** Looks into the plugin folders anew. */
  discover(): Promise<PluginStatus[]>;
  /** Starts the active plugins in order, and on their first start those that ship as active. Then runs the action `plugins_loaded`. */
  start(): Promise<void>;
  /** @throws Error with the reason when it cannot run; a plugin that failed is then shown with it. Active already: does nothing. */
  activate(slug: string): Promise<void>;
  /** @throws Error that names the active plugins which require it. Not active: only forgets its failure. */
  deactivate(slug: string): Promise<void>;
  /**
   * Lets an inactive plugin remove its data, and removes its folder where it was installed; that of a plugin that comes
   * with the host or lies in another plugin folder stays. Answers whether the folder was removed.
   *
   * @throws Error while it is active, or with what it threw.
   */
  uninstall(slug: string): Promise<boolean>;
  /** Takes a plugin from a folder or zip. @throws Error with the reason; see `installation.ts` for what is left then. */
  install(installation: Installation): Promise<Installed>;
  /** What running plugins find about themselves, those that look. @throws Error when the one asked for is not running. */
  health(slug?: string): Promise<PluginHealth[]>;
  list(): PluginStatus[];
  /** Starts and stops what another process activated and deactivated. To be called when `active_plugins` changed. Never rejects. */
  sync(): Promise<void>;
  /** Notes an error of a running plugin, which runs on. Ignored for owners that are no plugin. */
  reportFailure(slug: string, stage: string, error: unknown): void;
  /** Stops all plugins, last started first, without deactivating them. */
  stop(): Promise<void>;
}

export interface LoaderDependencies extends Places {
  readonly options: LoaderOptions;
  readonly migrate: (slug: string, migrations: readonly Migration[]) => Promise<void>;
  /** Forgets which migrations of an uninstalled plugin have run, so that they run again when it comes back. */
  readonly forgetMigrations?: (slug: string) => Promise<void>;
  /** Default: migrations one by one and no backups. */
  readonly upgrades?: UpgradeServices;
  /** How much an installed plugin may bring. */
  readonly limits?: InstallLimits;
  readonly services: HostServices;
  readonly log: Logger;
}

export function createLoader(dependencies: LoaderDependencies): Loader {
  const { services, log } = dependencies;
  const { clock, hooks } = services;
  const turns = createTurns();
  const upgraded: [string, PluginUpgrade][] = [];
  let missed = false;
  let stopped = false;

  const reportFailure: Loader['reportFailure'] = (slug, stage, error) => {
    const plugin = fleet.state().running.get(slug);
    if (plugin) failures.note(slug, { stage, message: describeError(error, plugin.source), at: clock.now() });
  };
  const parts = createParts(dependencies, {
    onUpgrade: (...upgrade) => void upgraded.push(upgrade),
    onRouteFailure: (slug, error) => reportFailure(slug, 'route', error),
  });
  const { fleet, failures } = parts;
  const operations = createOperations(parts);
  const list = (): PluginStatus[] => listPlugins(fleet.state());

  /**
   * Whoever changes `active_plugins` during a turn waits for those who hear of the change, and they for this. So a sync
   * does not wait for a turn under way but is made up for when that ends.
   */
  const sync = async (): Promise<void> => {
    missed = turns.busy();
    if (missed || stopped) return;
    await inTurn(operations.sync).catch((error: unknown) =>
      log.error('The plugins could not be brought in line with the option active_plugins.', { error }),
    );
  };
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> =>
    turns.take(work).finally(async () => {
      if (missed) void sync();
      for (const upgrade of upgraded.splice(0)) await hooks.doActionAsync('upgraded_plugin', ...upgrade);
    });

  return {
    list,
    sync,
    reportFailure,
    discover: () => inTurn(fleet.discover).then(list),
    async start() {
      const activated = await inTurn(operations.start);
      for (const slug of activated) await hooks.doActionAsync('activated_plugin', slug);
      await hooks.doActionAsync('plugins_loaded');
    },
    async activate(slug) {
      if (await inTurn(() => operations.activate(slug))) await hooks.doActionAsync('activated_plugin', slug);
    },
    async deactivate(slug) {
      if (await inTurn(() => operations.deactivate(slug))) await hooks.doActionAsync('deactivated_plugin', slug);
    },
    uninstall: (slug) => inTurn(() => operations.uninstall(slug)),
    async install(installation) {
      // What unpacks is needed by those who install alone.
      const { install } = await import('./installation.ts');
      const installed = await inTurn(() =>
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
    health: (slug) => askRunning(parts, slug),
    stop() {
      stopped = true;
      return turns.take(operations.stop);
    },
  };
}

async function askRunning(
  { fleet, lifecycle }: OperationsDependencies,
  slug: string | undefined,
): Promise<PluginHealth[]> {
  const { running } = fleet.state();
  if (slug !== undefined && !running.has(slug))
    throw new Error(`The plugin '${slug}' is not running, so it cannot be asked.`);
  const asked = [...running].filter(([each, { definition }]) =>
    slug === undefined ? definition.health !== undefined : each === slug,
  );
  return Promise.all(asked.map(async ([each, plugin]) => ({ slug: each, results: await lifecycle.health(plugin) })));
}

function createParts(
  dependencies: LoaderDependencies,
  listeners: Pick<LifecycleDependencies, 'onUpgrade' | 'onRouteFailure'>,
): OperationsDependencies {
  const { options, migrate, forgetMigrations, services, log, pluginDirs } = dependencies;
  const { clock } = services;
  const active = createStoredSlugs(options, 'active_plugins');
  const declined = createStoredSlugs(options, 'declined_plugins');
  const failures = createStoredFailures({ options, clock, log });
  const versions = createStoredVersions(options);
  const upgrades = createUpgrades({ versions, services: dependencies.upgrades ?? withoutBackups(migrate), clock });
  const lifecycle = createLifecycle({ services, migrate, upgrades, ...listeners });
  const fence = createFence({ active, failures, clock, log });
  const fleet = createFleet({ ...dependencies, lifecycle, active, failures, fence, clock });
  return {
    fleet,
    lifecycle,
    active,
    declined,
    failures,
    versions,
    fence,
    forgetMigrations,
    pluginDir: pluginDirs[0],
    clock,
    log,
  };
}

function withoutBackups(migrate: LoaderDependencies['migrate']): UpgradeServices {
  return {
    pending: async () => [],
    async together(slug, migrations, work) {
      if (migrations.length > 0) await migrate(slug, migrations);
      return work();
    },
    backup: async () => null,
    lastBackup: async () => null,
  };
}

/** Lets work happen one after the other. */
interface Turns {
  /** Runs when all before it has settled; answers its outcome. */
  take<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Whether something is running or waiting. */
  busy(): boolean;
}

function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return {
    busy: () => waiting > 0,
    take(work) {
      waiting += 1;
      const turn = last.then(work).finally(() => {
        waiting -= 1;
      });
      last = turn.catch(() => undefined);
      return turn;
    },
  };
}
