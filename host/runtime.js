// @ts-check
/*
 * The version of Node (D36). Plain JavaScript that imports nothing of the project and nothing native, so that a Node which is
 * too old can read it and say so.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { dirname, join } from 'node:path';
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

/** @param {string} program absolute path. */
function startAgain(program) {
  const child = spawn(program, [...process.execArgv, ...process.argv.slice(1)], { stdio: 'inherit' });
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
