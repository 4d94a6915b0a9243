import { retryWhileUnavailable, type Clock, type DatabaseApi, type Logger } from '#plugin-api';
import type { Release } from '../database/dialects/dialect.ts';
import type { PluginClaims } from './claims.ts';
import type { FailedStarts } from './failed-starts.ts';
import { stopStages, type PluginWarnings, type Quarantine } from './quarantine.ts';
import type { Lifecycle, RunningPlugin } from './lifecycle.ts';
import { describeHidden, describeUnknown, findNear, type PluginSource } from './manifest.ts';
import type { StoredFailures, StoredSettings } from './stored-state.ts';
import { BlockedError } from './upgrade.ts';

export interface StartInit {
  readonly onFailure: 'quarantine' | 'throw';
  readonly isWanted: () => Promise<boolean>;
  /** Code that has run, to start again. Default: that of the folder. */
  readonly former?: RunningPlugin;
}

/** The plugin was deactivated in another process before it could start, or is being uninstalled there. */
export class NotWantedError extends Error {
  override readonly name = 'NotWantedError';
}

export interface RunningSetDependencies {
  readonly noteFolder?: (slug: string, directory: string) => void;
  readonly noteEnd?: (slug: string) => void;
  /** Whether this process serves the site, or is one for a command. Default: it serves. */
  readonly isSite?: boolean;
  readonly claims: PluginClaims;
  readonly lifecycle: Lifecycle;
  readonly warnings: PluginWarnings;
  readonly failures: StoredFailures;
  readonly failedStarts: FailedStarts;
  readonly settings: StoredSettings;
  readonly quarantine: Quarantine;
  readonly withdrawMigrations?: (slug: string) => void;
  readonly database: Pick<DatabaseApi, 'isUnavailable'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Tries of a start while the database is unavailable, and milliseconds between them. Each may wait for a lock as well. */
const maxTries = 5;
const retryInterval = 200;

/** The running plugins of this process, and how each of them starts and stops. */
export interface RunningSet {
  /** See RunningPlugins. */
  end(slug: string, work?: (plugin: RunningPlugin) => Promise<void>): Promise<void>;
  suspend(slugs: readonly string[]): Promise<void>;
  /** In start order. */
  readonly running: Map<string, RunningPlugin>;
  start(source: PluginSource, init: StartInit): Promise<RunningPlugin>;
}

export function createRunningSet({
  noteFolder,
  noteEnd,
  isSite = true,
  claims,
  lifecycle,
  warnings,
  failures,
  failedStarts,
  settings,
  quarantine,
  withdrawMigrations,
  database,
  clock,
  log,
}: RunningSetDependencies): RunningSet {
  const running = new Map<string, RunningPlugin>();
  const releases = new Map<string, Release>();
  const release = async (slug: string): Promise<void> => {
    const held = releases.get(slug);
    releases.delete(slug);
    await held?.();
  };
  const end: RunningSet['end'] = async (slug, work = lifecycle.stop) => {
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
    noteEnd?.(slug);
    await release(slug);
  };
  const suspend: RunningSet['suspend'] = async (slugs) => {
    for (const slug of withDependents(slugs, running).reverse()) await end(slug);
  };
  const claim = async (
    { mustUse, manifest: { slug } }: PluginSource,
    isWanted: StartInit['isWanted'],
  ): Promise<void> => {
    // It can be neither deactivated nor uninstalled.
    if (mustUse) return;
    const held = await claims.run(slug);
    if (held === null) throw new NotWantedError('Another process uninstalls it; activate it when that has ended.');
    releases.set(slug, held);
    if (!(await isWanted())) throw new NotWantedError(`The plugin '${slug}' has been deactivated.`);
  };
  const startClaimed = async (source: PluginSource, former?: RunningPlugin): Promise<RunningPlugin> => {
    const { slug } = source.manifest;
    failedStarts.forget(slug);
    warnings.clear(slug);
    noteFolder?.(slug, source.directory);
    for (const name of source.unknown ?? [])
      if (findNear(name) !== undefined) warnings.add(slug, describeUnknown(name));
    for (const sentence of describeHidden(source)) warnings.add(slug, sentence);
    const plugin = await lifecycle.start(source, former?.definition);
    running.set(slug, plugin);
    await settings.set(slug, plugin.scope.settings());
    // What a command starts says nothing about the processes of the site, which noted the failure.
    const failure = failures.get(slug);
    if (failure && stopStages.includes(failure.stage) && (isSite || failure.byCommand)) await failures.clear(slug);
    return plugin;
  };
  const tryStart = async (
    source: PluginSource,
    { isWanted, former }: Pick<StartInit, 'isWanted' | 'former'>,
  ): Promise<RunningPlugin> => {
    try {
      await claim(source, isWanted);
      return await startClaimed(source, former);
    } catch (error) {
      if (!running.has(source.manifest.slug)) {
        noteEnd?.(source.manifest.slug);
        await release(source.manifest.slug);
      }
      throw error;
    }
  };
  const start: RunningSet['start'] = async (source, { onFailure, ...init }) => {
    const missing = Object.keys(source.manifest.requires).find((each) => !running.has(each));
    if (missing !== undefined) throw new Error(`It requires '${missing}', which is not running.`);
    let tries = 0;
    return retryWhileUnavailable(
      { host: { database, clock }, interval: retryInterval, isOver: () => ++tries >= maxTries },
      () => tryStart(source, init),
    ).catch(async (error: unknown) => {
      const isRefused = error instanceof BlockedError || error instanceof NotWantedError;
      throw onFailure === 'throw' || isRefused ? error : await quarantine(source, error);
    });
  };
  return { running, start, end, suspend };
}

/** The plugins and those that require them, in start order. */
function withDependents(slugs: readonly string[], running: ReadonlyMap<string, RunningPlugin>): string[] {
  const found = new Set(slugs);
  // Required plugins have started earlier.
  for (const [slug, { source }] of running)
    if (Object.keys(source.manifest.requires).some((each) => found.has(each))) found.add(slug);
  return [...running.keys()].filter((slug) => found.has(slug));
}
