import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock } from '../../host/clock.ts';
import { type Database, openDatabase } from '../../host/database/database.ts';
import type { Clock, Logger } from '#plugin-api';
import { copyMigratedSqlite, createMigratedPostgres } from './migrated.ts';
import { createPostgresDatabase } from './postgres.ts';
import { silentLog } from './silent-log.ts';

export { silentLog };

export interface OpenInit {
  readonly clock?: Clock;
  readonly log?: Logger;
}

/** Opens the running test's database; called again, another node on the same one. All are closed after the test. */
export type OpenDatabase = (init?: OpenInit) => Promise<Database>;

export interface DialectCase {
  readonly dialect: Database['dialect'];
  /** Where the running test's database is, for processes of their own. */
  readonly location: () => { readonly databaseUrl: string | null; readonly dataDir: string };
  /** A folder that is removed after the test. */
  readonly directory: () => string;
}

/** What all nodes of a site share: database, folder, key and address. */
export function sharedSite({ databaseUrl, dataDir }: ReturnType<DialectCase['location']>) {
  const env = {
    SECRET_KEY: randomBytes(32).toString('hex'),
    SITE_URL: 'https://www.example.com',
    DATA_DIR: dataDir,
  };
  return { database: databaseUrl ?? dataDir, env };
}

/**
 * Runs a suite on SQLite and on PostgreSQL. Each test has a database of its own, empty but for what it puts in.
 *
 * @param define declares the tests of one dialect.
 */
export function describeDialects(title: string, define: (open: OpenDatabase, dialectCase: DialectCase) => void): void {
  for (const dialect of ['sqlite', 'postgresql'] as const)
    describe(`${title} (${nameOf(dialect)})`, () => {
      let opened: Database[] = [];
      const own = ownDatabases({ dialect, isMigrated: false });

      define(async ({ clock = createSystemClock(), log = silentLog } = {}) => {
        const database = await openDatabase({ ...own.dialectCase.location(), clock, log });
        opened.push(database);
        return database;
      }, own.dialectCase);

      // After the hooks of the tests, which stop what works on the database: a queue whose last outcome cannot be written any more does not come to rest.
      afterEach('removes the database', async () => {
        for (const database of opened) await database.close();
        opened = [];
        await own.remove();
      });
    });
}

/**
 * Runs a suite of whole sites on SQLite and on PostgreSQL. Each test has a database of its own where the tables of the host
 * and of its plugins are made already and nothing else is: `createTestHost` starts there in a third of the time.
 *
 * @param define declares the tests of one dialect.
 */
export function describeHosts(title: string, define: (dialectCase: DialectCase) => void): void {
  for (const dialect of ['sqlite', 'postgresql'] as const)
    describe(`${title} (${nameOf(dialect)})`, () => {
      const own = ownDatabases({ dialect, isMigrated: true });
      define(own.dialectCase);
      afterEach('removes the database', () => own.remove());
    });
}

/**
 * As `describeHosts`, with one database for all tests of a dialect, which takes a fraction of the time: for a site that
 * `shareSite` restores after each test.
 */
export function describeSharedHosts(title: string, define: (dialectCase: DialectCase) => void): void {
  for (const dialect of ['sqlite', 'postgresql'] as const)
    describe(`${title} (${nameOf(dialect)})`, () => {
      const own = ownDatabases({ dialect, isMigrated: true, isShared: true });
      define(own.dialectCase);
      after('removes the database', () => own.remove());
    });
}

const nameOf = (dialect: Database['dialect']): string => (dialect === 'sqlite' ? 'SQLite' : 'PostgreSQL');

/** Makes a database before each test of the suite that is being declared, or one before all of them. */
function ownDatabases({
  dialect,
  isMigrated,
  isShared = false,
}: {
  readonly dialect: Database['dialect'];
  readonly isMigrated: boolean;
  readonly isShared?: boolean;
}): { readonly dialectCase: DialectCase; remove(): Promise<void> } {
  let directory = '';
  let databaseUrl: string | null = null;
  let drop = async (): Promise<void> => {};

  (isShared ? before : beforeEach)('makes a database', async function () {
    // The first one starts the server and loads the plugins.
    this.timeout(60_000);
    directory = await mkdtemp(join(tmpdir(), 'svc-test-'));
    if (dialect === 'postgresql')
      ({ url: databaseUrl, drop } = await (isMigrated ? createMigratedPostgres() : createPostgresDatabase()));
    else if (isMigrated) await copyMigratedSqlite(directory);
  });

  return {
    dialectCase: { dialect, location: () => ({ databaseUrl, dataDir: directory }), directory: () => directory },
    async remove() {
      await drop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
