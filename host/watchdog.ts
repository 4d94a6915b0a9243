import { url as debuggerUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';
import { createSystemClock } from './clock.ts';
import type { Config } from './config.ts';

export interface Watchdog {
  /** A stack with this folder belongs to the plugin. */
  add(slug: string, directory: string): void;
}

const heartbeatMs = 500;
/** Milliseconds of a block after which it is logged. */
const warnAfter = 5_000;

/**
 * Watches this thread from another one, which still runs while a plugin blocks the event loop. It logs the stack of a block of
 * 5 seconds and the plugin in it, and ends the process with SIGKILL after `blockedExitMs` if a plugin's code is on the stack, so that
 * its supervisor starts it again. Does nothing while a debugger may hold the process.
 */
export function startWatchdog({ blockedExitMs }: Pick<Config, 'blockedExitMs'>): Watchdog {
  if (debuggerUrl() !== undefined) return { add: () => undefined };
  const heartbeats = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL('./watchdog-worker.js', import.meta.url), {
    workerData: { heartbeats, warnAfter, endAfter: blockedExitMs },
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 },
  });
  worker.unref();
  // The site runs without it as well.
  worker.on('error', () => undefined);
  createSystemClock().every(heartbeatMs, () => void Atomics.add(heartbeats, 0, 1));
  return { add: (slug, directory) => worker.postMessage([slug, directory]) };
}
