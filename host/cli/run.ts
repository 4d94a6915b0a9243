import { createSystemClock, keepAlive } from '../clock.ts';
import { readConfig, type Config, readTerminalLocale } from '../start/config.ts';
import { loadEnvFile } from '../start/environment.ts';
import { createHost, type Host } from '../host.ts';
import { createPluginFolders, type PluginFolders } from '../log/plugin-folders.ts';
import { watchResources, type OpenResource, type OpenResources } from '../open-resources.ts';
import { isShipped } from '../loader/shipped.ts';
import { forgetUnfinished } from '../unfinished-starts.ts';
import { logExitsOfPlugins } from '../process-exits.ts';
import { startWatchdog, type Watchdog } from '../watchdog.ts';
import { textPrinter } from './text-printer.ts';
import { errorText } from '#plugin-api';
import { translatorWithoutSite } from './terminal-language.ts';

export interface RunInit {
  /** Gets the handler of errors that nothing caught: true if the command goes on. */
  readonly onUncaught: (handle: (error: unknown) => boolean) => void;
}

/**
 * Runs one command in a separate process, with or without a running site. Ends the process when the command has ended,
 * whatever timers a plugin has.
 *
 * @param argv the arguments after the program name.
 * @throws Error with a remedy when the site cannot be opened.
 */
export async function run(argv: readonly string[], { onUncaught }: RunInit): Promise<void> {
  loadEnvFile();
  const config = readConfig();
  const { pluginFolders, started, describeOpen } = watchPlugins(config, (slug) => errors.printBlocked(slug));
  const errors = createPluginErrors(pluginFolders);
  onUncaught(errors.contain);
  logExitsOfPlugins(pluginFolders, () => ({
    error: (_message, fields) => errors.printExit(String(fields?.['plugin'])),
  }));
  finishWithoutReader(process.stdout);
  finishWithoutReader(process.stderr);
  const host = await open(config, argv, pluginFolders);
  started();
  let code = 0;
  if (host !== null) {
    host.hooks.addAction('deactivated_plugin', (slug: string) => forgetUnfinished(config.dataDir, slug));
    try {
      code = await host.cli.run(argv, {
        ...(process.stdout.isTTY && { columns: process.stdout.columns }),
        out: (text) => void process.stdout.write(`${text}\n`),
        err: (text) => void process.stderr.write(`${text}\n`),
      });
    } finally {
      await host.stop();
    }
  }
  const sentences = host === null ? [] : describeOpen();
  if (sentences.length > 0)
    sentences.forEach(await textPrinter(config, (line) => void process.stderr.write(`${line}\n`)));
  await Promise.all([flush(process.stdout), flush(process.stderr)]);
  process.exit(code);
}

/** Other kinds may be the work of the command itself. */
const unended: Partial<Record<OpenResource['kind'], (slug: string, position: string) => string>> = {
  timer: (slug, position) =>
    `The plugin '${slug}' still has a timer (${position}), which the command did not wait for. ` +
    `Start timers with host.clock, which ends them with the plugin.`,
  server: (slug, position) =>
    `The plugin '${slug}' listens on a port (${position}). The command used a free port instead, and has closed it. ` +
    `Close the server in host.onStop, or the port stays in use after the plugin is deactivated.`,
};

interface PluginWatch {
  readonly pluginFolders: PluginFolders;
  readonly started: () => void;
  /** A sentence for each timer and port of a plugin that the plugin did not end with itself. */
  readonly describeOpen: () => string[];
}

/** Watches what plugins start, and those that block, once there is one that does not ship with the host: a thread takes time. */
function watchPlugins(config: Config, onBlocked: (slug: string) => void): PluginWatch {
  let watchdog: Watchdog | undefined;
  let hasStarted = false;
  const left: [string, () => OpenResource[]][] = [];
  const pluginFolders = createPluginFolders({
    onAdd(slug, directory) {
      if (isShipped(directory)) return;
      if (watchdog === undefined) {
        watchdog = startWatchdog(config, [...process.execArgv, ...process.argv.slice(1)], onBlocked);
        if (hasStarted) watchdog.started();
      }
      watchdog.add(slug, directory);
      resources.watch(slug);
    },
    onEnd: (slug) => void left.push([slug, resources.take(slug)]),
  });
  const resources: OpenResources = watchResources(pluginFolders, pluginFolders.report, {
    lendsPorts: true,
  });
  return {
    pluginFolders,
    started() {
      hasStarted = true;
      watchdog?.started();
    },
    describeOpen() {
      const sentences = left.flatMap(([slug, read]) =>
        read().flatMap(({ kind, position }) => {
          const describe = unended[kind];
          return describe === undefined ? [] : [describe(slug, position)];
        }),
      );
      return [...new Set(sentences)];
    },
  };
}

/** The line that is printed for an error of `run`. */
export async function describeError(error: unknown, argv: readonly string[]): Promise<string> {
  const { describeStartError } = await import('./terminal-language.ts');
  return `${describeStartError('Error', argv)}: ${describeStartError(error, argv)}`;
}

/** Waits until everything is written: a pipe takes less at once than a long list has. */
async function flush(stream: NodeJS.WriteStream): Promise<void> {
  await new Promise<void>((resolve) => stream.write('', () => resolve()));
}

/** `| head` closes the pipe early: the command still finishes its work, and its further output is dropped. */
function finishWithoutReader(stream: NodeJS.WriteStream): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error;
  });
}

/** Null: the site cannot start, and `db restore` has already run without it. */
async function open(config: Config, argv: readonly string[], pluginFolders: PluginFolders): Promise<Host | null> {
  try {
    return await keepAlive(
      createHost({
        usesStoredAddress: true,
        pluginFolders,
        config: { ...config, logLevel: config.logLevel === 'info' ? 'warn' : config.logLevel },
      }),
    );
  } catch (error) {
    const { fileToRestore, rescue } = await import('./rescue.ts');
    const file = fileToRestore(argv);
    if (file === null) throw error;
    const { showTables } = await import('./database-commands.ts');
    const { createLogger } = await import('../log/log.ts');
    const { createRedactor } = await import('../log/redactor.ts');
    const clock = createSystemClock();
    const { tables, rows, migrated } = await keepAlive(
      rescue({
        config,
        file,
        clock,
        log: createLogger({ level: 'warn', clock, redactor: createRedactor() }),
        onTable: showTables(await textPrinter(config, (line) => void process.stderr.write(`${line}\n`))),
      }),
    );
    const print = await textPrinter(config);
    print(
      `The site could not start, so the backup was restored without it: ${tables} tables, ${rows} rows, then ${migrated} migrations.`,
    );
    return null;
  }
}

/** Names the plugin of an error that nothing in a command caught, once for each sentence. */
interface PluginErrors {
  /** Reports and prints the error if it is a plugin's. False: it is not. */
  contain(error: unknown): boolean;
  printExit(slug: string): void;
  printBlocked(slug: string): void;
}

function createPluginErrors(folders: Pick<PluginFolders, 'ownerOf' | 'report' | 'onReport'>): PluginErrors {
  const printed = new Set<string>();
  const write = (sentence: string): void => {
    if (printed.has(sentence)) return;
    printed.add(sentence);
    process.stderr.write(`${translatorWithoutSite(readTerminalLocale())(sentence)}\n`);
  };
  folders.onReport((slug, error) =>
    write(`The plugin '${slug}' failed, and the command went on without it: ${errorText(error)}`),
  );
  return {
    contain(error) {
      const slug = folders.ownerOf(error);
      if (slug !== null) folders.report(slug, error);
      return slug !== null;
    },
    printBlocked: (slug) => write(`The plugin '${slug}' blocked the command, so the command was ended.`),
    printExit: (slug) =>
      write(`The plugin '${slug}' ended the command. To run it without the plugin, set PLUGINS=${slug}.`),
  };
}
