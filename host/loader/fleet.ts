import type { Clock, Logger } from '#plugin-api';
import { discover } from './discover.ts';
import type { Discovery, Places } from './discover.ts';
import type { Fence } from './fence.ts';
import type { Lifecycle, RunningPlugin } from './lifecycle.ts';
import type { PluginSource } from './manifest.ts';
import { orderPlugins } from './order.ts';
import type { LoaderState } from './status.ts';
import type { StoredFailures, StoredSlugs } from './stored-state.ts';

/** The plugins that run in this process, and those that could. Its methods are called one at a time. */
export interface Fleet {
  discover(): Promise<void>;
  /** Starts what should be active and is not, stops what is and should not be. What fails is fenced. */
  reconcile(): Promise<void>;
  /**
   * Starts one plugin, unless it is running.
   *
   * @throws Error with the reason: it is unknown, lacks what it requires, or failed and was fenced.
   */
  begin(slug: string): Promise<RunningPlugin>;
  /** Ends a running plugin by `work`, which stops it; what that throws is logged. */
  end(slug: string, work?: (plugin: RunningPlugin) => Promise<void>): Promise<void>;
  state(): LoaderState;
}

interface FleetDependencies extends Places {
  readonly lifecycle: Lifecycle;
  readonly active: StoredSlugs;
  readonly failures: StoredFailures;
  readonly fence: Fence;
  readonly clock: Clock;
  readonly log: Logger;
}

export function createFleet({ lifecycle, active, failures, fence, clock, log, ...places }: FleetDependencies): Fleet {
  const running = new Map<string, RunningPlugin>();
  let discovery: Discovery = { plugins: new Map(), broken: new Map() };
  let wanted: readonly string[] = [];
  let blocked: ReadonlyMap<string, string> = new Map();
  let checkedAt = clock.now();

  const end: Fleet['end'] = async (slug, work = lifecycle.stop) => {
    const plugin = running.get(slug);
    running.delete(slug);
    if (!plugin) return;
    await work(plugin).catch((error: unknown) => log.error(`The plugin '${slug}' failed while it was switched off; it is off all the same.`, { plugin: slug, error }));
  };
  const start = async (source: PluginSource): Promise<RunningPlugin> => {
    const lacking = Object.keys(source.manifest.requires).find((slug) => !running.has(slug));
    if (lacking !== undefined) throw new Error(`It requires '${lacking}', which is not running.`);
    const plugin = await lifecycle.start(source).catch(async (error: unknown) => {
      throw await fence(source, error);
    });
    running.set(source.manifest.slug, plugin);
    return plugin;
  };

  return {
    end,
    async discover() {
      discovery = await discover(places);
      checkedAt = clock.now();
    },
    async reconcile() {
      wanted = await active.read();
      const order = orderPlugins(wanted, discovery.plugins);
      const reasons = new Map(order.blocked);
      const startable = new Set(order.ordered.map(({ manifest }) => manifest.slug));
      for (const slug of [...running.keys()].reverse()) if (!startable.has(slug)) await end(slug);
      for (const source of order.ordered) {
        const { slug } = source.manifest;
        if (!running.has(slug)) await start(source).catch((error: unknown) => reasons.set(slug, (error as Error).message));
      }
      // Without those that were fenced.
      wanted = await active.read();
      for (const [slug, reason] of reasons) {
        if (wanted.includes(slug) && blocked.get(slug) !== reason) log.error(`The plugin '${slug}' was not started. ${reason}`, { plugin: slug });
      }
      blocked = reasons;
      checkedAt = clock.now();
    },
    async begin(slug) {
      const source = usable(slug, discovery);
      const reason = orderPlugins([...(await active.read()), slug], discovery.plugins).blocked.get(slug);
      if (reason !== undefined) throw new Error(`The plugin '${slug}' cannot be activated. ${reason}`);
      return running.get(slug) ?? start(source);
    },
    state: () => ({ discovery, running, wanted, blocked, checkedAt, failureOf: failures.get }),
  };
}

/** @throws Error when there is no such plugin, or its manifest cannot be used. */
export function usable(slug: string, { plugins, broken }: Discovery): PluginSource {
  const source = plugins.get(slug);
  if (source) return source;
  const fault = broken.get(slug);
  throw new Error(fault === undefined ? `There is no plugin '${slug}' in the plugin folders.` : `The plugin '${slug}' cannot be used. ${fault}`);
}
