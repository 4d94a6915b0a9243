import type { Database } from '../../host/database/database.ts';
import { openJobs } from '../jobs/site.ts';
import type { OpenDatabase } from '../helpers/dialects.ts';
import { until } from '../helpers/until.ts';
import { createNodes, type Location, type Node } from './webhook-nodes.ts';

const jobsPerKill = 10;

export interface JobKillReport {
  readonly kills: number;
  readonly jobs: number;
  /** Attempts that began: those of killed nodes too. */
  readonly attempts: number;
  /** Jobs that are not completed at the end. */
  readonly unfinished: number;
  /** Effects beyond one of a job, and missing ones. */
  readonly wrongEffects: number;
}

/**
 * Two nodes work the jobs; over and over the older one is killed with jobs in its hands, and another one comes. The leases of
 * all jobs are ended after each kill, those of the living node too: its outdated attempts must have no effect.
 */
export async function jobKills({
  open,
  location,
  kills,
}: {
  readonly open: OpenDatabase;
  readonly location: Location;
  readonly kills: number;
}): Promise<JobKillReport> {
  const nodes = createNodes('tests/faults/job-node.ts');
  const { own, database } = await openJobs(open);
  await createTables(database);
  try {
    const pair: [Node, Node] = [nodes.start(location), nodes.start(location)];
    for (let round = 0; round < kills; round += 1) {
      await pair[0].ready;
      const before = await effects(database);
      for (let job = 0; job < jobsPerKill; job += 1) await own.add('count', round);
      // Each time at another moment of the work.
      await until('some jobs complete', async () => (await effects(database)) > before + (round % (jobsPerKill - 1)));
      await pair[0].end('SIGKILL');
      await database.knex('jobs').where({ state: 'running' }).update({ due_at: 1 });
      pair.push(nodes.start(location));
      pair.shift();
    }
    await until('every job completes', async () => (await unfinished(database)) === 0, 120_000);
    for (const node of pair) {
      await node.ready;
      await node.end('SIGTERM');
    }
    return { kills, jobs: kills * jobsPerKill, ...(await report(database)) };
  } finally {
    await nodes.stop();
  }
}

async function createTables({ knex }: Database): Promise<void> {
  await knex.schema.createTable('job_attempts', (table) => {
    table.bigInteger('job');
    table.bigInteger('token');
    table.primary(['job', 'token']);
  });
  // Without a key: a second effect would be stored, and counted.
  await knex.schema.createTable('job_effects', (table) => {
    table.bigInteger('job');
    table.integer('amount');
  });
}

async function count(
  { knex }: Database,
  table: string,
  where: Readonly<Record<string, unknown>> = {},
): Promise<number> {
  const [row] = (await knex(table).where(where).count({ count: '*' })) as { readonly count: number | string }[];
  return Number(row?.count);
}
const effects = (database: Database): Promise<number> => count(database, 'job_effects');
const unfinished = async (database: Database): Promise<number> =>
  (await count(database, 'jobs')) - (await count(database, 'jobs', { state: 'completed' }));

async function report(database: Database): Promise<Omit<JobKillReport, 'kills' | 'jobs'>> {
  const { knex } = database;
  const perJob = (await knex('jobs')
    .leftJoin('job_effects', 'jobs.id', 'job_effects.job')
    .groupBy('jobs.id')
    .select(knex.raw('count(job_effects.job) as count'))) as { readonly count: number | string }[];
  return {
    attempts: await count(database, 'job_attempts'),
    unfinished: await unfinished(database),
    wrongEffects: perJob.filter((row) => Number(row.count) !== 1).length,
  };
}
