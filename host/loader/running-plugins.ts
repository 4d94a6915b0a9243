import type { Clock, Logger } from '#plugin-api';
import { discover } from './discover.ts';
import type { Discovery, Places } from './discover.ts';
import type { Fence } from './quarantine.ts';
import type { Lifecycle, RunningPlugin } from './lifecycle.ts';
import type { PluginSource } from './manifest.ts';
import { orderPlugins } from './order.ts';
import type { Blocked, LoaderState } from './status.ts';
import type { StoredFailures, StoredSlugs } from './stored-state.ts';
import { BlockedError } from './upgrade.ts';

/** The plugins that run in this process, and those that could. Its methods are called one at a time. */
export interface Fleet {
  discover(): Promise<void>;
  /**
   * Starts what should be active and is not, stops what is and should not be, and starts anew what lies there in another
   * version than runs. What fails is fenced.
   */
  reconcile(): Promise<void>;
  /**
   * Starts one plugin, unless it is running.
   *
   * @param onFailure what becomes of one that fails: `fence` (default) switches it off for good, `throw` only tells.
   * @throws Error with the reason: it is unknown, lacks what it requires, or failed.
   */
  begin(slug: string, onFailure?: 'fence' | 'throw'): Promise<RunningPlugin>;
  /** Ends a running plugin by `work`, which stops it; what that throws is logged. */
  end(slug: string, work?: (plugin: RunningPlugin) => Promise<void>): Promise<void>;
  /** Stops plugins and, before them, all that require them. They stay active: `reconcile` starts them again. */
  suspend(slugs: readonly string[]): Promise<void>;
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
  const { running, givenUp, start, end, suspend } = createRunning({ lifecycle, failures, fence, log });
  let discovery: Discovery = { plugins: new Map(), broken: new Map() };
  let wanted: readonly string[] = [];
  let blocked: ReadonlyMap<string, Blocked> = new Map();
  let checkedAt = clock.now();

  const readWanted = async (): Promise<string[]> => {
    const mustUse = [...discovery.plugins.values()]
      .filter((source) => source.mustUse)
      .map(({ manifest }) => manifest.slug);
    return [...new Set([...mustUse, ...(await active.read())])];
  };
  const tellBlocked = (reasons: ReadonlyMap<string, Blocked>): void => {
    for (const [slug, { message }] of reasons) {
      if (wanted.includes(slug) && blocked.get(slug)?.message !== message)
        log.error(`The plugin '${slug}' was not started. ${message}`, { plugin: slug });
    }
    blocked = reasons;
  };

  return {
    end,
    suspend,
    async discover() {
      discovery = await discover(places);
      checkedAt = clock.now();
    },
    async reconcile() {
      wanted = await readWanted();
      const order = orderPlugins(wanted, discovery.plugins);
      const reasons = new Map<string, Blocked>(
        [...order.blocked].map(([slug, message]) => [slug, { stage: 'requires', message }]),
      );
      const startable = new Set(order.ordered.map(({ manifest }) => manifest.slug));
      for (const slug of [...running.keys()].reverse()) if (!startable.has(slug)) await end(slug);
      await suspend(outdated(running, discovery));
      for (const source of order.ordered) {
        const { slug } = source.manifest;
        if (running.has(slug) || givenUp.has(slug)) continue;
        await start(source, 'fence').catch((error: unknown) =>
          reasons.set(slug, {
            stage: error instanceof BlockedError ? 'version' : 'start',
            message: (error as Error).message,
          }),
        );
      }
      // Without those that were fenced.
      wanted = await readWanted();
      for (const slug of givenUp) reasons.delete(slug);
      tellBlocked(reasons);
      checkedAt = clock.now();
    },
    async begin(slug, onFailure = 'fence') {
      const source = usable(slug, discovery);
      const reason = orderPlugins([...(await readWanted()), slug], discovery.plugins).blocked.get(slug);
      if (reason !== undefined) throw new Error(`The plugin '${slug}' cannot be activated. ${reason}`);
      return running.get(slug) ?? start(source, onFailure);
    },
    state: () => ({ discovery, running, wanted, blocked, checkedAt, failureOf: failures.get }),
  };
}

interface Running extends Pick<Fleet, 'end' | 'suspend'> {
  /** In the order in which they were started. */
  readonly running: Map<string, RunningPlugin>;
  /** Plugins that must be used and failed: they cannot be taken out of the active ones, so each process tries them once. */
  readonly givenUp: Set<string>;
  start(source: PluginSource, onFailure: 'fence' | 'throw'): Promise<RunningPlugin>;
}

function createRunning({
  lifecycle,
  failures,
  fence,
  log,
}: Pick<FleetDependencies, 'lifecycle' | 'failures' | 'fence' | 'log'>): Running {
  const running = new Map<string, RunningPlugin>();
  const givenUp = new Set<string>();
  const end: Fleet['end'] = async (slug, work = lifecycle.stop) => {
    const plugin = running.get(slug);
    running.delete(slug);
    if (!plugin) return;
    await work(plugin).catch((error: unknown) =>
      log.error(`The plugin '${slug}' failed while it was switched off; it is off all the same.`, {
        plugin: slug,
        error,
      }),
    );
  };
  const suspend: Fleet['suspend'] = async (slugs) => {
    for (const slug of withDependents(slugs, running).reverse()) await end(slug);
  };
  const start: Running['start'] = async (source, onFailure) => {
    const { slug, requires } = source.manifest;
    const lacking = Object.keys(requires).find((each) => !running.has(each));
    if (lacking !== undefined) throw new Error(`It requires '${lacking}', which is not running.`);
    givenUp.delete(slug);
    const plugin = await lifecycle.start(source).catch(async (error: unknown) => {
      if (onFailure === 'throw' || error instanceof BlockedError) throw error;
      if (source.mustUse) givenUp.add(slug);
      throw await fence(source, error);
    });
    running.set(slug, plugin);
    if (source.mustUse && failures.get(slug)) await failures.clear(slug);
    return plugin;
  };
  return { running, givenUp, start, end, suspend };
}

/** Those that run in another version than lies in their folder now. */
function outdated(running: ReadonlyMap<string, RunningPlugin>, { plugins }: Discovery): string[] {
  return [...running]
    .filter(([slug, { source }]) => plugins.get(slug)?.manifest.version !== source.manifest.version)
    .map(([slug]) => slug);
}

/** With all that require them, in the order in which they were started. */
function withDependents(slugs: readonly string[], running: ReadonlyMap<string, RunningPlugin>): string[] {
  const found = new Set(slugs);
  // What is required was started before.
  for (const [slug, { source }] of running)
    if (Object.keys(source.manifest.requires).some((each) => found.has(each))) found.add(slug);
  return [...running.keys()].filter((slug) => found.has(slug));
}

/** @throws Error when there is no such plugin, or its manifest cannot be used. */
export function usable(slug: string, { plugins, broken }: Discovery): PluginSource {
  const source = plugins.get(slug);
  if (source) return source;
  const fault = broken.get(slug);
  throw new Error(
    fault === undefined
      ? `There is no plugin '${slug}' in the plugin folders.`
      : `The plugin '${slug}' cannot be used. ${fault}`,
  );
}
