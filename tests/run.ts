import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FileTime, timesFolderName } from './helpers/file-times.ts';
import { inOrder, recordTimes, selectFiles, tellLongest, type Selection } from './select-files.ts';

/*
 * `npm test` runs `*.test.ts` but for `*.long.test.ts` and `*.slow.test.ts`. `--usual` adds the long ones, `--gate` those that
 * guard accounts, data and deliveries, `npm run test:slow` runs the slow ones, `npm run test:all` runs everything. The files that
 * took longest when times were last recorded (`--record`) start first, so that the processes end together. Other arguments go to
 * mocha.
 *
 * The quick files share three processes, and the slow ones, which run last and alone, since each idles a third of its time.
 *
 * Temporary files are kept in memory where there is room and TMPDIR names no other folder. Tests make and drop thousands
 * of databases: in a folder of ext4, where files were just deleted, PostgreSQL took more processor time to create files
 * than everything else together.
 */

const timesFile = 'tests/file-times.json';

const given = process.argv.slice(2);
const selections = ['slow', 'gate', 'usual', 'all'] as const satisfies readonly Selection[];
const own: readonly string[] = [...selections.map((name) => `--${name}`), '--record'];
const selection: Selection = selections.find((name) => given.includes(`--${name}`)) ?? 'quick';

const recorded = JSON.parse(readFileSync(timesFile, 'utf8')) as Readonly<Record<string, number>>;
const found = readdirSync('tests', { recursive: true, encoding: 'utf8' }).map((file) => `tests/${file}`);
const files = inOrder(selectFiles(found, selection), recorded);

// The run goes on after Ctrl+C until mocha has ended, so that the folders are removed.
process.on('SIGINT', () => undefined);
const memory = makeFolderInMemory();
const folder = mkdtempSync(join(tmpdir(), 'svc-times-'));
const { status } = spawnSync(
  process.execPath,
  [
    'node_modules/mocha/bin/mocha.js',
    '--jobs',
    selection === 'usual' || selection === 'all' ? '2' : '3',
    ...given.filter((argument) => !own.includes(argument)),
    ...files,
  ],
  {
    stdio: 'inherit',
    env: { ...process.env, ...(memory !== null && { TMPDIR: memory }), [timesFolderName]: folder },
  },
);
const times = readdirSync(folder)
  .flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'))
  .map((line) => JSON.parse(line) as FileTime);
rmSync(folder, { recursive: true, force: true });
if (memory !== null) rmSync(memory, { recursive: true, force: true });

process.stdout.write(tellLongest(times));
if (given.includes('--record'))
  writeFileSync(timesFile, `${JSON.stringify(recordTimes(recorded, times, found), null, 2)}\n`);
process.exit(status ?? 1);

/** Open to the user that PostgreSQL runs as. Null without room for the programs (3 GB) and their files (0.5 GB). */
function makeFolderInMemory(): string | null {
  const parent = '/dev/shm';
  if (process.env['TMPDIR'] !== undefined || process.platform !== 'linux') return null;
  try {
    const { bavail, bsize } = statfsSync(parent);
    if (bavail * bsize < 2 ** 29 || process.availableMemory() < 3.5 * 2 ** 30) return null;
    const made = mkdtempSync(`${parent}/svc-tests-`);
    chmodSync(made, 0o1777);
    return made;
  } catch {
    return null;
  }
}
