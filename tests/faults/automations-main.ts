import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPostgresDatabase, stopPostgres } from '../helpers/postgres.ts';
import { automationsKills, type AutomationsKillReport } from './automations-kills.ts';

// node tests/faults/automations-main.ts [items] [kills]: the nightly form of automations-kills.test.ts. Leases run out by themselves here.
const [items, kills] = [Number(process.argv[2] ?? 1000), Number(process.argv[3] ?? 10)];
if (![items, kills].every((number) => Number.isInteger(number) && number > 0))
  throw new Error('Say how many items, and how often to kill: 1000 10');

async function run(databaseUrl: string | null): Promise<AutomationsKillReport> {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-faults-'));
  try {
    return await automationsKills({ location: { databaseUrl, dataDir }, items, kills, hurried: false });
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

let hasFailed = false;
const postgres = await createPostgresDatabase();
try {
  const reports = { SQLite: await run(null), PostgreSQL: await run(postgres.url) };
  console.table(reports);
  const isBad = ({
    unfinished,
    wrong,
    wrongEvents,
    unpaid,
    costOfItems,
    costOfLedger,
  }: AutomationsKillReport): boolean => unfinished + wrong + wrongEvents + unpaid > 0 || costOfItems !== costOfLedger;
  hasFailed = Object.values(reports).some(isBad);
} finally {
  await postgres.drop();
  await stopPostgres();
}
// Said outright: the exit hooks of the embedded PostgreSQL end with 0 whatever `process.exitCode` is.
process.exit(hasFailed ? 1 : 0);
