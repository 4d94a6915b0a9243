import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestHost, type TestHost } from '#testing';
import { createSystemClock } from '../../host/clock.ts';
import type { Database } from '../../host/database/database.ts';
import { createPostgresDatabase, stopPostgres } from '../helpers/postgres.ts';
import type { BenchRow } from './bench-row.ts';
import { measureQueries } from './helpers/logs-queries.ts';
import { seedLogs } from './logs-seed.ts';

export const title = 'GET /logs: a million conversations of 4 to 10 messages on SQLite and on PostgreSQL';

const key = 'bench-key';
const users = 20_000;
const bots = 5;

/** LOGS_BENCH_SQLITE (a folder) and LOGS_BENCH_POSTGRESQL (an address) name databases that are kept, and filled where they are empty. */
export async function run({ short }: { readonly short: boolean }): Promise<BenchRow[]> {
  const conversations = Number(process.env['LOGS_BENCH_ROWS'] ?? (short ? 3_000 : 1_000_000));
  const rows: BenchRow[] = [];
  for (const dialect of ['SQLite', 'PostgreSQL'] as const) {
    await withSite(dialect, conversations, async (host, count) => {
      rows.push(...(await measureQueries({ host, key, dialect, conversations: count, rounds: short ? 3 : 40 })));
    });
  }
  return rows;
}

async function withSite(
  dialect: 'SQLite' | 'PostgreSQL',
  conversations: number,
  work: (host: TestHost, count: number) => Promise<void>,
): Promise<void> {
  const kept = process.env[dialect === 'SQLite' ? 'LOGS_BENCH_SQLITE' : 'LOGS_BENCH_POSTGRESQL'];
  const own = kept === undefined && dialect === 'PostgreSQL' ? await createPostgresDatabase() : null;
  const folder = kept === undefined && dialect === 'SQLite' ? await mkdtemp(join(tmpdir(), 'bench-logs-')) : null;
  const host = await startSite(kept ?? own?.url ?? folder ?? '');
  try {
    const stored = Number((await host.database.knex('svc_conversations').max({ id: 'id' }).first())?.id ?? 0);
    if (stored === 0) await fill(host, conversations);
    await work(host, stored === 0 ? conversations : stored);
  } finally {
    await host.stop();
    await own?.drop();
    if (own !== null) await stopPostgres();
    if (folder !== null) await rm(folder, { recursive: true, force: true });
  }
}

async function startSite(database: string): Promise<TestHost> {
  const host = await createTestHost({
    plugins: ['svc'],
    database,
    clock: createSystemClock(),
    env: { LOG_LEVEL: 'warn' },
  });
  await host.options.update('svc_api_key', host.secrets.encrypt(key));
  return host;
}

async function fill(host: TestHost, conversations: number): Promise<void> {
  const started = performance.now();
  await seedLogs({
    database: host.database as Database,
    conversations,
    users,
    bots,
    progress: (text) => {
      console.log(`  ${text} after ${((performance.now() - started) / 1000).toFixed(0)} s`);
    },
  });
}
