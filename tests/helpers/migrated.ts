import { rmSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import BetterSqlite from 'better-sqlite3';
import { createTestHost, type TestHost, type TestHostInit } from '#testing';
import { createSystemClock } from '../../host/clock.ts';
import { hostMigrations } from '../../host/core.ts';
import { openDatabase } from '../../host/database/database.ts';
import { createPostgresDatabase, makeTemplate, type PostgresDatabase } from './postgres.ts';
import { silentLog } from './silent-log.ts';

/*
 * Databases with the tables of the host and of its plugins, as a site has them that was migrated and not started yet. Each
 * process with tests migrates one of each dialect, from empty, and copies it from then on.
 */

let folder: Promise<string> | undefined;
let template: Promise<string> | undefined;

/** Puts a migrated SQLite database into the data folder of a site that was never started. */
export async function copyMigratedSqlite(dataDir: string): Promise<void> {
  folder ??= makeFolder();
  await copyFile(join(await folder, 'site.sqlite'), join(dataDir, 'site.sqlite'));
}

/** A migrated PostgreSQL database of its own. */
export async function createMigratedPostgres(): Promise<PostgresDatabase> {
  template ??= makeTemplate(async (databaseUrl) => migrate({ databaseUrl, dataDir: '' }));
  return createPostgresDatabase(await template);
}

let image: Promise<Buffer> | undefined;

/** `createTestHost`, which starts on a migrated database where it is one in memory: in a third of the time. */
export async function createMigratedHost(init: TestHostInit): Promise<TestHost> {
  if (init.database !== undefined) return createTestHost(init);
  image ??= makeImage();
  return createTestHost({ ...init, databaseImage: await image });
}

/** A database in memory cannot keep a log beside it. */
async function makeImage(): Promise<Buffer> {
  const own = await mkdtemp(join(tmpdir(), 'svc-image-'));
  try {
    await copyMigratedSqlite(own);
    const database = new BetterSqlite(join(own, 'site.sqlite'));
    database.pragma('journal_mode = DELETE');
    const made = database.serialize();
    database.close();
    return made;
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

/** Closing the database moves everything from the log into the file. */
async function makeFolder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'svc-migrated-'));
  process.once('exit', () => rmSync(made, { recursive: true, force: true }));
  await migrate({ databaseUrl: null, dataDir: made });
  return made;
}

async function migrate(location: { readonly databaseUrl: string | null; readonly dataDir: string }): Promise<void> {
  const [{ default: svc }, { default: sandbox }] = await Promise.all([
    import('../../plugins/svc/index.ts'),
    import('../../plugins/sandbox/index.ts'),
  ]);
  const database = await openDatabase({ ...location, clock: createSystemClock(), log: silentLog });
  try {
    const owners = { host: hostMigrations, svc: svc.migrations ?? [], sandbox: sandbox.migrations ?? [] };
    for (const [owner, migrations] of Object.entries(owners))
      await database.migrateTogether(owner, migrations, async () => undefined);
  } finally {
    await database.close();
  }
}
