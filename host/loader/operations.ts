import type { Clock, Logger } from '#plugin-api';
import { describeError } from './quarantine.ts';
import type { Fence } from './quarantine.ts';
import { usable } from './running-plugins.ts';
import type { Fleet } from './running-plugins.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { PluginSource } from './manifest.ts';
import { orderPlugins } from './order.ts';
import { healPluginFolder } from './install/recover-interrupted.ts';
import { removeFolder } from './install/replace-folder.ts';
import type { StoredFailures, StoredSlugs } from './stored-state.ts';
import type { StoredVersions } from './stored-state.ts';

/** What can be asked of all plugins together. To be called one at a time. */
export interface Operations {
  /** Answers the slugs of those that were activated by it. */
  start(): Promise<readonly string[]>;
  /** Answers whether the plugin was not active before. */
  activate(slug: string): Promise<boolean>;
  /** Answers whether the plugin was active before. */
  deactivate(slug: string): Promise<boolean>;
  /** Answers whether its folder was removed, too. */
  uninstall(slug: string): Promise<boolean>;
  /** Brings this process in line with what is stored. */
  sync(): Promise<void>;
  stop(): Promise<void>;
}

export interface OperationsDependencies {
  readonly fleet: Fleet;
  readonly lifecycle: Lifecycle;
  /** The option `active_plugins`. */
  readonly active: StoredSlugs;
  /** Plugins that ship as active and were switched off by an administrator. */
  readonly declined: StoredSlugs;
  readonly failures: StoredFailures;
  readonly fence: Fence;
  readonly versions: StoredVersions;
  readonly forgetMigrations: ((slug: string) => Promise<void>) | undefined;
  /** Where plugins are installed. */
  readonly pluginDir: string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

export function createOperations(dependencies: OperationsDependencies): Operations {
  const { fleet, failures } = dependencies;
  const sync = async (): Promise<void> => {
    await failures.load();
    await fleet.discover();
    await fleet.reconcile();
  };
  return {
    sync,
    async start() {
      const { pluginDir, versions, clock, log } = dependencies;
      if (pluginDir !== undefined) await healPluginFolder({ pluginDir, versions, clock, log });
      await sync();
      return activateShipped(dependencies);
    },
    async activate(slug) {
      await fleet.discover();
      const entered = await enter(slug, dependencies);
      await failures.clear(slug);
      await dependencies.declined.remove(slug);
      // Others may have waited for it.
      await fleet.reconcile();
      return entered;
    },
    deactivate: (slug) => deactivate(slug, dependencies),
    uninstall: (slug) => uninstall(slug, dependencies),
    async stop() {
      for (const slug of [...fleet.state().running.keys()].reverse()) await fleet.end(slug);
      await failures.flush();
    },
  };
}

/** Starts a plugin and lists it as active. Of several processes that do so at once, the one that listed it runs its `activate`. */
async function enter(slug: string, { fleet, lifecycle, active, fence }: OperationsDependencies): Promise<boolean> {
  const plugin = await fleet.begin(slug);
  if (plugin.source.mustUse || !(await active.add(slug))) return false;
  try {
    await lifecycle.activate(plugin);
    return true;
  } catch (error) {
    await fleet.end(slug);
    throw await fence(plugin.source, error);
  }
}

async function deactivate(
  slug: string,
  { fleet, lifecycle, active, declined, failures }: OperationsDependencies,
): Promise<boolean> {
  const { running, discovery } = fleet.state();
  if (!running.has(slug) && !(await active.read()).includes(slug) && !discovery.broken.has(slug))
    usable(slug, discovery);
  refuseMustUse(discovery.plugins.get(slug), 'deactivated');
  const dependents = [...running.values()]
    .map(({ source }) => source.manifest)
    .filter(({ requires }) => Object.hasOwn(requires, slug));
  if (dependents.length > 0) {
    throw new Error(
      `The plugin '${slug}' is required by ${dependents.map((manifest) => `'${manifest.slug}'`).join(', ')}; deactivate that first.`,
    );
  }
  await fleet.end(slug, lifecycle.deactivate);
  const left = await active.remove(slug);
  if (discovery.plugins.get(slug)?.manifest.autoActivate) await declined.add(slug);
  await failures.clear(slug);
  await fleet.reconcile();
  return left;
}

async function uninstall(slug: string, dependencies: OperationsDependencies): Promise<boolean> {
  const { fleet, lifecycle, active, failures, versions, forgetMigrations, pluginDir, clock } = dependencies;
  await fleet.discover();
  const { running, discovery } = fleet.state();
  refuseMustUse(discovery.plugins.get(slug), 'uninstalled');
  if (running.has(slug) || (await active.read()).includes(slug))
    throw new Error(`The plugin '${slug}' is active; deactivate it before it is uninstalled.`);
  const source = usable(slug, discovery);
  await lifecycle.uninstall(source).catch((error: unknown) => {
    throw new Error(`The plugin '${slug}' could not be uninstalled: ${describeError(error, source)}`, { cause: error });
  });
  await forgetMigrations?.(slug);
  await versions.forget(slug);
  await failures.clear(slug);
  if (pluginDir === undefined || source.shipped) return false;
  await lifecycle.settled(source.directory);
  const removed = await removeFolder({ source, pluginDir, clock });
  await fleet.discover();
  return removed;
}

function refuseMustUse(source: PluginSource | undefined, verb: string): void {
  if (source?.mustUse)
    throw new Error(
      `The plugin '${source.manifest.slug}' must be used and cannot be ${verb}; take its folder out of the folder 'must-use' and restart.`,
    );
}

async function activateShipped(dependencies: OperationsDependencies): Promise<string[]> {
  const { fleet, log } = dependencies;
  const activated: string[] = [];
  for (const slug of await shippedAsActive(dependencies)) {
    try {
      if (await enter(slug, dependencies)) activated.push(slug);
    } catch (error) {
      log.warn(`The plugin '${slug}' ships as active and could not be activated.`, { plugin: slug, error });
    }
  }
  if (activated.length > 0) await fleet.reconcile();
  return activated;
}

/** In the order in which they start. One that an administrator switched off stays off, and one that failed waits for someone to look at it. */
async function shippedAsActive({
  fleet,
  declined,
  failures,
}: Pick<OperationsDependencies, 'fleet' | 'declined' | 'failures'>): Promise<string[]> {
  const { discovery, wanted } = fleet.state();
  const refused = await declined.read();
  const shipped = [...discovery.plugins.values()]
    .filter(({ manifest }) => manifest.autoActivate === true)
    .map(({ manifest }) => manifest.slug)
    .filter((slug) => !wanted.includes(slug) && !refused.includes(slug) && failures.get(slug) === null);
  return orderPlugins([...wanted, ...shipped], discovery.plugins)
    .ordered.map(({ manifest }) => manifest.slug)
    .filter((slug) => shipped.includes(slug));
}
