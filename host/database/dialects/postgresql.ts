import { createHash } from 'node:crypto';
import knex from 'knex';
import type { Client, ClientConfig } from 'pg';
import type { Knex } from '#plugin-api';
import type { Dialect, DialectDependencies } from './dialect.ts';
import { createPostgresqlDirect, createPostgresqlReadNumbers } from './postgresql-direct.ts';
import { createPostgresqlReader } from './postgresql-reader.ts';
import { createPostgresqlNotifier } from './postgresql-notifier.ts';
import { createPostgresqlPool } from './postgresql-pool.ts';
import { mayComeUp } from '../outages.ts';
import { checkSessions } from './postgresql-sessions.ts';
import { createTypeParser } from './postgresql-types.ts';
import {
  dropPostgresqlTables,
  readPostgresqlTables,
  readSnapshot,
  resetPostgresqlSequences,
  withoutPostgresqlForeignKeys,
} from './postgresql-tables.ts';

const connectTimeout = 5_000;

export interface PostgresqlAddresses {
  readonly databaseUrl: string;
  /** Past a pooler, for LISTEN and the locks of sessions; null: `databaseUrl` has sessions. */
  readonly databaseDirectUrl: string | null;
}

/** PostgreSQL, for any number of nodes. Its driver is loaded only here. */
export async function openPostgresql(
  { databaseUrl, databaseDirectUrl }: PostgresqlAddresses,
  { clock, log, wait = 0 }: DialectDependencies & { readonly wait?: number },
): Promise<Dialect> {
  const { default: driver } = await import('pg');
  const connection: ClientConfig = {
    connectionString: databaseUrl,
    application_name: 'svc',
    connectionTimeoutMillis: connectTimeout,
    keepAlive: true,
    types: { getTypeParser: createTypeParser(driver.types) },
  };
  const label = describeAddress(databaseUrl);
  const pool = createPostgresqlPool(driver, connection);
  const reader = createPostgresqlReader(databaseUrl);
  let isOpen = false;
  const database = knex({ client: 'pg', connectionPool: pool, log: createKnexLogger(log, () => isOpen) });
  const close = async (): Promise<void> => {
    await reader.close();
    // Knex releases no connection once it has forgotten the pool.
    await pool.destroy();
    await database.destroy();
  };
  try {
    await waitUntilUp(() => database.raw('SELECT 1'), { clock, log, label, wait });
    isOpen = true;
  } catch (error) {
    await close();
    const reason = (error as { code?: string }).code ?? (error as Error).message;
    throw new Error(
      `The database at ${label} does not respond (${reason}). ` +
        'Check DATABASE_URL, and that PostgreSQL is running and accepts this user.',
      { cause: error },
    );
  }

  return {
    name: 'postgresql',
    knex: database,
    label,
    now: () => database.raw('(extract(epoch from clock_timestamp()) * 1000)::bigint'),
    isUniqueViolation: (error) => (error as { code?: unknown } | null)?.code === '23505',
    lock: async (transaction, name) => {
      await transaction.raw('SELECT pg_advisory_xact_lock(?)', [lockKey(name)]);
    },
    migrationSettings: {},
    createNotifier: (events) =>
      createPostgresqlNotifier({
        ...{ ...events, clock, log, lockKey },
        // Past a pooler the connections of the pool are others, which may work.
        whenSilent: () => {
          if (databaseDirectUrl === null) pool.endAll();
        },
        connect: () => new driver.Client({ ...connection, connectionString: databaseDirectUrl ?? databaseUrl }),
        check: once((client) =>
          checkSessions(client, { knex: database, clock, isDirect: databaseDirectUrl !== null, label }),
        ),
      }),
    direct: createPostgresqlDirect(database, databaseDirectUrl !== null),
    readNumbers: createPostgresqlReadNumbers(database),
    reduceRows: reader.reduceRows,
    tables: readPostgresqlTables,
    dropTables: dropPostgresqlTables,
    withoutForeignKeys: withoutPostgresqlForeignKeys,
    resetSequences: resetPostgresqlSequences,
    snapshot: (read) =>
      database.transaction((transaction) => readSnapshot(transaction, read), {
        isolationLevel: 'repeatable read',
        readOnly: true,
      }),
    close,
  };
}

/** A check that has passed is not made again: a later connection must not wait for the pool. */
function once(check: (client: Client) => Promise<void>): (client: Client) => Promise<void> {
  let hasPassed = false;
  return async (client) => {
    if (!hasPassed) await check(client);
    hasPassed = true;
  };
}

interface Waiting extends DialectDependencies {
  readonly label: string;
  /** Milliseconds that a server may take to come up; 0: it must be there. */
  readonly wait: number;
}

const pause = 1_000;

/** Tries until a server that is late responds. A wrong password or name fails at once. */
async function waitUntilUp(connect: () => Promise<unknown>, { clock, log, label, wait }: Waiting): Promise<void> {
  const end = clock.now() + wait;
  for (let isFirst = true; ; isFirst = false)
    try {
      await connect();
      return;
    } catch (error) {
      if (!mayComeUp(error) || clock.now() >= end) throw error;
      if (isFirst)
        log.warn('Waiting for the database', { event: 'database_awaited', database: label, seconds: wait / 1_000 });
      await clock.sleep(pause);
    }
}

/** By default, knex prints broken connections to the console. */
function createKnexLogger(log: DialectDependencies['log'], isOpen: () => boolean): Knex.Logger {
  return {
    warn: (message: unknown) => {
      if (!isOpen()) return;
      log.warn('Database connection warning', { event: 'database_connection_warning', error: String(message) });
    },
    error: (message: unknown) => {
      log.error('Database driver failed', { event: 'database_driver_failed', error: String(message) });
    },
  };
}

/** Advisory locks are numbers shared by all users of the database: 53 bits of a digest keep ours apart. */
function lockKey(name: string): number {
  return Number.parseInt(createHash('sha256').update(`svc:${name}`).digest('hex').slice(0, 13), 16);
}

function describeAddress(databaseUrl: string): string {
  const { host, pathname } = new URL(databaseUrl);
  return `${host}${pathname}`;
}
