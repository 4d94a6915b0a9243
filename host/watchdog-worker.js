// @ts-check
import { spawnSync } from 'node:child_process';
import { writeSync } from 'node:fs';
import { Session } from 'node:inspector';
import { setInterval } from 'node:timers';
import { parentPort, workerData } from 'node:worker_threads';

/**
 * @typedef {{readonly scriptId: string, readonly lineNumber: number}} Location
 * @typedef {{readonly callFrameId: string, readonly functionName: string, readonly location: Location}} Frame
 * @typedef {{readonly callFrames: Frame[]}} Paused
 */
/** @typedef {{readonly scriptId: string, readonly url: string}} Script */

/**
 * Milliseconds; `endAfter` 0: never. `command`: see `startWatchdog`.
 *
 * @type {{readonly heartbeats: Int32Array, readonly warnAfter: number, readonly endAfter: number, readonly command: string[] | null}}
 */
const { heartbeats, warnAfter, endAfter, command } = workerData;
let isStarting = command !== null;
/** @type {Map<string, string>} folders of plugins with a slash at the end, and their slugs */
const folders = new Map();
parentPort?.on('message', ([slug, directory]) => {
  if (slug === undefined) isStarting = false;
  else folders.set(`${directory}/`, slug);
});

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
    look((stack, plugin) => {
      // A command may work as long as it needs.
      if (command !== null && plugin === undefined) return;
      write('Event loop is blocked', 'process_blocked', { plugin, stack });
    });
  } else if (endAfter > 0 && !asked && blocked >= endAfter) {
    asked = true;
    look((stack, plugin) => {
      // Work of the host or of the database may take as long as it needs.
      if (plugin === undefined) return;
      if (command !== null && isStarting) {
        write('Command runs again without the plugin that blocked it', 'command_repeated', { plugin, stack });
        return `globalThis.process.emit('command_repeated', ${repeat(command, plugin)})`;
      }
      write('Process ended, because the code of a plugin blocked it', 'process_blocked_ended', { plugin, stack });
      if (command !== null) return `globalThis.process.emit('command_blocked', ${JSON.stringify(plugin)})`;
      process.kill(process.pid, 'SIGKILL');
    });
  }
}, tick);

/**
 * @param {readonly string[]} given
 * @param {string} plugin
 * @returns {number} the exit code
 */
function repeat(given, plugin) {
  const leftOut = [process.env['PLUGINS'], plugin].filter(Boolean).join(',');
  return (
    spawnSync(process.execPath, given, { env: { ...process.env, PLUGINS: leftOut }, stdio: 'inherit' }).status ?? 1
  );
}

/**
 * Asks the blocked thread for its stack. Native code, such as a statement of SQLite, answers when it has ended; then nothing is
 * blocked any more.
 *
 * @param {(stack: string[], plugin: string | undefined) => string | void} found returns code to run in that thread
 */
function look(found) {
  const session = new Session();
  session.connectToMainThread();
  /** @type {Map<string, string>} */
  const urls = new Map();
  session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => void urls.set(scriptId, url));
  session.once('Debugger.paused', ({ params: { callFrames } }) => {
    const end = () => {
      session.post('Debugger.resume');
      session.post('Debugger.disable');
      session.disconnect();
    };
    const [top] = callFrames;
    if (top === undefined || Atomics.load(heartbeats, 0) !== seen) return end();
    const stack = callFrames.slice(0, 20).map(({ functionName, location: { scriptId, lineNumber } }) => {
      const url = decodeURI((urls.get(scriptId) ?? '').replace('file://', ''));
      return `${functionName || '(anonymous)'} (${url}:${lineNumber + 1})`;
    });
    const expression = found(
      stack,
      stack.map(ownerOf).find((slug) => slug !== undefined),
    );
    if (typeof expression !== 'string') end();
    else session.post('Debugger.evaluateOnCallFrame', { callFrameId: top.callFrameId, expression }, end);
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
