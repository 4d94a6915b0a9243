import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { errorText, type Clock } from '#plugin-api';
import { hashStates, listSources, root } from '../sources/files.ts';
import { parseErrorOf } from './check-template.ts';
import { openCatalogs } from './check-translation.ts';
import { readProblems } from './type-check.ts';

export interface Development {
  /** Absolute path, without symbolic links. */
  readonly folder: string;
  readonly plugins: { develop(directory: string): Promise<string> };
  readonly clock: Clock;
  /** Starts the site. */
  readonly start: () => Promise<{ readonly url: string; readonly setupLink: string | null }>;
  readonly checksTypes: boolean;
  /** Prints a text in the language of the terminal. */
  readonly print: (text: string) => void;
}

/** Milliseconds. Asking for times and sizes works on all file systems, watching them does not. */
const interval = 150;

/** Runs a site with a plugin until a signal stops it. Errors of the plugin are printed, and the next change tries again. */
export async function develop({ folder, plugins, clock, start, checksTypes, print }: Development): Promise<void> {
  const load = async (isFirst: boolean): Promise<void> => {
    const begin = performance.now();
    try {
      const slug = await plugins.develop(folder);
      const duration = Math.round(performance.now() - begin);
      print(isFirst ? `Loaded ${slug} in ${duration} ms` : `Reloaded ${slug} in ${duration} ms`);
      for (const { at, message } of await findUnreadable(folder)) for (const line of [at, message]) print(line);
    } catch (error) {
      const position = positionOf(error, folder);
      if (position === null) print(`Error: ${errorText(error)}`);
      else print(`Failed in ${position}: ${errorText(error)}`);
    }
  };
  const stopped = untilStopped(print);
  const states = readStates(folder);
  await load(true);
  const { url, setupLink } = await start();
  print(`Ready on ${url}`);
  if (setupLink !== null) print(`Set up your site: ${setupLink}`);
  const stopWatching = watch({ folder, clock, states, reload: () => load(false) });
  const compiler = checksTypes ? watchTypes(folder, print) : null;
  await stopped;
  stopWatching();
  compiler?.kill();
}

/** Files that are read when they are first used: without this, the error would come with a page. */
async function findUnreadable(folder: string) {
  const { files } = listSources(folder, (file) => file.endsWith('.hbs'));
  const templates = await Promise.all(
    files.map((file) => parseErrorOf(relative(folder, file), readFileSync(file, 'utf8'))),
  );
  return [...openCatalogs(folder, basename(folder)).findings, ...templates.filter((finding) => finding !== null)];
}

/** `index.ts:3`, where the stack enters the plugin. Null if the message names the file, or if no line is the plugin's. */
function positionOf(error: unknown, folder: string): string | null {
  for (let current = error; current instanceof Error; current = current.cause) {
    const stack = String(current.stack).replaceAll(pathToFileURL(folder).href, folder);
    const [, file, line] =
      stack
        .split(folder + sep)
        .map((part) => /^(.+?\.[mc]?[jt]s)(?:\?generation=\d+)?:(\d+)/.exec(part))
        .find((match) => match !== null) ?? [];
    if (file !== undefined && line !== undefined) return errorText(error).includes(file) ? null : `${file}:${line}`;
  }
  return null;
}

interface Watching extends Pick<Development, 'folder' | 'clock'> {
  /** When the plugin was loaded. */
  readonly states: string;
  readonly reload: () => Promise<void>;
}

function watch({ folder, clock, states, reload }: Watching): () => void {
  let known = states;
  let isBusy = false;
  return clock.every(interval, () => {
    const current = readStates(folder);
    if (isBusy || current === known) return;
    known = current;
    isBusy = true;
    void reload().finally(() => (isBusy = false));
  });
}

/** Of all files, templates and assets included; empty while the folder is replaced. */
function readStates(folder: string): string {
  try {
    const { folders, files } = listSources(folder);
    return hashStates(folder, [...folders, ...files]);
  } catch {
    return '';
  }
}

/** Prints type errors as they come, and when there are none. */
function watchTypes(folder: string, print: Development['print']): ChildProcess {
  const script = join(root, 'host', 'authoring', 'watch-types.ts');
  const checking = spawn(process.execPath, [script, folder], { stdio: ['pipe', 'pipe', 'pipe'] });
  let pending = '';
  checking.stdout.on('data', (chunk: Buffer) => {
    const lines = (pending + chunk.toString()).split('\n');
    pending = lines.pop() ?? '';
    for (const line of lines) {
      for (const { file, line: at, message } of readProblems(line)) print(`Type error in ${file}:${at}: ${message}`);
      if (/Found 0 errors/.test(line)) print('The types have no errors.');
    }
  });
  checking.stderr.on('data', (chunk: Buffer) => print(`Types are not checked. ${chunk.toString().trim()}`));
  return checking;
}

/** Resolves at the first signal. What the plugin does not catch is printed until then, and does not end the process. */
function untilStopped(print: Development['print']): Promise<void> {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.removeAllListeners(event);
    process.on(event, (error: unknown) => print(`Error: ${error instanceof Error ? error.stack : String(error)}`));
  }
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}
