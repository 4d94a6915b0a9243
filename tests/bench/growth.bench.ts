import { createSystemClock } from '../../host/clock.ts';
import { openDatabase } from '../../host/database/database.ts';
import { createPostgresDatabase, stopPostgres } from '../helpers/postgres.ts';
import { silentLog } from '../helpers/silent-log.ts';
import type { BenchRow } from './bench-row.ts';
import { createDataFolder, startSite, timeToReady, type DataFolder } from './helpers/site.ts';
import { median } from './helpers/statistics.ts';
import { seedLogs } from './logs-seed.ts';

export const title =
  'Growth: the start of a site with very many conversations and deliveries, beside that of an empty one';

type Dialect = 'SQLite' | 'PostgreSQL';

export async function run({ short }: { readonly short: boolean }): Promise<BenchRow[]> {
  const size = short ? { stored: 2_000, times: 2 } : { stored: 1_000_000, times: 9 };
  const stops: (() => Promise<void>)[] = [stopPostgres];
  try {
    const rows: BenchRow[] = [];
    for (const dialect of ['SQLite', 'PostgreSQL'] as const) rows.push(...(await compare(dialect, size, stops)));
    return rows;
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** Starts both sites in turns. */
async function compare(
  dialect: Dialect,
  { stored, times }: { readonly stored: number; readonly times: number },
  stops: (() => Promise<void>)[],
): Promise<BenchRow[]> {
  const [empty, full] = [await openSite(dialect, stops), await openSite(dialect, stops)];
  await fill(full, stored);
  const spent = { empty: [] as number[], full: [] as number[] };
  const waited = { empty: [] as number[], full: [] as number[] };
  for (let count = 0; count < times; count += 1) {
    for (const [name, site] of [['empty', empty] as const, ['full', full] as const]) {
      const { processor, readyAfter } = await timeToReady(() => startSite(site));
      spent[name].push(processor);
      waited[name].push(readyAfter);
    }
  }
  const rows = (what: string, { empty: few, full: many }: typeof spent): BenchRow[] => [
    { name: `${dialect}, ${what} of an empty site`, value: median(few), unit: 'ms' },
    {
      name: `${dialect}, ${what} with ${String(stored)} conversations and deliveries, beside it`,
      value: median(many) / median(few),
      unit: 'ratio',
      target: { at: 'most', value: 1.2 },
    },
  ];
  return [
    ...rows('processor time to ready', spent),
    ...rows('time to ready', waited),
    await slowestPage(dialect, full, { stored, times }),
  ];
}

const pages = [
  '',
  'users',
  'tools/jobs',
  'tools/site-health',
  'svc',
  'svc/bots',
  'svc/logs',
  'svc/usage',
  'svc/webhooks',
  'svc/deliveries',
  'svc/deliveries?state=failed',
];

/** The page whose median from request to last byte is longest. */
async function slowestPage(
  dialect: Dialect,
  site: DataFolder,
  { stored, times }: { readonly stored: number; readonly times: number },
): Promise<BenchRow> {
  const { ready, stop } = await startSite(site);
  try {
    const headers = { cookie: await signIn(`${ready}/admin/login`, site.env) };
    const medians: { readonly page: string; readonly time: number }[] = [];
    for (const page of pages) {
      const took: number[] = [];
      // The first one compiles the template.
      for (let count = 0; count <= times; count += 1) {
        const began = performance.now();
        const response = await fetch(`${ready}/admin/${page}`, { headers, redirect: 'error' });
        await response.arrayBuffer();
        if (!response.ok) throw new Error(`/admin/${page} answered ${String(response.status)}.`);
        took.push(performance.now() - began);
      }
      medians.push({ page, time: median(took.slice(1)) });
    }
    const [slowest = { page: '', time: Number.NaN }] = medians.sort((a, b) => b.time - a.time);
    return {
      name: `${dialect}, slowest of ${String(pages.length)} admin pages with ${String(stored)} conversations and deliveries`,
      value: slowest.time,
      unit: 'ms',
      target: { at: 'most', value: 100 },
      note: `/admin/${slowest.page}`,
    };
  } finally {
    await stop();
  }
}

/** Signs in by the form. Resolves to the cookies. */
async function signIn(url: string, env: DataFolder['env']): Promise<string> {
  const body = new URLSearchParams({ login: env['ADMIN_USER'] ?? '', password: env['ADMIN_PASSWORD'] ?? '' });
  const { origin } = new URL(url);
  const response = await fetch(url, { method: 'POST', body, headers: { origin }, redirect: 'manual' });
  const cookies = response.headers.getSetCookie().map((cookie) => cookie.split(';')[0]);
  if (response.status !== 303 || cookies.length === 0) throw new Error(`${url} answered ${String(response.status)}.`);
  return cookies.join('; ');
}

/** A site that has been started once, so that its tables exist. */
async function openSite(dialect: Dialect, stops: (() => Promise<void>)[]): Promise<DataFolder> {
  const folder = await createDataFolder();
  stops.push(folder.remove);
  const server = dialect === 'PostgreSQL' ? await createPostgresDatabase() : null;
  if (server !== null) stops.push(server.drop);
  const site = { ...folder, env: { ...folder.env, ...(server !== null && { DATABASE_URL: server.url }) } };
  await (await startSite(site)).stop();
  return site;
}

/** Fills the tables by hand: conversations, and of deliveries one in a thousand pending, one in a hundred failed. */
async function fill({ env }: DataFolder, stored: number): Promise<void> {
  const clock = createSystemClock();
  const { DATABASE_URL: databaseUrl = null, DATA_DIR: dataDir = '' } = env;
  const database = await openDatabase({ databaseUrl, dataDir, clock, log: silentLog });
  try {
    await seedLogs({ database, conversations: stored, users: Math.ceil(stored / 50), bots: 5 });
    const count = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)`;
    await database.knex.raw(
      `INSERT INTO svc_webhook_events (uuid, name, key, created_at, body)
      ${count} SELECT 'e' || i, 'chatbot.session_started', 'k', i, ? FROM n`,
      [stored, Buffer.alloc(640, 97)],
    );
    await database.knex.raw(
      `INSERT INTO svc_webhook_deliveries (uuid, event_id, endpoint_id, state, due_at, created_at)
      ${count} SELECT 'd' || i, i, 'closed',
        CASE WHEN i % 1000 = 0 THEN 'pending' WHEN i % 100 = 1 THEN 'failed' ELSE 'delivered' END,
        CASE WHEN i % 1000 = 0 THEN CAST(? AS BIGINT) END, i FROM n`,
      [stored, clock.now() + 3_600_000],
    );
  } finally {
    await database.close();
  }
}
