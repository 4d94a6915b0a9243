import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock } from '../../host/clock.ts';
import { openDatabase } from '../../host/database/database.ts';
import { createPostgresDatabase, stopPostgres } from '../helpers/postgres.ts';
import { silentLog } from '../helpers/silent-log.ts';
import { openJobs } from '../jobs/site.ts';
import type { BenchRow } from './bench-row.ts';
import { installGraphileWorker, type GraphileWorker } from './helpers/graphile-worker.ts';
import { median } from './helpers/statistics.ts';

export const title = 'Jobs: draining trivial jobs, beside graphile-worker on the same PostgreSQL';

const concurrency = 24;

/** The two take turns within each round, each on an empty database. */
export async function run({ short }: { readonly short: boolean }): Promise<BenchRow[]> {
  const { rounds, count } = short ? { rounds: 1, count: 1_000 } : { rounds: 3, count: 10_000 };
  const peer = await installGraphileWorker().catch((error: unknown) => {
    console.log(
      `  graphile-worker is left out: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`,
    );
    return null;
  });
  const rates: Record<'sqlite' | 'postgresql' | 'peer', number[]> = { sqlite: [], postgresql: [], peer: [] };
  try {
    for (let round = 0; round < rounds; round += 1) {
      rates.sqlite.push(await drainOurs('sqlite', count));
      rates.postgresql.push(await drainOurs('postgresql', count));
      if (peer !== null) rates.peer.push(await drainPeer(peer, count));
    }
  } finally {
    await peer?.remove();
    await stopPostgres();
  }
  const ratios = rates.postgresql.map((rate, round) => rate / (rates.peer[round] ?? Number.NaN));
  return [
    { name: 'sqlite', value: median(rates.sqlite), unit: 'jobs/s' },
    { name: 'postgresql', value: median(rates.postgresql), unit: 'jobs/s' },
    ...(peer === null
      ? []
      : [
          { name: `postgresql: graphile-worker ${peer.version}`, value: median(rates.peer), unit: 'jobs/s' },
          {
            name: 'postgresql, ours : graphile-worker',
            value: median(ratios),
            unit: 'ratio',
            target: { at: 'least', value: 1 } as const,
          },
        ]),
  ];
}

/** Jobs a second, from the start of the worker until the last job has run. */
async function drainOurs(dialect: 'sqlite' | 'postgresql', count: number): Promise<number> {
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-jobs-'));
  const server = dialect === 'postgresql' ? await createPostgresDatabase() : null;
  const clock = createSystemClock();
  const database = await openDatabase({ databaseUrl: server?.url ?? null, dataDir, clock, log: silentLog });
  try {
    const { own, jobs } = await openJobs(async () => database);
    let left = count;
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    own.define({
      name: 'trivial',
      concurrency,
      run: async () => {
        left -= 1;
        if (left === 0) finish();
      },
    });
    await database.transaction(async () => {
      for (let n = 0; n < count; n += 1) await own.add('trivial', { n });
    });
    await database.knex.raw('ANALYZE');
    const began = performance.now();
    await jobs.start();
    await finished;
    const seconds = (performance.now() - began) / 1000;
    await jobs.stop();
    return count / seconds;
  } finally {
    await database.close();
    await server?.drop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function drainPeer(peer: GraphileWorker, count: number): Promise<number> {
  const server = await createPostgresDatabase();
  try {
    return count / ((await peer.drain(server.url, { count, concurrency })) / 1000);
  } finally {
    await server.drop();
  }
}
