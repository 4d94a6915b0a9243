import type { Logger } from '#plugin-api';
import { createSystemClock, keepAlive } from './clock.ts';
import { readConfig, type Config } from './config.ts';
import { createHost, type Host, type HostInit } from './host.ts';
import { createLogger } from './log/log.ts';
import { createPluginFolders, type PluginFolders } from './log/plugin-folders.ts';
import { createRedactor } from './log/redactor.ts';

/** Milliseconds after which the process exits even if the stop hangs. */
const shutdownTimeoutMs = 20_000;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const milliseconds = (): number => Math.round(performance.now());

/** Runs the site until a signal stops it. @throws Error with a remedy when it cannot start. */
export async function serve({ compilePlugin }: Pick<HostInit, 'compilePlugin'>): Promise<void> {
  const config = readConfig();
  const pluginFolders = createPluginFolders();
  const uncaught = watchUncaught(config, pluginFolders);
  const host = await keepAlive(createHost({ config, pluginFolders, ...(compilePlugin && { compilePlugin }) }));
  let isStopping = false;
  const stop = (code: number): void => {
    if (isStopping) process.exit(1);
    isStopping = true;
    host.clock.after(shutdownTimeoutMs, () => process.exit(1));
    void host.stop().then(
      () => process.exit(code),
      (error: unknown) => {
        host.log.error('Shutdown failed', { event: 'shutdown_failed', error });
        process.exit(1);
      },
    );
  };
  uncaught.follow(host, () => {
    if (!isStopping) stop(1);
  });
  const { url, setupLink } = await host.start();
  print(`Ready on ${url} (${host.database.dialect}, ${milliseconds()} ms)`);
  if (setupLink !== null) print(`Set up your site: ${setupLink}`);
  process.on('SIGTERM', () => stop(0));
  process.on('SIGINT', () => stop(0));
}

interface Uncaught {
  /** From now on, errors of plugins are recorded and their plugins stopped. `stop` ends the process after other errors. */
  follow(host: Host, stop: () => void): void;
}

/** Milliseconds between two log lines about the same plugin, which may go on failing. */
const repeatMs = 60_000;

/**
 * Handles errors that nothing caught. An exception in a timer or callback of a plugin stops that plugin, and the site runs
 * on. Every other one, also of a plugin that ships with the host, ends the process after a graceful stop with code 1, so that
 * its supervisor starts it again. A rejected promise that nothing awaits is logged, and recorded if it is a plugin's.
 */
function watchUncaught(config: Config, pluginFolders: PluginFolders): Uncaught {
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
    if (followed === undefined) process.exit(1);
    followed.stop();
  };
  process.on('uncaughtException', (error) => void onException(error));
  process.on('unhandledRejection', (error) => {
    log().error('Unhandled promise rejection', { event: 'unhandled_rejection', error });
    const slug = pluginFolders.ownerOf(error);
    if (slug !== null) followed?.host.plugins.reportFailure(slug, 'promise', error);
  });
  return { follow: (host, stop) => void (followed = { host, stop }) };
}
