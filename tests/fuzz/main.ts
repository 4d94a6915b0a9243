import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPostgresDatabase, stopPostgres } from '../helpers/postgres.ts';
import { type FuzzReport, runFuzz } from './run-fuzz.ts';

// npm run fuzz -- <requests> <seed>: the nightly form of fuzz.slow.test.ts, on each database.
const [requests = 100_000, seed = 1] = process.argv.slice(2).map(Number);
if (!Number.isInteger(requests) || requests < 1 || !Number.isInteger(seed))
  throw new Error('Say how many requests to send, and the seed: npm run fuzz -- 100000 1');

/** What the whole run must not show, as sentences. */
function failures({ unmapped, slowest, memory }: FuzzReport): string[] {
  const growth = memory.after / memory.before;
  return [
    ...unmapped.map((each) => `Unexpected error: ${each}`),
    ...(slowest.elapsed > 1_000 ? [`A response took ${slowest.elapsed.toFixed()} ms: ${slowest.sent}`] : []),
    ...(growth > 1.2 ? [`Memory grew to ${growth.toFixed(2)} times.`] : []),
  ];
}

let hasFailed = false;
const dataDir = await mkdtemp(join(tmpdir(), 'svc-fuzz-'));
const postgres = await createPostgresDatabase();
try {
  for (const [name, database] of [
    ['SQLite', dataDir],
    ['PostgreSQL', postgres.url],
  ] as const) {
    const report = await runFuzz({ database, requests, seed });
    const { statuses, slowest, mostProcessor, memory } = report;
    console.log(`${name}: ${requests} requests, statuses ${JSON.stringify(statuses)}`);
    console.log(`  slowest ${slowest.elapsed.toFixed()} ms (${slowest.sent})`);
    console.log(`  most processor time ${mostProcessor.toFixed()} ms`);
    console.log(`  memory ${(memory.before / 1e6).toFixed(1)} MB, then ${(memory.after / 1e6).toFixed(1)} MB`);
    for (const failure of failures(report)) console.log(`  FAILED ${failure}`);
    hasFailed ||= failures(report).length > 0;
  }
} finally {
  await postgres.drop();
  await stopPostgres();
  await rm(dataDir, { recursive: true, force: true });
}
// Said outright: the exit hooks of the embedded PostgreSQL end with 0 whatever `process.exitCode` is.
process.exit(hasFailed ? 1 : 0);
