import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createPostgresDatabase, stopPostgres } from '../helpers/postgres.ts';
import { fuzzWork, startWorkSite } from './measure-work.ts';
import { type FuzzReport, runFuzz } from './run-fuzz.ts';

// npm run fuzz -- <requests> <seed> [--limit=500] [--only=work|schemas]: the nightly form of the tests, on each database.
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { limit: { type: 'string', default: '500' }, only: { type: 'string', default: '' } },
});
const [requests = 100_000, seed = 1] = positionals.map(Number);
const limit = Number(values.limit);
if (!Number.isInteger(requests) || requests < 1 || !Number.isInteger(seed) || !(limit > 0))
  throw new Error('Say how many requests to send, the seed and the limit: npm run fuzz -- 100000 1 --limit=500');

/** What the whole run must not show, as sentences. */
function failures({ unmapped, slowest, memory }: FuzzReport): string[] {
  const growth = memory.after / memory.before;
  return [
    ...unmapped.map((each) => `Unexpected error: ${each}`),
    ...(slowest.elapsed > 1_000 ? [`A response took ${slowest.elapsed.toFixed()} ms: ${slowest.sent}`] : []),
    ...(growth > 1.2 ? [`Memory grew to ${growth.toFixed(2)} times.`] : []),
  ];
}

async function breakSchemas(name: string, database: string): Promise<string[]> {
  const report = await runFuzz({ database, requests, seed });
  const { statuses, slowest, mostProcessor, memory } = report;
  console.log(`${name}: ${requests} broken requests, statuses ${JSON.stringify(statuses)}`);
  console.log(`  slowest ${slowest.elapsed.toFixed()} ms (${slowest.sent})`);
  console.log(`  most processor time ${mostProcessor.toFixed()} ms`);
  console.log(`  memory ${(memory.before / 1e6).toFixed(1)} MB, then ${(memory.after / 1e6).toFixed(1)} MB`);
  return failures(report);
}

async function multiply(name: string, url?: string): Promise<string[]> {
  const site = await startWorkSite(url);
  try {
    const { statuses, health, response, slice } = await fuzzWork(site, {
      requests,
      seed,
      limit,
      onProgress: (sent, { time, request }) =>
        console.log(`${name}: ${sent} of ${requests}, slowest /healthz ${time.toFixed()} ms, during ${request}`),
    });
    console.log(`${name}: ${requests} requests that multiply, statuses ${JSON.stringify(statuses)}`);
    console.log(`  most processor time without a pause ${slice.time.toFixed()} ms, during ${slice.request}`);
    console.log(`  slowest /healthz ${health.time.toFixed()} ms, during ${health.request}`);
    console.log(`  slowest response ${response.time.toFixed()} ms, of ${response.request}`);
    return [
      ...(health.time > limit ? [`/healthz took longer than ${limit} ms.`] : []),
      ...(statuses['500'] === undefined ? [] : [`${statuses['500']} responses were 500.`]),
    ];
  } finally {
    await site.stop();
  }
}

const failed: string[] = [];
const dataDir = await mkdtemp(join(tmpdir(), 'svc-fuzz-'));
const databases = [await createPostgresDatabase(), await createPostgresDatabase()] as const;
try {
  if (values.only !== 'work')
    for (const [name, database] of [
      ['SQLite', dataDir],
      ['PostgreSQL', databases[0].url],
    ] as const)
      failed.push(...(await breakSchemas(name, database)));
  if (values.only !== 'schemas')
    for (const [name, url] of [
      ['SQLite', undefined],
      ['PostgreSQL', databases[1].url],
    ] as const)
      failed.push(...(await multiply(name, url)));
} finally {
  for (const database of databases) await database.drop();
  await stopPostgres();
  await rm(dataDir, { recursive: true, force: true });
}
for (const failure of failed) console.log(`FAILED ${failure}`);
// Said outright: the exit hooks of the embedded PostgreSQL end with 0 whatever `process.exitCode` is.
process.exit(failed.length > 0 ? 1 : 0);
