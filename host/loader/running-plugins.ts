import { basename } from 'node:path';
import type { Clock, Logger } from '#plugin-api';
import type { Release } from '../database/dialects/dialect.ts';
import type { PluginClaims } from './claims.ts';
import { discover } from './discover.ts';
import type { Discovery, PluginSearch } from './discover.ts';
import type { PluginWarnings, Quarantine } from './quarantine.ts';
import type { Lifecycle, RunningPlugin } from './lifecycle.ts';
import type { PluginSource } from './manifest.ts';
import { orderPlugins } from './order.ts';
import type { Blocked, LoaderState } from './status.ts';
import type { StoredFailures, StoredSettings, StoredSlugs } from './stored-state.ts';
import { BlockedError } from './upgrade.ts';

/** The installed and running plugins of this process. Its methods must not run concurrently. */
export interface RunningPlugins {
  discover(): Promise<void>;
  /** Adds the folder of a plugin that runs in this process only, until it stops. Returns its slug. */
  develop(directory: string): string;
  /**
   * Starts and stops plugins to match the active ones, and restarts those whose version on disk changed. Quarantines plugins
   * that fail.
   */
  reconcile(): Promise<void>;
  /**
   * Starts one plugin unless it is running.
   *
   * @param init `onFailure`: `quarantine` (default) disables a plugin that fails, `throw` only throws. `isWanted`: asked once no
   *   other process can uninstall the plugin any more. Default: it is.
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

interface StartInit {
  readonly onFailure: 'quarantine' | 'throw';
  readonly isWanted: () => Promise<boolean>;
}

/** The plugin was deactivated in another process, perhaps uninstalled, before it could start. */
export class NotWantedError extends Error {
  override readonly name = 'NotWantedError';
}

interface RunningPluginsDependencies extends PluginSearch {
  readonly isLeftOut: (slug: string) => boolean;
  readonly noteFolder?: (slug: string, directory: string) => void;
  readonly claims: PluginClaims;
  readonly lifecycle: Lifecycle;
  readonly warnings: PluginWarnings;
  readonly active: StoredSlugs;
  readonly failures: StoredFailures;
  readonly settings: StoredSettings;
  readonly quarantine: Quarantine;
  readonly withdrawMigrations?: (slug: string) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

const leftOutReason =
  'This start leaves it out: by the environment variable PLUGINS, or because it ended the starts before. Restart without PLUGINS.';

export function createRunningPlugins({
  isLeftOut,
  active,
  clock,
  ...dependencies
}: RunningPluginsDependencies): RunningPlugins {
  const { failures, warnings, log } = dependencies;
  const { running, failedMustUse, start, end, suspend } = createRunningSet(dependencies);
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
  const logBlocked = (reasons: ReadonlyMap<string, Blocked>): void => {
    for (const [slug, { message }] of reasons) {
      if (wanted.includes(slug) && blocked.get(slug)?.message !== message)
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
      const order = orderPlugins(
        wanted.filter((slug) => !isLeftOut(slug) && !crashed.has(slug)),
        discovery.plugins,
      );
      const reasons = new Map<string, Blocked>(
        [...order.blocked].map(([slug, message]) => [slug, { stage: 'requires', message }]),
      );
      for (const [slug, message] of crashed) {
        if (wanted.includes(slug)) reasons.set(slug, { stage: 'crash', message });
        else crashed.delete(slug);
      }
      for (const slug of wanted.filter(isLeftOut)) reasons.set(slug, { stage: 'left out', message: leftOutReason });
      const startable = new Set(order.ordered.map(({ manifest }) => manifest.slug));
      for (const slug of [...running.keys()].reverse()) if (!startable.has(slug)) await end(slug);
      await suspend(findOutdated(running, discovery));
      for (const source of order.ordered) {
        const { slug } = source.manifest;
        if (running.has(slug) || failedMustUse.has(slug)) continue;
        await start(source, { onFailure: 'quarantine', isWanted: () => isWanted(slug) }).catch((error: unknown) =>
          reasons.set(slug, {
            stage: error instanceof BlockedError ? 'version' : 'start',
            message: (error as Error).message,
          }),
        );
      }
      // Read again, because plugins may have been quarantined.
      wanted = await readWantedSlugs();
      for (const slug of failedMustUse) reasons.delete(slug);
      logBlocked(reasons);
      checkedAt = clock.now();
    },
    isWanted,
    async begin(slug, { onFailure = 'quarantine', isWanted: asks = async () => true } = {}) {
      const source = requireSource(slug, discovery);
      if (isLeftOut(slug)) throw new Error(`The plugin '${slug}' cannot be activated. ${leftOutReason}`);
      const reason = orderPlugins([...(await readWantedSlugs()), slug], discovery.plugins).blocked.get(slug);
      if (reason !== undefined) throw new Error(`The plugin '${slug}' cannot be activated. ${reason}`);
      crashed.delete(slug);
      return running.get(slug) ?? start(source, { onFailure, isWanted: asks });
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
      failureOf: failures.get,
      warningsOf: warnings.of,
    }),
  };
}

interface RunningSet extends Pick<RunningPlugins, 'end' | 'suspend'> {
  /** In start order. */
  readonly running: Map<string, RunningPlugin>;
  /** Must-use plugins that failed. They cannot be disabled, so each process tries them once. */
  readonly failedMustUse: Set<string>;
  start(source: PluginSource, init: StartInit): Promise<RunningPlugin>;
}

function createRunningSet({
  noteFolder,
  claims,
  lifecycle,
  warnings,
  failures,
  settings,
  quarantine,
  withdrawMigrations,
  log,
}: Pick<
  RunningPluginsDependencies,
  | 'noteFolder'
  | 'claims'
  | 'lifecycle'
  | 'warnings'
  | 'failures'
  | 'settings'
  | 'quarantine'
  | 'withdrawMigrations'
  | 'log'
>): RunningSet {
  const running = new Map<string, RunningPlugin>();
  const failedMustUse = new Set<string>();
  const releases = new Map<string, Release>();
  const release = async (slug: string): Promise<void> => {
    const held = releases.get(slug);
    releases.delete(slug);
    await held?.();
  };
  const end: RunningPlugins['end'] = async (slug, work = lifecycle.stop) => {
    const plugin = running.get(slug);
    running.delete(slug);
    if (!plugin) return;
    await work(plugin).catch((error: unknown) =>
      log.error('Plugin failed while stopping', {
        event: 'plugin_stop_failed',
        plugin: slug,
        error,
      }),
    );
    withdrawMigrations?.(slug);
    await release(slug);
  };
  const suspend: RunningPlugins['suspend'] = async (slugs) => {
    for (const slug of withDependents(slugs, running).reverse()) await end(slug);
  };
  const claim = async (
    { mustUse, manifest: { slug } }: PluginSource,
    isWanted: StartInit['isWanted'],
  ): Promise<void> => {
    // It can be neither deactivated nor uninstalled.
    if (mustUse) return;
    const held = await claims.run(slug);
    if (held === null) throw new Error('Another process uninstalls it; activate it when that has ended.');
    releases.set(slug, held);
    if (!(await isWanted())) throw new NotWantedError(`The plugin '${slug}' has been deactivated.`);
  };
  const startClaimed = async (source: PluginSource, onFailure: StartInit['onFailure']): Promise<RunningPlugin> => {
    const { slug } = source.manifest;
    failedMustUse.delete(slug);
    warnings.clear(slug);
    noteFolder?.(slug, source.directory);
    const plugin = await lifecycle.start(source).catch(async (error: unknown) => {
      if (onFailure === 'throw' || error instanceof BlockedError) throw error;
      if (source.mustUse) failedMustUse.add(slug);
      throw await quarantine(source, error);
    });
    running.set(slug, plugin);
    await settings.set(slug, plugin.scope.settings());
    if (source.mustUse && failures.get(slug)) await failures.clear(slug);
    return plugin;
  };
  const start: RunningSet['start'] = async (source, { onFailure, isWanted }) => {
    const { slug, requires } = source.manifest;
    const missing = Object.keys(requires).find((each) => !running.has(each));
    if (missing !== undefined) throw new Error(`It requires '${missing}', which is not running.`);
    try {
      await claim(source, isWanted);
      return await startClaimed(source, onFailure);
    } catch (error) {
      if (!running.has(slug)) await release(slug);
      throw error;
    }
  };
  return { running, failedMustUse, start, end, suspend };
}

/** Running plugins whose version differs from the one on disk. */
function findOutdated(running: ReadonlyMap<string, RunningPlugin>, { plugins }: Discovery): string[] {
  return [...running]
    .filter(([slug, { source }]) => plugins.get(slug)?.manifest.version !== source.manifest.version)
    .map(([slug]) => slug);
}

/** The plugins and those that require them, in start order. */
function withDependents(slugs: readonly string[], running: ReadonlyMap<string, RunningPlugin>): string[] {
  const found = new Set(slugs);
  // Required plugins have started earlier.
  for (const [slug, { source }] of running)
    if (Object.keys(source.manifest.requires).some((each) => found.has(each))) found.add(slug);
  return [...running.keys()].filter((slug) => found.has(slug));
}

/** @throws Error for an unknown plugin or an invalid manifest. */
export function requireSource(slug: string, { plugins, broken }: Discovery): PluginSource {
  const source = plugins.get(slug);
  if (source) return source;
  const brokenReason = broken.get(slug);
  throw new Error(
    brokenReason === undefined
      ? `The plugin '${slug}' does not exist in the plugin folders.`
      : `The plugin '${slug}' cannot be used. ${brokenReason}`,
  );
}
