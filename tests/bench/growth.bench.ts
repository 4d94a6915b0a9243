import { createSystemClock } from '../../host/clock.ts';
import { openDatabase } from '../../host/database/database.ts';
import { createPostgresDatabase, stopPostgres } from '../helpers/postgres.ts';
import { silentLog } from '../helpers/silent-log.ts';
import type { BenchRow } from './bench-row.ts';
import { createDataFolder, startSite, timeToReady, type DataFolder } from './helpers/site.ts';
import { median } from './helpers/statistics.ts';
import { seedContent } from './content-seed.ts';
import { seedLogs } from './logs-seed.ts';

export const title =
  'Growth: the start of a site with very many rows in each long table, beside that of an empty one, and its pages';

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
      name: `${dialect}, ${what} with ${String(stored)} rows in each long table, beside it`,
      value: median(many) / median(few),
      unit: 'ratio',
      target: { at: 'most', value: 1.2 },
    },
  ];
  return [
    ...rows('processor time to ready', spent),
    ...rows('time to ready', waited),
    await slowestPage({ dialect, stored, times }, full, { what: 'admin pages', paths: adminPages }),
    await slowestPage({ dialect, stored, times }, full, { what: 'public pages and routes', paths: publicPages }),
  ];
}

/** `{last}` is the last page of a list, `{middle}` that of the middle, `{half}` half the number of rows, which few texts have. */
const adminPages = [
  '',
  'posts',
  'posts?status=draft',
  'posts?sort=title&order=asc&page={middle}',
  'posts?sort=author&page={last}',
  'posts?s=about+{half}',
  'posts/new',
  'pages',
  'media',
  'media?kind=image',
  'media?sort=title&page={middle}',
  'comments',
  'comments?status=hold',
  'comments?s=comment+{half}',
  'comments?page={middle}',
  'terms/post_tag',
  'terms/post_tag?sort=count&order=desc',
  'terms/post_tag?s=tag+{half}',
  'users',
  'users?role=editor',
  'users?sort=registeredAt&order=desc&page={middle}',
  'users?s=user{half}',
  'search?q={half}',
  'tools/jobs',
  'tools/site-health',
  'svc',
  'svc/bots',
  'svc/logs',
  'svc/usage',
  'svc/webhooks',
  'svc/deliveries',
  'svc/deliveries?state=failed',
].map((path) => `admin/${path}`);

const publicPages = [
  '',
  'page/{middle}/',
  'category/uncategorized/',
  'tag/tag-77/',
  '?s=about+{half}',
  'feed/',
  'wp-json/wp/v2/posts',
  'wp-json/wp/v2/posts?orderby=title&order=asc',
  'wp-json/wp/v2/tags?orderby=count&order=desc',
  'wp-json/wp/v2/comments',
];

interface Size {
  readonly dialect: Dialect;
  readonly stored: number;
  readonly times: number;
}

/** Milliseconds that a page may take. */
const longest = 100;

/** The page whose median from request to last byte is longest. */
async function slowestPage(
  { dialect, stored, times }: Size,
  site: DataFolder,
  { what, paths }: { readonly what: string; readonly paths: readonly string[] },
): Promise<BenchRow> {
  const { ready, stop } = await startSite(site);
  try {
    const cookie = await signIn(`${ready}/admin/login`, site.env);
    const medians: { readonly page: string; readonly time: number }[] = [];
    for (const path of paths) {
      const isAdmin = path.startsWith('admin/');
      const last = Math.floor(stored / (isAdmin ? 20 : 10));
      const page = path
        .replace('{last}', String(last))
        .replace('{middle}', String(Math.floor(last / 2)))
        .replace('{half}', String(Math.floor(stored / 2)));
      const took: number[] = [];
      // The first one compiles the template.
      for (let count = 0; count <= times; count += 1) {
        const began = performance.now();
        const response = await fetch(`${ready}/${page}`, { headers: isAdmin ? { cookie } : {}, redirect: 'error' });
        await response.arrayBuffer();
        if (!response.ok) throw new Error(`/${page} answered ${String(response.status)}.`);
        took.push(performance.now() - began);
      }
      medians.push({ page, time: median(took.slice(1)) });
    }
    const [slowest = { page: '', time: Number.NaN }, ...others] = medians.sort((a, b) => b.time - a.time);
    const slow = [slowest, ...others.filter(({ time }) => time > longest)];
    return {
      name: `${dialect}, slowest of ${String(paths.length)} ${what} with ${String(stored)} rows in each long table`,
      value: slowest.time,
      unit: 'ms',
      target: { at: 'most', value: longest },
      note: slow.map(({ page, time }) => `/${page} ${time.toFixed(0)}`).join(', '),
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

/** Fills the tables by hand: content, conversations, and of deliveries one in a thousand pending, one in a hundred failed. */
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
    await seedContent(database, stored);
  } finally {
    await database.close();
  }
}
