import type { Logger, Migration } from '#plugin-api';
import { createFence, describeError } from './fence.ts';
import { createFleet } from './fleet.ts';
import { createLifecycle } from './lifecycle.ts';
import { createOperations } from './operations.ts';
import type { HostServices } from './services.ts';
import { listPlugins } from './status.ts';
import type { PluginStatus } from './status.ts';
import { createStoredFailures, createStoredSlugs } from './stored-state.ts';
import type { LoaderOptions } from './stored-state.ts';
import { createTurns } from './turns.ts';
import type { Places } from './discover.ts';

export type { HostServices } from './services.ts';
export type { PluginStatus } from './status.ts';
export type { PluginFailure } from './stored-state.ts';

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
  /** Lets an inactive plugin remove its data. Its folder stays. @throws Error while it is active, or with what it threw. */
  uninstall(slug: string): Promise<void>;
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
  readonly services: HostServices;
  readonly log: Logger;
}

export function createLoader(dependencies: LoaderDependencies): Loader {
  const { options, migrate, forgetMigrations, services, log } = dependencies;
  const { clock, hooks } = services;
  const active = createStoredSlugs(options, 'active_plugins');
  const declined = createStoredSlugs(options, 'declined_plugins');
  const failures = createStoredFailures({ options, clock, log });
  const turns = createTurns();
  let missed = false;
  let stopped = false;

  const reportFailure: Loader['reportFailure'] = (slug, stage, error) => {
    const plugin = fleet.state().running.get(slug);
    if (plugin) failures.note(slug, { stage, message: describeError(error, plugin.source), at: clock.now() });
  };
  const lifecycle = createLifecycle({ services, migrate, onRouteFailure: (slug, error) => reportFailure(slug, 'route', error) });
  const fence = createFence({ active, failures, clock, log });
  const fleet = createFleet({ ...dependencies, lifecycle, active, failures, fence, clock });
  const operations = createOperations({ fleet, lifecycle, active, declined, failures, fence, forgetMigrations, log });
  const list = (): PluginStatus[] => listPlugins(fleet.state());

  /**
   * Whoever changes `active_plugins` during a turn waits for those who hear of the change, and they for this. So a sync
   * does not wait for a turn under way but is made up for when that ends.
   */
  const sync = async (): Promise<void> => {
    missed = turns.busy();
    if (missed || stopped) return;
    await inTurn(operations.sync).catch((error: unknown) => log.error('The plugins could not be brought in line with the option active_plugins.', { error }));
  };
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> =>
    turns.take(work).finally(() => {
      if (missed) void sync();
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
    stop() {
      stopped = true;
      return turns.take(operations.stop);
    },
  };
}
