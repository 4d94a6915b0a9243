// @ts-check
/*
 * The version of Node (D36). Plain JavaScript that imports nothing of the project and nothing native, so that a Node which is
 * too old can read it and say so.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { dirname, join } from 'node:path';
// The clock of the project is one of its files.
import { clearInterval, setInterval } from 'node:timers';
import { fileURLToPath } from 'node:url';

const minimum = [22, 19];

/**
 * Whether this process may go on. Under a Node that is too old the same command starts again under the Node that npm installed with
 * the packages, which takes over this process's input, output, signals and exit status.
 *
 * @returns {boolean} false: the other process does the work, or a sentence on standard error said what to install and the exit
 *   status is 1. The caller does nothing more.
 */
export function isRuntimeCurrent() {
  endWithParent();
  if (isCurrent(process.versions.node)) return true;
  const pinned = findPinned();
  if (pinned === null) {
    process.stderr.write(
      `Node ${process.versions.node} is too old. Install Node 24 or newer from https://nodejs.org, or run "npm ci" without ` +
        '--omit=optional, which brings one.\n',
    );
    process.exitCode = 1;
    return false;
  }
  process.stderr.write(`Node ${process.versions.node} is too old; this runs under Node ${pinned.version}.\n`);
  startAgain(pinned.program);
  return false;
}

/** @param {string} version */
function isCurrent(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [minimumMajor = 0, minimumMinor = 0] = minimum;
  return major > minimumMajor || (major === minimumMajor && minor >= minimumMinor);
}

/** @returns {{readonly program: string, readonly version: string} | null} null: this system has none, or it was left out. */
function findPinned() {
  const system = process.platform === 'win32' ? 'win' : process.platform;
  const { resolve } = nodeModule.createRequire(import.meta.url);
  try {
    const described = resolve(`node-${system}-${process.arch}/package.json`);
    const program = join(dirname(described), 'bin', system === 'win' ? 'node.exe' : 'node');
    return existsSync(program) ? { program, version: JSON.parse(readFileSync(described, 'utf8')).version } : null;
  } catch {
    return null;
  }
}

/**
 * Ends this process, as SIGTERM does, soon after the one that only passes it on: the Node of `startAgain`, or the shell between npm
 * and this process, which npm ends without a signal to what runs in it. Other parents may end before what they started.
 */
function endWithParent() {
  const { RESTARTED_BY: restarted, npm_command: byNpm } = process.env;
  // Not for what this process starts itself.
  delete process.env['RESTARTED_BY'];
  if (restarted === undefined && byNpm === undefined) return;
  const parent = restarted === undefined ? process.ppid : Number(restarted);
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 500);
  watch.unref();
}

/** @param {string} program absolute path. */
function startAgain(program) {
  const child = spawn(program, [...process.execArgv, ...process.argv.slice(1)], {
    stdio: 'inherit',
    env: { ...process.env, RESTARTED_BY: String(process.pid) },
  });
  /** @type {NodeJS.Signals[]} */
  const signals = ['SIGTERM', 'SIGHUP', 'SIGINT'];
  for (const signal of signals)
    process.on(signal, () => {
      // A terminal sends Ctrl+C to both processes.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  child.on('error', (error) => {
    process.stderr.write(`Node could not be started from ${program}: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (status, signal) => {
    if (signal === null) process.exit(status ?? 1);
    for (const each of signals) process.removeAllListeners(each);
    process.kill(process.pid, signal);
  });
}

/**
 * Lets Node keep what it compiled beside the packages, for the next start. NODE_COMPILE_CACHE names another folder, for a
 * checkout that cannot be written. Without either nothing is kept, and a start takes longer.
 */
export function keepCompiled() {
  nodeModule.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url)));
}
