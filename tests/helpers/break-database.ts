import { join } from 'node:path';
import BetterSqlite from 'better-sqlite3';
import { Client } from 'pg';
import type { DialectCase } from './dialects.ts';

/**
 * Takes the database away from all processes of a site: on SQLite another process holds the write lock, PostgreSQL ends all
 * connections and accepts none. Undone by the returned function, which may be called again.
 */
export async function breakDatabase({
  databaseUrl,
  dataDir,
}: ReturnType<DialectCase['location']>): Promise<() => Promise<void>> {
  if (databaseUrl === null) {
    const other = new BetterSqlite(join(dataDir, 'site.sqlite'), { timeout: 5_000 });
    other.exec('BEGIN IMMEDIATE');
    return async () => void other.close();
  }
  const url = new URL(databaseUrl);
  const name = url.pathname.slice(1);
  url.pathname = '/postgres';
  const other = new Client({ connectionString: url.href });
  await other.connect();
  await other.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
  await other.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
  let repairing: Promise<void> | undefined;
  const repair = async (): Promise<void> => {
    await other.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    await other.end();
  };
  return () => (repairing ??= repair());
}
