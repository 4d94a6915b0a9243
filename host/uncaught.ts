import type { Logger } from '#plugin-api';
import { createSystemClock } from './clock.ts';
import type { Config } from './start/config.ts';
import type { Host } from './host.ts';
import { createLogger } from './log/log.ts';
import type { PluginFolders } from './log/plugin-folders.ts';
import { createRedactor } from './log/redactor.ts';
import type { UnfinishedStarts } from './unfinished-starts.ts';

export interface Uncaught {
  /** Before `follow`, a logger without a site. */
  log(): Logger;
  /** Logs an error of a plugin that ends nothing, and records it. */
  report(slug: string, error: unknown): void;
  /** From now on, errors of plugins are recorded and their plugins stopped. `stop` ends the process after other errors. */
  follow(host: Host, stop: () => void): void;
}

/** What this needs of a process. */
export interface WatchedProcess {
  on(event: 'uncaughtException' | 'unhandledRejection', listener: (error: unknown) => void): unknown;
  exit(code: number): void;
}

/** Milliseconds between two log lines about the same plugin, which may go on failing. */
const repeatMs = 60_000;

/**
 * Handles errors that nothing caught. An exception in a timer or callback of a plugin stops that plugin, and the site runs
 * on. Every other one, also of a plugin that ships with the host, ends the process after a graceful stop with code 1, so that
 * its supervisor starts it again. A rejected promise that nothing awaits is logged, and recorded if it is a plugin's.
 */
export function watchUncaught({
  config,
  pluginFolders,
  starts,
  process: watched = process,
}: {
  readonly config: Pick<Config, 'logLevel'>;
  readonly pluginFolders: Pick<PluginFolders, 'ownerOf'>;
  readonly starts: Pick<UnfinishedStarts, 'begin'>;
  /** Default: this process. */
  readonly process?: WatchedProcess;
}): Uncaught {
  const clock = createSystemClock();
  let followed: { readonly host: Host; readonly stop: () => void } | undefined;
  let startLog: Logger | undefined;
  const log = (): Logger =>
    followed?.host.log ??
    (startLog ??= createLogger({
      level: config.logLevel,
      clock,
      redactor: createRedactor(),
      pluginOf: pluginFolders.ownerOf,
    }));
  const loggedAt = new Map<string, number>();

  const stopPlugin = async (slug: string, error: unknown): Promise<boolean> =>
    followed === undefined ? false : followed.host.plugins.contain(slug, error);

  const onException = async (error: unknown): Promise<void> => {
    const slug = pluginFolders.ownerOf(error);
    if (slug !== null) starts.begin(slug);
    const isRepeated = slug !== null && clock.now() - (loggedAt.get(slug) ?? -Infinity) < repeatMs;
    if (slug !== null && !isRepeated) loggedAt.set(slug, clock.now());
    if (!isRepeated)
      log().error(slug === null ? 'Uncaught exception' : 'Uncaught exception in the code of a plugin', {
        event: 'uncaught_exception',
        ...(slug !== null && { plugin: slug }),
        ...(slug !== null && !followed && { next: `Start the site without the plugin: PLUGINS=${slug}` }),
        error,
      });
    if (slug !== null && (await stopPlugin(slug, error).catch(() => false))) return;
    if (followed === undefined) watched.exit(1);
    else followed.stop();
  };
  const onRejection = (error: unknown): void => {
    log().error('Unhandled promise rejection', { event: 'unhandled_rejection', error });
    const slug = pluginFolders.ownerOf(error);
    if (slug !== null) followed?.host.plugins.reportFailure(slug, 'promise', error);
  };
  // What fails in here must not become the next uncaught error: the two would call each other for ever.
  const giveUp = (error: unknown): void => {
    try {
      log().error('Failed to handle an uncaught error', { event: 'uncaught_handler_failed', error });
    } finally {
      watched.exit(1);
    }
  };
  watched.on('uncaughtException', (error) => void onException(error).catch(giveUp));
  watched.on('unhandledRejection', (error) => {
    try {
      onRejection(error);
    } catch (failure) {
      giveUp(failure);
    }
  });
  return {
    log,
    report(slug, error) {
      log().error('A server of a plugin failed', { event: 'plugin_server_failed', plugin: slug, error });
      followed?.host.plugins.reportFailure(slug, 'server', error);
    },
    follow: (host, stop) => void (followed = { host, stop }),
  };
}
