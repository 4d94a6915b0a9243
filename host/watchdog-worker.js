// @ts-check
import { writeSync } from 'node:fs';
import { Session } from 'node:inspector';
import { setInterval } from 'node:timers';
import { parentPort, workerData } from 'node:worker_threads';

/**
 * @typedef {{readonly functionName: string, readonly location: {readonly scriptId: string, readonly lineNumber: number}}} Frame
 * @typedef {{readonly callFrames: Frame[]}} Paused
 */
/** @typedef {{readonly scriptId: string, readonly url: string}} Script */

/** @type {{readonly heartbeats: Int32Array, readonly warnAfter: number, readonly endAfter: number}} milliseconds; `endAfter` 0: never */
const { heartbeats, warnAfter, endAfter } = workerData;
/** @type {Map<string, string>} folders of plugins with a slash at the end, and their slugs */
const folders = new Map();
parentPort?.on('message', ([slug, directory]) => void folders.set(`${directory}/`, slug));

const tick = 250;
let seen = 0;
let blocked = 0;
let before = performance.now();
let warned = false;
let asked = false;

setInterval(() => {
  const now = performance.now();
  // What stops the whole process, such as a machine that sleeps, is no block.
  blocked += Math.min(now - before, 2 * tick);
  before = now;
  const heartbeat = Atomics.load(heartbeats, 0);
  if (heartbeat !== seen) {
    seen = heartbeat;
    blocked = 0;
    warned = false;
    asked = false;
    return;
  }
  if (!warned && blocked >= warnAfter) {
    warned = true;
    look((stack, plugin) => write('Event loop is blocked', 'process_blocked', { plugin, stack }));
  } else if (endAfter > 0 && !asked && blocked >= endAfter) {
    asked = true;
    look((stack, plugin) => {
      // Work of the host or of the database may take as long as it needs.
      if (plugin === undefined) return;
      write('Process ended, because the code of a plugin blocked it', 'process_blocked_ended', { plugin, stack });
      process.kill(process.pid, 'SIGKILL');
    });
  }
}, tick);

/**
 * Asks the blocked thread for its stack. Native code, such as a statement of SQLite, answers when it has ended; then nothing is
 * blocked any more.
 *
 * @param {(stack: string[], plugin: string | undefined) => void} found
 */
function look(found) {
  const session = new Session();
  session.connectToMainThread();
  /** @type {Map<string, string>} */
  const urls = new Map();
  session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => void urls.set(scriptId, url));
  session.once('Debugger.paused', ({ params: { callFrames } }) => {
    session.post('Debugger.resume');
    session.post('Debugger.disable');
    session.disconnect();
    if (Atomics.load(heartbeats, 0) !== seen) return;
    const stack = callFrames.slice(0, 20).map(({ functionName, location: { scriptId, lineNumber } }) => {
      const url = decodeURI((urls.get(scriptId) ?? '').replace('file://', ''));
      return `${functionName || '(anonymous)'} (${url}:${lineNumber + 1})`;
    });
    found(
      stack,
      stack.map(ownerOf).find((slug) => slug !== undefined),
    );
  });
  session.post('Debugger.enable');
  session.post('Debugger.pause');
}

/**
 * @param {string} frame
 * @returns {string | undefined}
 */
function ownerOf(frame) {
  for (const [folder, slug] of folders)
    if (frame.includes(`(${folder}`) || new RegExp(`/${slug}-[0-9a-f]{8}/`).test(frame)) return slug;
  return undefined;
}

/**
 * @param {string} message
 * @param {string} event
 * @param {{readonly plugin: string | undefined, readonly stack: readonly string[]}} fields
 */
function write(message, event, fields) {
  const line = {
    time: new Date(performance.timeOrigin + performance.now()).toISOString(),
    level: 'error',
    message,
    event,
    duration_ms: Math.round(blocked),
    ...fields,
  };
  try {
    writeSync(2, `${JSON.stringify(line)}\n`);
  } catch {
    // A full pipe or a closed terminal.
  }
}
