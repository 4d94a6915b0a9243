import { randomUUID } from 'node:crypto';
import { mkdir, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { errorText, formatCount } from '#plugin-api';
import { createSystemClock } from '../clock.ts';
import { readManifest, type PluginSource } from '../loader/manifest.ts';
import { withTimeout } from '../loader/stages.ts';
import { hostVersion } from '../site.ts';
import { hostileRequests, validRequests, type SentRequest } from './hostile-requests.ts';
import { outageText, tryOutages } from './outages.ts';
import { added, countData, linkPlugins, nameRests, readTraces, unpackPlugin } from './plugin-traces.ts';
import { createTestHost, type TestHost, type TestHostInit } from './test-host.ts';

export interface ConformanceInit {
  /** Folder of the plugin. */
  readonly plugin: string;
  /** Rounds of deactivation and activation. Default 20. */
  readonly rounds?: number;
  /** Seconds for each point. Default 300. What takes longer fails, and the points after it are not tried. */
  readonly timeLimit?: number;
  /** Folder or zip file of the previous version, to upgrade from. */
  readonly previous?: string;
  /** `postgres://...` of an empty database: everything runs there too, and on two nodes. */
  readonly postgres?: string;
  /** Path of Chromium, to look at the admin pages with axe-core. Needs the host's development packages. */
  readonly browser?: string;
  readonly compilePlugin?: TestHostInit['compilePlugin'];
}

export interface ConformancePoint {
  /** Such as `rounds`. */
  readonly point: string;
  readonly database: 'SQLite' | 'PostgreSQL';
  readonly outcome: 'passed' | 'failed' | 'left out';
  /** What failed, or why it was left out. Empty if it passed. */
  readonly detail: string;
}

/** The site that the points are tried on, one after the other. */
interface Subject {
  readonly host: TestHost;
  readonly source: PluginSource;
  readonly rounds: number;
  /** Another node of the site; null on SQLite. */
  readonly node: TestHost | null;
  /** Makes the folder of the plugin that of another version, and of this one again. */
  readonly switchTo: (directory: string) => Promise<void>;
  readonly previous: string | null;
  readonly browser: string | null;
  readonly before: Awaited<ReturnType<typeof readTraces>>;
  readonly beforeRoutes: readonly string[];
}

type Point = (subject: Subject) => Promise<string | undefined>;

/** In this order: each leaves the plugin active, the last one inactive. A returned text says why a point was left out. */
const points: Readonly<Record<string, Point>> = {
  activate: async ({ host, source }) => host.plugins.activate(source.manifest.slug).then(() => undefined),
  nodes: tryNodes,
  routes: tryRoutes,
  database: tryFailingDatabase,
  pages: tryPages,
  accessibility: tryAccessibility,
  rounds: tryRounds,
  upgrade: tryUpgrade,
  uninstall: tryUninstall,
};

/**
 * Tries what every plugin should stand: activation, two nodes, broken requests to all of its routes, a failing database,
 * its admin pages and their accessibility, rounds without growth, an upgrade, and an uninstallation that leaves nothing. It runs
 * the plugin's code in hosts in memory, so try only plugins that you trust.
 *
 * @throws Error if the folder has no plugin. What the plugin does wrong is a point that failed.
 */
export async function checkConformance(init: ConformanceInit): Promise<ConformancePoint[]> {
  const onSqlite = await tryDatabase('SQLite', init);
  if (init.postgres === undefined) return onSqlite;
  const { browser: _onceIsEnough, ...onPostgres } = init;
  return [...onSqlite, ...(await tryDatabase('PostgreSQL', onPostgres))];
}

async function tryDatabase(
  database: ConformancePoint['database'],
  { plugin, rounds = 20, timeLimit = 300, previous, postgres, browser, compilePlugin }: ConformanceInit,
): Promise<ConformancePoint[]> {
  const directory = await realpath(resolve(plugin));
  const source = await readManifest({ directory, folder: basename(directory), hostVersion });
  if (source === null) throw new Error(`There is no plugin.json in ${directory}.`);
  const folder = join(tmpdir(), `svc-conformance-${randomUUID()}`);
  // Plugins are installed into the first folder and deleted from it. The other one has links.
  const [empty, linked] = [join(folder, 'empty'), join(folder, 'linked')];
  await mkdir(empty, { recursive: true });
  await mkdir(linked);
  const required = linkPlugins(source, linked);
  const hosts: TestHost[] = [];
  const open = async (): Promise<TestHost> => {
    const host = await createTestHost({
      plugins: 'found',
      pluginDirs: [empty, linked],
      env: { SECRET_KEY: '0'.repeat(64) },
      ...(database === 'PostgreSQL' && postgres !== undefined && { database: postgres }),
      ...(compilePlugin && { compilePlugin }),
    });
    hosts.push(host);
    return host;
  };
  try {
    const host = await open();
    for (const slug of required) await host.plugins.activate(slug);
    const { slug } = source.manifest;
    if (host.plugins.list().some((each) => each.slug === slug && each.state === 'active')) {
      // Activated by itself: what it made is no part of the site before it.
      await host.plugins.deactivate(slug);
      await host.plugins.uninstall(slug);
    }
    const subject: Subject = {
      ...{ host, source, rounds, browser: browser ?? null },
      node: database === 'PostgreSQL' ? await open() : null,
      previous: previous === undefined ? null : await unpackPlugin(await realpath(resolve(previous)), { host, folder }),
      before: await readTraces(host),
      beforeRoutes: host.rest.describe().map(({ route }) => route),
      switchTo: async (directory) => {
        await rm(join(linked, slug));
        await symlink(directory, join(linked, slug));
      },
    };
    return await tryPoints(database, subject, timeLimit);
  } finally {
    for (const host of hosts.reverse()) await host.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function tryPoints(
  database: ConformancePoint['database'],
  subject: Subject,
  timeLimit: number,
): Promise<ConformancePoint[]> {
  const found: ConformancePoint[] = [];
  const tooLong = `It did not end within ${formatCount(timeLimit, 'second')}. The points after it were not tried.`;
  for (const [point, run] of Object.entries(points)) {
    const begin = subject.host.logged.length;
    const outcome = await withTimeout(run(subject), { clock, limit: timeLimit * 1_000, message: tooLong }).then(
      (reason) =>
        reason === undefined
          ? ({ outcome: 'passed', detail: '' } as const)
          : ({ outcome: 'left out', detail: reason } as const),
      (error: unknown) => ({ outcome: 'failed', detail: errorText(error) }) as const,
    );
    const logged = findLoggedError(subject.host.logged.slice(begin), subject.source.manifest.slug);
    found.push(
      outcome.outcome === 'failed' || logged === null
        ? { point, database, ...outcome }
        : { point, database, outcome: 'failed', detail: `The log has an error of the plugin: ${logged}` },
    );
    if (outcome.outcome === 'failed' && (point === 'activate' || outcome.detail === tooLong)) break;
  }
  return found;
}

/** The first line of the log that names an error of the plugin. */
function findLoggedError(lines: readonly string[], slug: string): string | null {
  const line = lines.find((each) => {
    const { level, plugin } = JSON.parse(each) as { readonly level?: unknown; readonly plugin?: unknown };
    return level === 'error' && plugin === slug && !each.includes(outageText);
  });
  return line === undefined ? null : line.slice(0, 500);
}

/** Milliseconds of real time until another node follows an activation. */
const followLimit = 10_000;
const clock = createSystemClock();

/** Waits until another node has started or stopped the plugin, and until it has ended what it is doing. */
async function follow(node: TestHost, slug: string, wanted: boolean): Promise<void> {
  const begin = performance.now();
  for (;;) {
    await node.plugins.sync();
    // Waits for a running operation, such as a start that began before the plugin was deactivated. `sync` does not.
    const found = (await node.plugins.discover()).find((each) => each.slug === slug);
    if ((found?.state === 'active') === wanted) return;
    if (performance.now() - begin > followLimit)
      throw new Error(
        wanted
          ? 'Another node did not start the plugin within 10 seconds.'
          : 'Another node did not stop the plugin within 10 seconds.',
      );
    await clock.sleep(50);
  }
}

async function tryNodes({ host, node, source: { manifest } }: Subject): Promise<string | undefined> {
  if (node === null) return 'Two nodes need PostgreSQL.';
  await follow(node, manifest.slug, true);
  await host.plugins.deactivate(manifest.slug);
  await follow(node, manifest.slug, false);
  await host.plugins.activate(manifest.slug);
  await follow(node, manifest.slug, true);
  return undefined;
}

/** Uninstalls the plugin after all nodes have stopped it: one that still starts it would make its tables and events again. */
async function deactivateAndUninstall({ host, node, source: { manifest } }: Subject): Promise<void> {
  await host.plugins.deactivate(manifest.slug);
  if (node !== null) await follow(node, manifest.slug, false);
  await host.plugins.uninstall(manifest.slug);
}

/** The routes of the plugin, without those that the host adds to each namespace. */
function ownRoutes({ host, beforeRoutes }: Subject) {
  return host.rest
    .describe()
    .filter(({ namespace, route }) => ![`/${namespace}`, `/${namespace}/openapi.json`].includes(route))
    .filter(({ route }) => !beforeRoutes.includes(route));
}

async function tryFailingDatabase(subject: Subject): Promise<string | undefined> {
  const { host, before } = subject;
  const after = await readTraces(host);
  const [routes, events] = [ownRoutes(subject), added(before.events, after.events)];
  if (routes.length + events.length === 0) return 'The plugin has no routes and no cron events.';
  const { user } = await host.signIn();
  await tryOutages({ host, user, routes, events, tables: added(before.tables, after.tables) });
  return undefined;
}

async function tryRoutes(subject: Subject): Promise<string | undefined> {
  const { host } = subject;
  const own = ownRoutes(subject);
  if (own.length === 0) return 'The plugin has no routes.';
  const { user } = await host.signIn();
  const failures: string[] = [];
  for (const request of own.flatMap(hostileRequests)) {
    const { status, body } = await host.rest.dispatch(request.route, { ...request.init, user });
    if (status === 500) failures.push(describeFailure(request, body));
  }
  if (failures.length > 0) throw new Error(`${failures.length} requests answered 500. ${failures[0] ?? ''}`);
  return undefined;
}

function describeFailure({ route, init }: SentRequest, body: unknown): string {
  const sent = JSON.stringify(init.json ?? init.query).slice(0, 200);
  return `The first: ${init.method ?? 'GET'} ${route} ${sent}: ${JSON.stringify(body).slice(0, 200)}`;
}

/** Text that must never be in a page as it is. */
const mark = '<svc-mark';

async function tryPages({ host, source }: Subject): Promise<string | undefined> {
  const pages = host.adminPages(source.manifest.slug);
  if (pages.length === 0) return 'The plugin has no admin pages.';
  const { cookie } = await host.signIn();
  const query = new URLSearchParams(
    Object.fromEntries(['id', 's', 'q', 'search', 'page', 'tab', 'name'].map((name) => [name, `"'>${mark}>`])),
  );
  for (const slug of pages) {
    const read = async (path: string) => {
      const response = await host.fetch(`/admin/${path}`, { headers: { cookie }, redirect: 'manual' });
      return { status: response.status, text: await response.text() };
    };
    const { status } = await read(slug);
    // A page about one object needs its id.
    if (status >= 500 || (status >= 400 && status !== 404)) throw new Error(`The page '${slug}' answered ${status}.`);
    const broken = await read(`${slug}?${query.toString()}`);
    if (broken.status >= 500) throw new Error(`The page '${slug}' answered ${broken.status} to a broken query.`);
    if (broken.text.includes(mark)) throw new Error(`The page '${slug}' shows part of its query without escaping it.`);
  }
  return undefined;
}

/** Violations to name in full. */
const mostShown = 5;

async function tryAccessibility({ host, node, source, browser }: Subject): Promise<string | undefined> {
  const pages = host.adminPages(source.manifest.slug);
  if (pages.length === 0) return 'The plugin has no admin pages.';
  if (browser === null) return node === null ? 'No browser was given.' : 'The pages are those of SQLite.';
  const { findViolations } = await import('./accessibility.ts');
  const paths = pages.map((slug) => `/admin/${slug}`);
  const { cookie } = await host.signIn();
  const found = await findViolations({ browser, url: host.url, cookie, paths });
  if (found.length === 0) return undefined;
  throw new Error(`axe-core finds ${found.length} violations. ${found.slice(0, mostShown).join(' ')}`);
}

/** Everything that could grow, by name. */
async function countAll({ host, source }: Subject): Promise<Record<string, number>> {
  const owner = source.manifest.slug;
  return {
    'hook callbacks': host.hooks
      .describe()
      .flatMap(({ callbacks }) => callbacks)
      .filter((each) => each.owner === owner).length,
    routes: host.rest.describe().length,
    'admin pages': host.adminPages(owner).length,
    settings: host.options.settings().length,
    roles: host.users.roles().length,
    'cron events': (await host.cron.list()).length,
    'timers of the host': host.clock.pending(),
    'timers of Node': process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
    'listeners of the process': process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
  };
}

async function tryRounds(subject: Subject): Promise<string | undefined> {
  const { host, rounds, source } = subject;
  const { slug } = source.manifest;
  const round = async (): Promise<void> => {
    await host.plugins.deactivate(slug);
    await host.plugins.activate(slug);
  };
  await round();
  const before = await countAll(subject);
  for (let done = 0; done < rounds; done += 1) await round();
  const after = await countAll(subject);
  const grown = Object.keys(before).filter(
    // Timers of Node come and go with connections; what leaks has one for each round.
    (name) => (after[name] ?? 0) >= (before[name] ?? 0) + (name === 'timers of Node' ? rounds : 1),
  );
  if (grown.length === 0) return undefined;
  const list = grown.map((name) => `${name} from ${before[name] ?? 0} to ${after[name] ?? 0}`).join(', ');
  throw new Error(`After ${rounds} rounds there are more: ${list}.`);
}

/** Upgrades a site with data: those that valid requests to the routes of the previous version make. */
async function tryUpgrade(subject: Subject): Promise<string | undefined> {
  const { host, node, source, previous, switchTo, before } = subject;
  if (previous === null) return 'No previous version was given.';
  const { slug } = source.manifest;
  await deactivateAndUninstall(subject);
  await switchTo(previous);
  await host.plugins.discover();
  await host.plugins.activate(slug);
  if (node !== null) await follow(node, slug, true);
  const { user } = await host.signIn();
  for (const { route, init } of ownRoutes(subject).flatMap(validRequests))
    if (init.method !== 'DELETE') await host.rest.dispatch(route, { ...init, user });
  const made = await countData(host, before);
  await switchTo(source.directory);
  await followUpgrade(subject);
  const lost = Object.entries(await countData(host, before)).find(([kind, count]) => count < (made[kind] ?? 0));
  if (lost === undefined) return undefined;
  const [kind, count] = lost;
  throw new Error(`The upgrade loses data: the plugin had ${made[kind] ?? 0} ${kind}, and has ${count}.`);
}

/** Waits until this process runs the version of the plugin's folder. */
async function followUpgrade({ host: { plugins }, source: { manifest } }: Subject): Promise<void> {
  const begin = performance.now();
  for (;;) {
    await plugins.sync();
    // Waits for an upgrade that runs. `sync` does not.
    const found = (await plugins.discover()).find(({ slug }) => slug === manifest.slug);
    if (found?.state === 'active' && found.version === manifest.version) return;
    if (found?.failure || performance.now() - begin > followLimit)
      throw new Error(
        `After the upgrade the plugin is ${found?.state ?? 'gone'}. ${found?.failure?.message ?? ''}`.trim(),
      );
    await clock.sleep(50);
  }
}

async function tryUninstall(subject: Subject): Promise<string | undefined> {
  const { host, source, before } = subject;
  for (const time of [1, 2]) {
    if (time === 2) await host.plugins.activate(source.manifest.slug);
    await deactivateAndUninstall(subject);
    const rests = nameRests(before, await readTraces(host));
    if (rests.length > 0) throw new Error(`Uninstallation ${time} of 2 leaves something. ${rests.join(' ')}`);
    await host.plugins.discover();
  }
  return undefined;
}
