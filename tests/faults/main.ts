import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock } from '../../host/clock.ts';
import { openDatabase } from '../../host/database/database.ts';
import { createPostgresDatabase, stopPostgres } from '../helpers/postgres.ts';
import { silentLog } from '../helpers/silent-log.ts';
import { killRounds, type KillReport } from './kill-rounds.ts';

// npm run faults -- <kills>: the nightly form of webhook-kills.slow.test.ts. Leases run out by themselves here.
const kills = Number(process.argv[2] ?? 100);
if (!Number.isInteger(kills) || kills < 1) throw new Error('Say how often to kill: npm run faults -- 100');

async function run(databaseUrl: string | null): Promise<KillReport> {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-faults-'));
  const database = await openDatabase({ databaseUrl, dataDir, clock: createSystemClock(), log: silentLog });
  try {
    return await killRounds({
      open: () => Promise.resolve(database),
      location: { databaseUrl, dataDir },
      kills,
      hurried: false,
    });
  } finally {
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

let hasFailed = false;
const postgres = await createPostgresDatabase();
try {
  const reports = { SQLite: await run(null), PostgreSQL: await run(postgres.url) };
  console.table(reports);
  hasFailed = Object.values(reports).some(({ lost, different }) => lost + different > 0);
} finally {
  await postgres.drop();
  await stopPostgres();
}
// Said outright: the exit hooks of the embedded PostgreSQL end with 0 whatever `process.exitCode` is.
process.exit(hasFailed ? 1 : 0);
