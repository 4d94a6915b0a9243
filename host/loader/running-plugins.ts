import { basename } from 'node:path';
import { discover, requireSource } from './discover.ts';
import type { Discovery, PluginSearch } from './discover.ts';
import { startStages } from './quarantine.ts';
import type { RunningPlugin } from './lifecycle.ts';
import { orderPlugins } from './order.ts';
import { createRunningSet, type RunningSetDependencies, type StartInit } from './running-set.ts';
import { leftOutReason, missingReason, type Blocked, type LoaderState } from './status.ts';
import type { StoredSlugs } from './stored-state.ts';
import { BlockedError } from './upgrade.ts';

/** The installed and running plugins of this process. Its methods must not run concurrently. */
export interface RunningPlugins {
  discover(): Promise<void>;
  /** Adds the folder of a plugin that runs in this process only, until it stops. Returns its slug. */
  develop(directory: string): string;
  /**
   * Starts and stops plugins to match the active ones, and restarts those whose version on disk changed. Those that fail are
   * left out of this process.
   */
  reconcile(): Promise<void>;
  /**
   * Starts one plugin unless it is running.
   *
   * @param init `onFailure`: `quarantine` (default) notes that it failed, `throw` only throws. `isWanted`: asked once no
   *   other process can uninstall the plugin any more. Default: it is. `former`: starts this code again.
   * @throws Error with the reason: the plugin is unknown, a requirement is missing, it is being uninstalled, or it failed.
   *   NotWantedError if it is not wanted any more.
   */
  begin(slug: string, init?: Partial<StartInit>): Promise<RunningPlugin>;
  /** Whether the plugin is must-use, developed here, or active in the database at this moment. */
  isWanted(slug: string): Promise<boolean>;
  /** Stops a running plugin with `work`. Logs errors. */
  end(slug: string, work?: (plugin: RunningPlugin) => Promise<void>): Promise<void>;
  /** Stops plugins and those that require them. They remain active, so `reconcile` starts them again. */
  suspend(slugs: readonly string[]): Promise<void>;
  /**
   * Stops a plugin whose code failed where nothing could catch it, and those that require it. It remains active: another
   * process, or this one after a restart or an activation, starts it again.
   */
  crash(slug: string, message: string): Promise<void>;
  state(): LoaderState;
}

interface RunningPluginsDependencies extends PluginSearch, RunningSetDependencies {
  readonly isLeftOut: (slug: string) => boolean;
  readonly active: StoredSlugs;
  readonly findTooOld?: () => Promise<ReadonlyMap<string, string>>;
}

export function createRunningPlugins({
  isLeftOut,
  active,
  findTooOld = async () => new Map(),
  ...dependencies
}: RunningPluginsDependencies): RunningPlugins {
  const { failures, failedStarts, warnings, clock, log } = dependencies;
  const { running, start, end, suspend } = createRunningSet(dependencies);
  const crashed = new Map<string, string>();
  const developed: string[] = [];
  let discovery: Discovery = { plugins: new Map(), broken: new Map() };
  let wanted: readonly string[] = [];
  let blocked: ReadonlyMap<string, Blocked> = new Map();
  let checkedAt = clock.now();

  const readWantedSlugs = async (): Promise<string[]> => {
    const mustUse = [...discovery.plugins.values()]
      .filter((source) => source.mustUse)
      .map(({ manifest }) => manifest.slug);
    return [...new Set([...mustUse, ...(await active.read()), ...developed.map((directory) => basename(directory))])];
  };
  const isWanted = async (slug: string): Promise<boolean> => {
    active.refresh();
    return (await readWantedSlugs()).includes(slug);
  };
  /** Another process has activated the plugins again, or an administrator has there. */
  const forgetCleared = (): void => {
    for (const slug of crashed.keys()) if (failures.get(slug) === null) crashed.delete(slug);
    for (const source of discovery.plugins.values()) {
      const stage = failedStarts.reasonOf(source)?.stage;
      if (stage !== undefined && stage !== 'database' && failures.get(source.manifest.slug) === null)
        failedStarts.forget(source.manifest.slug);
    }
  };
  const logBlocked = (reasons: ReadonlyMap<string, Blocked>): void => {
    for (const [slug, { stage, message }] of reasons) {
      const isLogged = blocked.get(slug)?.message === message || stage === 'database' || startStages.includes(stage);
      if (wanted.includes(slug) && !isLogged)
        log.error('Plugin not started', { event: 'plugin_not_started', plugin: slug, reason: message });
    }
    blocked = reasons;
  };

  return {
    end,
    suspend,
    develop(directory) {
      if (!developed.includes(directory)) developed.push(directory);
      return basename(directory);
    },
    async discover() {
      discovery = await discover({ ...dependencies, developed });
      checkedAt = clock.now();
    },
    async reconcile() {
      wanted = await readWantedSlugs();
      forgetCleared();
      const tooOld = await findTooOld();
      const isTooOld = (slug: string): boolean => tooOld.has(slug) || tooOld.has('host');
      const order = orderPlugins(
        wanted.filter((slug) => !isLeftOut(slug) && !crashed.has(slug) && !isTooOld(slug)),
        discovery.plugins,
      );
      const reasons = new Map<string, Blocked>(
        [...order.blocked].map(([slug, message]) => [slug, { stage: 'requires', message }]),
      );
      for (const [slug, message] of crashed) {
        if (wanted.includes(slug)) reasons.set(slug, { stage: 'crash', message });
        else crashed.delete(slug);
      }
      for (const slug of wanted.filter(isTooOld))
        reasons.set(slug, { stage: 'version', message: tooOld.get(slug) ?? tooOld.get('host') ?? '' });
      for (const slug of wanted)
        if (!discovery.plugins.has(slug) && !discovery.broken.has(slug))
          reasons.set(slug, { stage: 'discover', message: missingReason });
      for (const slug of wanted.filter(isLeftOut)) reasons.set(slug, { stage: 'left out', message: leftOutReason });
      const startable = new Set(order.ordered.map(({ manifest }) => manifest.slug));
      for (const slug of [...running.keys()].reverse()) if (!startable.has(slug)) await end(slug);
      await suspend(findOutdated(running, discovery));
      for (const source of order.ordered) {
        const { slug } = source.manifest;
        if (running.has(slug)) continue;
        const known = failedStarts.reasonOf(source);
        if (known !== null) reasons.set(slug, known);
        else
          await start(source, { onFailure: 'quarantine', isWanted: () => isWanted(slug) }).catch((error: unknown) =>
            reasons.set(slug, failedStarts.reasonOf(source) ?? reasonOf(error)),
          );
      }
      // Read again: another process may have deactivated one meanwhile.
      wanted = await readWantedSlugs();
      logBlocked(reasons);
      checkedAt = clock.now();
    },
    isWanted,
    async begin(slug, { onFailure = 'quarantine', isWanted: asks = async () => true, former } = {}) {
      const source = former?.source ?? requireSource(slug, discovery);
      if (isLeftOut(slug)) throw new Error(`The plugin '${slug}' cannot be activated. ${leftOutReason}`);
      const reason = orderPlugins([...(await readWantedSlugs()), slug], discovery.plugins).blocked.get(slug);
      if (reason !== undefined) throw new Error(`The plugin '${slug}' cannot be activated. ${reason}`);
      crashed.delete(slug);
      return running.get(slug) ?? start(source, { onFailure, isWanted: asks, ...(former && { former }) });
    },
    async crash(slug, message) {
      crashed.set(slug, message);
      await suspend([slug]);
    },
    state: () => ({
      discovery,
      running,
      wanted,
      blocked,
      checkedAt,
      isSite: dependencies.isSite ?? true,
      failureOf: failures.get,
      warningsOf: warnings.of,
    }),
  };
}

const reasonOf = (error: unknown): Blocked => ({
  stage: error instanceof BlockedError ? 'version' : 'start',
  message: (error as Error).message,
});

/** Running plugins whose version differs from the one on disk. */
function findOutdated(running: ReadonlyMap<string, RunningPlugin>, { plugins }: Discovery): string[] {
  return [...running]
    .filter(([slug, { source }]) => plugins.get(slug)?.manifest.version !== source.manifest.version)
    .map(([slug]) => slug);
}
