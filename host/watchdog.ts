import type { EventEmitter } from 'node:events';
import { closeSync } from 'node:fs';
import { url as debuggerUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';
import { createSystemClock } from './clock.ts';
import type { Config } from './start/config.ts';

export interface Watchdog {
  /** A stack with this folder belongs to the plugin. */
  add(slug: string, directory: string): void;
  /** From now on, a block ends the process, of a command too. */
  started(): void;
}

const heartbeatMs = 500;
/** Before `logExitsOfPlugins` replaces it, which would take this for a plugin's. */
const exit = process.exit.bind(process);
/** Milliseconds of a block after which it is logged. */
const warnAfter = 5_000;

/**
 * Watches this thread from another one, which still runs while a plugin blocks the event loop. It logs the stack of a block of
 * 5 seconds and the plugin in it, and ends the process with SIGKILL after `blockedExitMs` if a plugin's code is on the stack, so that
 * its supervisor starts it again. Does nothing while a debugger may hold the process.
 *
 * @param command arguments of Node of a command that has not begun. Until `started`, it is run again without the plugin instead, with
 *   the same streams, and the process ends with its exit code. Afterwards it ends with code 1, after `onBlocked`.
 */
export function startWatchdog(
  { blockedExitMs }: Pick<Config, 'blockedExitMs'>,
  command: readonly string[] | null = null,
  onBlocked: (slug: string) => void = () => undefined,
): Watchdog {
  if (debuggerUrl() !== undefined) return { add: () => undefined, started: () => undefined };
  const heartbeats = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL('./watchdog-worker.js', import.meta.url), {
    workerData: { heartbeats, warnAfter, endAfter: blockedExitMs, command },
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 },
  });
  worker.unref();
  // The site runs without it as well.
  worker.on('error', () => undefined);
  createSystemClock().every(heartbeatMs, () => void Atomics.add(heartbeats, 0, 1));
  const events: EventEmitter = process;
  const end = (code: number): void => {
    // Node would print that it waits for a debugger, which is the worker.
    closeSync(process.stderr.fd);
    exit(code);
  };
  events.once('command_repeated', end);
  events.once('command_blocked', (slug: string) => {
    onBlocked(slug);
    end(1);
  });
  return {
    add: (slug, directory) => worker.postMessage([slug, directory]),
    started: () => worker.postMessage([]),
  };
}
