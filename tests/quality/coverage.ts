import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { recordingFileName } from '../helpers/keep-coverage.ts';
import { belowFloor, measures, raiseFloor, type Coverage } from './coverage-floor.ts';

/*
 * `npm run coverage`: all tests but the slow ones with V8's records of coverage, reported by c8; fails below the floor. `--raise` raises the floor to what was measured.
 * `npm run coverage -- tests/hooks/*.test.ts` measures these files alone and compares nothing. `--html` writes
 * `coverage/index.html` as well. Processes that tests start are not measured: see tests/helpers/keep-coverage.ts.
 */

interface V8Record {
  readonly result: readonly { readonly url: string }[];
  readonly 'source-map-cache'?: Readonly<Record<string, unknown>>;
}

const folder = 'coverage';
const floorFile = 'tests/quality/coverage-floor.json';

const given = process.argv.slice(2);
const files = given.filter((argument) => !argument.startsWith('--'));
const command = files.length === 0 ? ['npm', 'test', '--', '--usual'] : ['npx', 'mocha', ...files];

const records = resolve(folder, 'tmp');
const processes = resolve(folder, 'processes');
rmSync(folder, { recursive: true, force: true });
mkdirSync(records, { recursive: true });
writeFileSync(processes, '');
run(command, { NODE_V8_COVERAGE: records, [recordingFileName]: processes });
await recordsWritten();
for (const name of readdirSync(records)) keepFiles(resolve(records, name));
run([
  ...['npx', 'c8', 'report', '--temp-directory', records],
  // Reads the records of the processes one after the other: together they are larger than the memory of a small machine.
  '--merge-async',
  ...['host', 'plugins'].flatMap((name) => ['--include', `${name}/**/*.ts`]),
  // Code of the browser runs in Chromium, in the browser tests.
  ...[
    'host/content/admin/browser/client/**',
    'plugins/svc/kit/browser/**',
    'plugins/svc/modules/*/browser/client/**',
  ].flatMap((name) => ['--exclude', name]),
  ...['json-summary', ...(given.includes('--html') ? ['html'] : [])].flatMap((name) => ['--reporter', name]),
]);

const measured = readMeasured();
const floor = JSON.parse(readFileSync(floorFile, 'utf8')) as Coverage;
const shown = (coverage: Coverage): string =>
  measures.map((name) => `${name} ${coverage[name].toFixed(2)} %`).join(', ');
process.stdout.write(`\nCoverage: ${shown(measured)}\n`);
rmSync(records, { recursive: true, force: true });
rmSync(processes);

if (files.length === 0) {
  process.stdout.write(`Floor:    ${shown(floor)}\n`);
  const failures = belowFloor(measured, floor);
  for (const failure of failures) process.stdout.write(`${failure}\n`);
  if (failures.length > 0) process.exit(1);
  const raised = raiseFloor(measured, floor);
  if (given.includes('--raise')) writeFileSync(floorFile, `${JSON.stringify(raised, null, 2)}\n`);
  else if (measures.some((name) => raised[name] >= floor[name] + 1)) {
    process.stdout.write('Coverage rose by a point or more: run npm run coverage -- --raise and commit the floor.\n');
  }
}

function readMeasured(): Coverage {
  const { total } = JSON.parse(readFileSync(`${folder}/coverage-summary.json`, 'utf8')) as {
    readonly total: Readonly<Record<keyof Coverage, { readonly pct: number }>>;
  };
  return { lines: total.lines.pct, branches: total.branches.pct, functions: total.functions.pct };
}

function run([program = '', ...options]: readonly string[], variables: Readonly<Record<string, string>> = {}): void {
  const { status } = spawnSync(program, options, { stdio: 'inherit', env: { ...process.env, ...variables } });
  if (status !== 0) process.exit(status ?? 1);
}

/**
 * mocha ends before its workers do: each writes a record of a hundred megabytes at its end, which takes seconds. A report
 * that begins meanwhile counts half of the code as not run.
 */
async function recordsWritten(): Promise<void> {
  const recorded = [...new Set(readFileSync(processes, 'utf8').split('\n').filter(Boolean))];
  const deadline = performance.now() + 120_000;
  while (recorded.some(isRunning) && performance.now() < deadline) await delay(100);
  const written = readdirSync(records);
  const lost = recorded.filter((id) => isRunning(id) || !written.some((name) => name.startsWith(`coverage-${id}-`)));
  if (recorded.length > 0 && lost.length === 0) return;
  process.stdout.write(`${String(lost.length)} of ${String(recorded.length)} processes left no record of coverage.\n`);
  process.exit(1);
}

/** c8 leaves out a whole record, without a word, when one of its scripts is not a file but, say, a `data:` URL. */
function keepFiles(file: string): void {
  const record = JSON.parse(readFileSync(file, 'utf8')) as V8Record;
  const { result, 'source-map-cache': maps = {} } = record;
  const kept = Object.entries(maps).filter(([url]) => url.startsWith('file:'));
  writeFileSync(
    file,
    JSON.stringify({
      ...record,
      result: result.filter(({ url }) => url.startsWith('file:')),
      'source-map-cache': Object.fromEntries(kept),
    }),
  );
}

function isRunning(id: string): boolean {
  try {
    return process.kill(Number(id), 0);
  } catch {
    return false;
  }
}
