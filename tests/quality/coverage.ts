import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { belowFloor, measures, raiseFloor, type Coverage } from './coverage-floor.ts';

/*
 * `npm run coverage`: `npm test` under c8; fails below the floor. `--raise` raises the floor to what was measured.
 * `npm run coverage -- tests/hooks/*.test.ts` measures these files alone and compares nothing. `--html` writes
 * `coverage/index.html` as well. Processes that tests start are not measured: see tests/helpers/keep-coverage.ts.
 */

const folder = 'coverage';
const floorFile = 'tests/quality/coverage-floor.json';

const given = process.argv.slice(2);
const files = given.filter((argument) => !argument.startsWith('--'));
const command = files.length === 0 ? ['npm', 'test'] : ['npx', 'mocha', ...files];

rmSync(folder, { recursive: true, force: true });
const { status } = spawnSync(
  'npx',
  [
    'c8',
    // Reads the records of the processes one after the other: together they are larger than the memory of a small machine.
    '--merge-async',
    ...['host', 'plugins'].flatMap((name) => ['--include', `${name}/**/*.ts`]),
    // Code of the browser runs in Chromium, in the browser tests.
    ...['plugins/svc/kit/browser/**', 'plugins/svc/modules/*/browser/client/**'].flatMap((name) => ['--exclude', name]),
    ...['json-summary', ...(given.includes('--html') ? ['html'] : [])].flatMap((name) => ['--reporter', name]),
    ...command,
  ],
  { stdio: 'inherit' },
);
if (status !== 0) process.exit(status ?? 1);

const measured = readMeasured();
const floor = JSON.parse(readFileSync(floorFile, 'utf8')) as Coverage;
const shown = (coverage: Coverage): string =>
  measures.map((name) => `${name} ${coverage[name].toFixed(2)} %`).join(', ');
process.stdout.write(`\nCoverage: ${shown(measured)}\n`);
rmSync(`${folder}/tmp`, { recursive: true, force: true });

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
