import type { Logger } from '#plugin-api';
import { createSystemClock, keepAlive } from './clock.ts';
import { readConfig, type Config, type TelemetrySettings } from './start/config.ts';
import { describeMisspelled, findMisspelled, loadEnvFile } from './start/environment.ts';
import { createHost, type Host } from './host.ts';
import { observeCallbacks, observer, type CallbackObserver } from './hooks/callbacks.ts';
import { createPluginFolders, type PluginFolders } from './log/plugin-folders.ts';
import { watchResources, type OpenResource } from './open-resources.ts';
import { logExitsOfPlugins } from './process-exits.ts';
import type { Recovery } from './recovery.ts';
import { isShipped } from './loader/shipped.ts';
import { watchUncaught } from './uncaught.ts';
import { openUnfinishedStarts, type UnfinishedStarts } from './unfinished-starts.ts';
import { startWatchdog } from './watchdog.ts';

/** Milliseconds after which the process exits even if the stop hangs. */
const shutdownTimeoutMs = 20_000;

/** Milliseconds in which what a plugin has ended may close. */
const settlingMs = 1_000;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const milliseconds = (): number => Math.round(performance.now());

/** Runs the site until a signal stops it. @throws Error with a remedy when it cannot start. */
export async function serve(): Promise<void> {
  loadEnvFile();
  const given = readConfig();
  const starts = openUnfinishedStarts(given.dataDir);
  const broken = given.role === 'worker' ? null : starts.take();
  const recovery = broken === null ? null : await recover(given, broken);
  const config = broken === null ? given : leaveOut(given, broken);
  const watchdog = startWatchdog(config);
  const pluginFolders = createPluginFolders({
    onAdd(slug, directory) {
      starts.begin(slug);
      watchdog.add(slug, directory);
      if (!isShipped(directory)) resources.watch(slug);
    },
    onEnd: (slug) => warnOfOpen(slug, resources.take(slug)),
  });
  const uncaught = watchUncaught({ config, pluginFolders, starts });
  logExitsOfPlugins(pluginFolders, uncaught.log);
  const resources = watchResources(pluginFolders, uncaught.report);
  let isStopping = false;
  let flushTelemetry: (() => Promise<void>) | null = null;
  const warnOfOpen = (slug: string, read: () => OpenResource[]): void =>
    void createSystemClock().after(settlingMs, () => {
      if (!isStopping) warnOfResources(uncaught.log(), slug, read());
    });
  const unwatch = reportUnfinished(starts, uncaught.log);
  const host = await keepAlive(createHost({ config, pluginFolders, waits: true })).catch((error: unknown) => {
    if (pluginFolders.ownerOf(error) === null) starts.end();
    throw error;
  });
  starts.pause();
  recovery?.close();
  const stop = (code: number): void => {
    if (isStopping) process.exit(1);
    isStopping = true;
    host.clock.after(shutdownTimeoutMs, () => process.exit(1));
    void host
      .stop()
      .then(() => flushTelemetry?.())
      .then(
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
  if (config.telemetry) flushTelemetry = await startTelemetry(config.telemetry, host);
  const { url, setupLink } = await startNoted({ host, starts, pluginFolders });
  unwatch();
  recovery?.finish();
  for (const sentence of describeMisspelled(await findMisspelled()))
    host.log.warn(sentence, { event: 'environment_variable_unknown', next: "See 'config'" });
  const printText = await textPrinter(config);
  // Who reads that it is ready may stop it at once.
  process.on('SIGTERM', () => stop(0));
  process.on('SIGINT', () => stop(0));
  printText(`Ready on ${url} (${host.database.dialect}, ${milliseconds()} ms)`);
  if (setupLink !== null) printText(`Set up your site: ${setupLink}`);
}

/** Sends traces to the collector that the environment names. */
async function startTelemetry(settings: TelemetrySettings, { log, clock, site }: Host) {
  const { startExport } = await import('./open-telemetry.ts');
  return startExport(settings, { log, version: site.version, now: () => clock.now() });
}

/** The text that is printed for an error of `serve`. */
export async function describeError(error: unknown): Promise<string> {
  return (await import('./cli/terminal-language.ts')).describeStartError(error);
}

/** Prints in the language of the terminal. Log lines stay English. */
async function textPrinter(config: Pick<Config, 'locale'>): Promise<(line: string) => void> {
  return config.locale === '' ? print : (await import('./cli/text-printer.ts')).textPrinter(config);
}

async function recover(config: Config, plugin: string): Promise<Recovery> {
  const { offerRecovery } = await import('./recovery.ts');
  return keepAlive(offerRecovery({ config, clock: createSystemClock(), plugin, print: await textPrinter(config) }));
}

function leaveOut(config: Config, plugin: string): Config {
  const { leftOutPlugins: leftOut } = config;
  return { ...config, leftOutPlugins: leftOut === 'all' ? leftOut : [...leftOut, plugin] };
}

function warnOfResources(log: Logger, slug: string, open: readonly OpenResource[]): void {
  if (open.length === 0) return;
  log.warn('A plugin that has stopped left work running', {
    event: 'plugin_left_running',
    plugin: slug,
    left: open.slice(0, 20),
    next: 'End it in host.onStop, and start timers with host.clock. Restart the site to end it now',
  });
}

/** A plugin's callback of `host_started` can end or hang the process as its start can. */
async function startNoted({
  host,
  starts,
  pluginFolders,
}: {
  readonly host: Host;
  readonly starts: UnfinishedStarts;
  readonly pluginFolders: PluginFolders;
}): ReturnType<Host['start']> {
  const slugs = new Set(host.plugins.list().map(({ slug }) => slug));
  const note: CallbackObserver = ({ hook, owner }, run) =>
    hook === 'host_started' && slugs.has(owner) ? starts.during(owner, () => pluginFolders.run(owner, run)) : run();
  observeCallbacks(note);
  try {
    return await host.start();
  } finally {
    // A trace that began meanwhile has taken its place.
    if (observer === note) observeCallbacks(null);
    starts.end();
  }
}

/** Says which plugin was starting if the process exits. The returned function ends that. */
function reportUnfinished(starts: UnfinishedStarts, log: () => Logger): () => void {
  const report = (): void => {
    const unfinished = starts.current();
    if (unfinished === null) return;
    const { plugin, times } = unfinished;
    log().error('The process ended while a plugin was starting', {
      event: 'start_unfinished',
      plugin,
      next:
        times === 1
          ? `Start again, or without the plugin: PLUGINS=${plugin}`
          : 'Start again for an address that starts the site without the plugin',
    });
  };
  process.once('exit', report);
  return () => void process.off('exit', report);
}
