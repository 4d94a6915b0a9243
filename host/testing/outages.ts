import { AsyncLocalStorage } from 'node:async_hooks';
import type { DirectWork, Undo, User } from '#plugin-api';
import { directStatements } from '../database/database.ts';
import type { RouteSummary } from '../rest/rest-contract.ts';
import { validRequests, type SentRequest } from './hostile-requests.ts';
import type { TestHost } from './test-host.ts';

/** What one request, or one run of a hook, sends to the database. */
interface Outage {
  /** Statements that succeed before the database fails. */
  passes: number;
  /** Work that goes on after the request is not part of it. */
  isOver: boolean;
  readonly statements: string[];
}

/** In the error of every statement that fails here: separates them from real ones in the log. */
export const outageText = 'simulated by the conformance kit';

/** Requests that send more statements are tried up to this one. */
const mostStatements = 25;

const current = new AsyncLocalStorage<Outage>();

interface OutagesInit {
  readonly host: TestHost;
  readonly user: User;
  /** The routes of the plugin. */
  readonly routes: readonly RouteSummary[];
  /** The hooks of its cron events. */
  readonly events: readonly string[];
  /** Its tables. */
  readonly tables: readonly string[];
}

/**
 * Sends a valid request to each route while the database fails from the first, the second, ... statement on, and runs the
 * cron events in the same way. Expects that what fails leaves nothing half-written, claims no success and shows no statement,
 * and that everything works again after it.
 *
 * @throws Error that names the first request that failed.
 */
export async function tryOutages({ host, user, routes, events, tables }: OutagesInit): Promise<void> {
  const undo = interceptStatements(host);
  try {
    for (const request of routes.flatMap(validRequests))
      await tryWork({ host, tables, name: describe(request), send: async () => sendRequest(host, request, user) });
    for (const hook of events)
      await tryWork({
        ...{ host, tables, name: `The cron event '${hook}'` },
        send: async () => {
          await host.hooks.doActionAsync(hook);
          return { status: 200, body: null };
        },
      });
  } finally {
    undo();
  }
}

interface Work {
  readonly host: TestHost;
  readonly tables: readonly string[];
  readonly name: string;
  readonly send: () => Promise<{ readonly status: number; readonly body: unknown }>;
}

async function tryWork({ host, tables, name, send }: Work): Promise<void> {
  const run = async (passes: number) => {
    const outage: Outage = { passes, isOver: false, statements: [] };
    try {
      return { outage, ...(await current.run(outage, send)) };
    } finally {
      outage.isOver = true;
    }
  };
  const all = await readTables(host, tables);
  const { outage, status: usual } = await run(Infinity);
  const written = tables.filter((table) => outage.statements.some((sql) => writesTo(sql, table)));
  const hasChanged = differ(all, await readTables(host, written));
  for (let passes = 0; passes < Math.min(outage.statements.length, mostStatements); passes += 1) {
    const before = await readTables(host, written);
    const { status, body } = await run(passes);
    const isChanged = differ(before, await readTables(host, written));
    const at = `${name}, while the database fails from statement ${passes + 1} on,`;
    if (status >= 500 && isChanged)
      throw new Error(`${at} responded with ${status} and changed ${written.join(', ')}.`);
    if (status < 400 && passes === 0 && hasChanged && usual < 400)
      throw new Error(`${at} responded with ${status} as if it had succeeded.`);
    const text = JSON.stringify(body) ?? '';
    if (text.includes(outageText) || /\b(?:insert into|select .+ from|delete from)\b/i.test(text))
      throw new Error(`${at} shows the statement: ${text.slice(0, 200)}`);
  }
  const { status } = await run(Infinity);
  if (status === 500) throw new Error(`${name} responded with 500 after the database was back.`);
}

/** The statements of what runs in `current` fail once those that pass have been sent. */
function interceptStatements({ database }: TestHost): Undo {
  const { dialect, direct } = database;
  const code = dialect === 'sqlite' ? 'SQLITE_IOERR' : '57P01';
  const check = (sql: string): void => {
    const outage = current.getStore();
    // A connection that is lost ends its transaction too.
    if (!outage || outage.isOver || /^(?:commit|rollback|release|savepoint)\b/i.test(sql)) return;
    outage.statements.push(sql);
    if (outage.statements.length > outage.passes)
      throw Object.assign(new Error(`The database does not respond, ${outageText}.`), { code });
  };
  const undo = database.observeQueries((sql) => {
    // The copy below checks each of these.
    if (sql !== directStatements) check(sql);
    return () => {};
  });
  database.direct = (work, init) => direct(failing(work, check), init);
  return () => {
    undo();
    database.direct = direct;
  };
}

/** The same work, whose statements are checked before they are sent. */
function failing<Result>(work: DirectWork<Result>, check: (sql: string) => void): DirectWork<Result> {
  return {
    sqlite: ({ run, rows }) =>
      work.sqlite({
        run: (sql, ...values) => {
          check(sql);
          return run(sql, ...values);
        },
        rows: (sql, ...values) => {
          check(sql);
          return rows(sql, ...values);
        },
      }),
    postgresql: ({ rows }) =>
      work.postgresql({
        rows: async (sql, values) => {
          check(sql);
          return rows(sql, values);
        },
      }),
  };
}

async function sendRequest({ rest }: TestHost, { route, init }: SentRequest, user: User) {
  const { status, body } = await rest.dispatch(route, { ...init, user });
  // A stream is read to its end by who requested it.
  return { status, body: typeof body === 'object' && body !== null && Symbol.asyncIterator in body ? null : body };
}

function describe({ route, init }: SentRequest): string {
  return `${init.method ?? 'GET'} ${route}`;
}

function writesTo(sql: string, table: string): boolean {
  return new RegExp(String.raw`\b(?:insert into|update|delete from|replace into)\s+["\x60]?${table}\b`, 'i').test(sql);
}

/** The rows of each table as text. */
async function readTables({ database }: TestHost, tables: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const table of tables) {
    const rows = (await database.knex(table).select()) as unknown[];
    found.set(
      table,
      rows
        .map((row) => JSON.stringify(row))
        .sort()
        .join('\n'),
    );
  }
  return found;
}

function differ(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): boolean {
  return [...after].some(([table, rows]) => before.get(table) !== rows);
}
