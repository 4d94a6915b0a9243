/*
 * `npm run test:node -- 22`: `npm test` on the newest Node of a number, from its package on npm, for this machine. What follows
 * goes to `npm test`.
 */
import { spawnSync } from 'node:child_process';
import { delimiter, resolve } from 'node:path';

const [version = '', ...given] = process.argv.slice(2);
if (!/^\d+(?:\.\d+){0,2}$/.test(version)) {
  process.stderr.write('Usage: npm run test:node -- 22 [arguments of npm test]\n');
  process.exit(2);
}
const system = process.platform === 'win32' ? 'win' : process.platform;
const name = `node-${system}-${process.arch}`;
const folder = resolve('.cache', 'node', version);

run('npm', ['install', '--no-save', '--no-package-lock', '--prefix', folder, `${name}@${version}`]);
run('node', ['--version']);
run('node', ['tests/run.ts', ...given]);

/** Runs a program, whose Node is the installed one where there is one already. Ends this process if it fails. */
function run(command: string, args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, {
    stdio: 'inherit',
    env: { ...process.env, PATH: [resolve(folder, 'node_modules', '.bin'), process.env['PATH']].join(delimiter) },
  });
  if (error) process.stderr.write(`${command} could not be started: ${error.message}\n`);
  if (status !== 0) process.exit(status ?? 1);
}
