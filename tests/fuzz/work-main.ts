import { createPostgresDatabase, stopPostgres } from '../helpers/postgres.ts';
import { fuzzWork, startWorkSite } from './measure-work.ts';

// npm run fuzz:work -- <requests> <seed>: the nightly form of work.long.test.ts, on each database.
const [requests = 100_000, seed = 1] = process.argv.slice(2).map(Number);
if (!Number.isInteger(requests) || requests < 1 || !Number.isInteger(seed))
  throw new Error('Say how many requests to send, and the seed: npm run fuzz:work -- 100000 1');

/** Milliseconds of `/healthz` above which the run fails. */
const longest = 500;

let hasFailed = false;
const postgres = await createPostgresDatabase();
try {
  for (const [name, url] of [
    ['SQLite', undefined],
    ['PostgreSQL', postgres.url],
  ] as const) {
    const site = await startWorkSite(url);
    try {
      const { statuses, worst } = await fuzzWork(site, requests, seed);
      console.log(`${name}: ${String(requests)} requests, statuses ${JSON.stringify(statuses)}`);
      console.log(`  longest /healthz ${worst.delay.toFixed()} ms, during ${worst.request}`);
      hasFailed ||= worst.delay > longest;
    } finally {
      await site.stop();
    }
  }
} finally {
  await postgres.drop();
  await stopPostgres();
}
// Said outright: the exit hooks of the embedded PostgreSQL end with 0 whatever `process.exitCode` is.
process.exit(hasFailed ? 1 : 0);
