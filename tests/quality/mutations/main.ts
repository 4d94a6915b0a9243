import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres, stopPostgres } from '../../helpers/postgres.ts';
import { mutate, neighbors, readMutations, type Mutation } from './mutations.ts';

/*
 * `npm run mutations`: breaks the product by one mutation after the other, in copies of the checkout as it is now, and runs
 * the tests that each one names, then those beside them. Fails when a mutation survives. `npm run mutations -- W3 jobs-1`
 * tries these. `--jobs 2` tries two at a time, `--narrow` runs only the named tests.
 *
 * The named tests must pass without a mutation: that is tried first, but for `--unchecked`.
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    jobs: { type: 'string', default: '1' },
    narrow: { type: 'boolean', default: false },
    unchecked: { type: 'boolean', default: false },
  },
});

/** Milliseconds after which tests that hang count as failed. */
const timeLimit = 600_000;

/** What is in no copy: git, what programs wrote, and the modules, which are linked. */
const leftOut = new Set(['.git', 'node_modules', 'coverage', '.cache', 'data']);

interface Verdict {
  readonly mutation: Mutation;
  /** What failed with the mutation; null: it survived. */
  readonly killedBy: string | null;
  readonly seconds: number;
}

const all = readdirSync('tests', { recursive: true, encoding: 'utf8' }).map((file) => `tests/${file}`);
const chosen = readMutations().filter(({ id }) => positionals.length === 0 || positionals.includes(id));
if (chosen.length === 0) throw new Error(`No mutation is called ${positionals.join(', ')}.`);

const folder = await mkdtemp(join(tmpdir(), 'svc-mutations-'));
process.env['TEST_DATABASE_URL'] ||= await startPostgres();
try {
  const copies = await Promise.all(Array.from({ length: Number(values.jobs) }, (_, index) => makeCopy(String(index))));
  const named = values.unchecked ? [] : [...new Set(chosen.flatMap(({ tests }) => tests))];
  const broken = named.length === 0 ? null : await runTests(copies[0] as string, named);
  if (broken !== null) throw new Error(`Tests fail without a mutation:\n${broken}`);

  const waiting = [...chosen];
  const verdicts: Verdict[] = [];
  const work = async (copy: string): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const verdict = await tryMutation(copy, next);
      verdicts.push(verdict);
      process.stdout.write(line(verdict));
    }
  };
  await Promise.all(copies.map(work));
  const survivors = chosen.filter(({ id }) =>
    verdicts.some(({ mutation, killedBy }) => mutation.id === id && killedBy === null),
  );
  process.stdout.write(`\n${String(chosen.length - survivors.length)} of ${String(chosen.length)} mutations killed\n`);
  for (const { id, file, breaks } of survivors) process.stdout.write(`survived: ${id} ${file}: ${breaks}\n`);
  process.exitCode = survivors.length === 0 ? 0 : 1;
} finally {
  await stopPostgres();
  await rm(folder, { recursive: true, force: true });
}

async function makeCopy(name: string): Promise<string> {
  const copy = join(folder, name);
  await cp('.', copy, {
    recursive: true,
    filter: (source) => !leftOut.has(relative('.', source)),
  });
  await symlink(resolve('node_modules'), join(copy, 'node_modules'));
  return copy;
}

async function tryMutation(copy: string, mutation: Mutation): Promise<Verdict> {
  const started = performance.now();
  const file = join(copy, mutation.file);
  const text = await readFile(file, 'utf8');
  await writeFile(file, mutate(text, mutation));
  try {
    const others = values.narrow ? [] : neighbors(mutation, all);
    const killedBy =
      (await runTests(copy, mutation.tests)) ?? (others.length === 0 ? null : await runTests(copy, others));
    return { mutation, killedBy, seconds: (performance.now() - started) / 1000 };
  } finally {
    await writeFile(file, text);
  }
}

/** Runs test files up to the first failure. Returns its title, or null when all tests pass. */
async function runTests(copy: string, files: readonly string[]): Promise<string | null> {
  const mocha = spawn(
    process.execPath,
    ['node_modules/mocha/bin/mocha.js', '--no-parallel', '--bail', '--reporter', 'tap', ...files],
    { cwd: copy, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const output: string[] = [];
  for (const stream of [mocha.stdout, mocha.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => output.push(text));
  const timer = setTimeout(() => mocha.kill('SIGKILL'), timeLimit);
  const status = await new Promise<number | null>((done) => {
    mocha.on('close', (code) => done(code));
  });
  clearTimeout(timer);
  if (status === 0) return null;
  const failed = /^not ok \d+ (.*(?:\n  .*){0,3})/m.exec(output.join(''))?.[1];
  return failed ?? (status === null ? 'tests that did not end' : output.join('').slice(-600));
}

function line({ mutation, killedBy, seconds }: Verdict): string {
  const [title = ''] = (killedBy ?? '').split('\n');
  const verdict = killedBy === null ? 'SURVIVED' : 'killed';
  return `${mutation.id.padEnd(8)} ${verdict.padEnd(9)} ${seconds.toFixed(1).padStart(6)} s  ${mutation.breaks}${title === '' ? '' : `  [${title.slice(0, 120)}]`}\n`;
}
