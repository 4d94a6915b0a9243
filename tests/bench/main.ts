import { fork } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Bench, BenchRow } from './bench-row.ts';
import { table, verdict } from './report.ts';

/**
 * `npm run bench [-- [name] [--short] [--strict]]`: runs every `*.bench.ts` of this folder whose name contains `name`,
 * one after the other, since two at a time would measure each other, and each in a process of its own, whose memory and
 * compiled code are no other one's. A short run measures nothing: of that, two at a time. Exit code 1 when one crashes,
 * with `--strict` also when a target is missed.
 */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      short: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
      file: { type: 'string' },
    },
  });
  const folder = new URL('./', import.meta.url);
  if (values.file !== undefined) {
    const outcome = await runOne(new URL(values.file, folder), values.short);
    return void process.send?.(outcome, () => {
      process.disconnect();
    });
  }
  const wanted = positionals[0] ?? '';
  const files = (await readdir(folder)).filter((file) => file.endsWith('.bench.ts') && file.includes(wanted)).sort();
  if (files.length === 0) throw new Error(`No benchmark has '${wanted}' in its name.`);
  const outcomes: Outcome[] = [];
  const left = files.values();
  const work = async (): Promise<void> => {
    for (const file of left) outcomes.push(await runApart(file, values.short));
  };
  await Promise.all(Array.from({ length: values.short ? 2 : 1 }, work));
  const missed = outcomes.flatMap(({ rows }) => rows).filter((row) => verdict(row) === 'missed');
  const crashed = outcomes.filter((outcome) => outcome.crashed);
  console.log(
    `\n${String(outcomes.length)} run, ${String(crashed.length)} crashed, ${String(missed.length)} missed${values.short ? ' (short run: figures say little)' : ''}.`,
  );
  if (crashed.length > 0 || (values.strict && missed.length > 0)) process.exitCode = 1;
}

function runApart(file: string, short: boolean): Promise<Outcome> {
  return new Promise((resolve) => {
    let outcome: Outcome = { rows: [], crashed: true };
    const child = fork(fileURLToPath(import.meta.url), ['--file', file, ...(short ? ['--short'] : [])], {
      silent: short,
    });
    // Two that run at once have their say one after the other.
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (part: Buffer) => (said += part.toString()));
    child.on('message', (told: Outcome) => {
      outcome = told;
    });
    child.on('close', () => {
      process.stdout.write(said);
      resolve(outcome);
    });
  });
}

interface Outcome {
  readonly rows: readonly BenchRow[];
  readonly crashed: boolean;
}

async function runOne(file: URL, short: boolean): Promise<Outcome> {
  try {
    const bench = (await import(file.href)) as Bench;
    console.log(`\n${bench.title}`);
    const rows = await bench.run({ short });
    console.log(table(rows));
    return { rows, crashed: false };
  } catch (error) {
    console.error(`  crashed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    return { rows: [], crashed: true };
  }
}

await main();
