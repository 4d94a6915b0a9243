import { randomUUID } from 'node:crypto';
import { mkdir, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { errorText, formatCount } from '#plugin-api';
import { readManifest } from '../loader/manifest.ts';
import { withTimeout } from '../loader/stages.ts';
import { hostVersion } from '../site.ts';
import { outageText } from './outages.ts';
import { linkPlugins, readTraces, unpackPlugin } from './plugin-traces.ts';
import { tryAbilities, tryCommands, tryShortcodes } from './points/calls.ts';
import { recordRuns, tryFilters } from './points/filters.ts';
import { tryNodes, tryRounds, tryUninstall, tryUpgrade } from './points/lifecycle.ts';
import { tryAccessibility, tryPages } from './points/pages.ts';
import { tryFailingDatabase, tryRoutes } from './points/requests.ts';
import { clock, type Point, type Subject } from './points/subject.ts';
import { createTestHost, type TestHost } from './test-host.ts';

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
  /** Gets a sentence at the begin of each point. */
  readonly progress?: (text: string) => void;
}

export interface ConformancePoint {
  /** Such as `rounds`. */
  readonly point: string;
  readonly database: 'SQLite' | 'PostgreSQL';
  readonly outcome: 'passed' | 'failed' | 'left out';
  /** What failed, or why it was left out. Empty if it passed. */
  readonly detail: string;
}

/** In this order: each leaves the plugin active, the last one inactive. A returned text says why a point was left out. */
const points: Readonly<Record<string, Point>> = {
  activate: async ({ host, source }) => host.plugins.activate(source.manifest.slug).then(() => undefined),
  nodes: tryNodes,
  routes: tryRoutes,
  abilities: tryAbilities,
  commands: tryCommands,
  shortcodes: tryShortcodes,
  database: tryFailingDatabase,
  pages: tryPages,
  accessibility: tryAccessibility,
  filters: tryFilters,
  rounds: tryRounds,
  upgrade: tryUpgrade,
  uninstall: tryUninstall,
};

/**
 * Tries what every plugin should stand: activation, two nodes, broken requests to all of its routes, its abilities, commands and
 * shortcodes, a failing database, its admin pages and their accessibility, its filters, rounds without growth, an upgrade, and
 * an uninstallation that leaves nothing. It runs the plugin's code in hosts in memory, so try only plugins that you trust.
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
  { plugin, rounds = 20, timeLimit = 300, previous, postgres, browser, progress = () => undefined }: ConformanceInit,
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
    const { runs } = recordRuns(host);
    const subject: Subject = {
      runs,
      ...{ host, source, rounds, browser: browser ?? null },
      node: database === 'PostgreSQL' ? await open() : null,
      previous: previous === undefined ? null : await unpackPlugin(await realpath(resolve(previous)), { host, folder }),
      before: await readTraces(host),
      beforeRoutes: host.rest.describe().map(({ route }) => route),
      beforeCommands: (await host.commands()).map(({ name }) => name),
      beforeShortcodes: host.shortcodes(),
      switchTo: async (directory) => {
        await rm(join(linked, slug));
        await symlink(directory, join(linked, slug));
      },
    };
    return await tryPoints(database, subject, {
      timeLimit,
      begin: (point) => progress(`Trying ${point} on ${database} …`),
    });
  } finally {
    for (const host of hosts.reverse()) await host.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function tryPoints(
  database: ConformancePoint['database'],
  subject: Subject,
  { timeLimit, begin: note }: { readonly timeLimit: number; readonly begin: (point: string) => void },
): Promise<ConformancePoint[]> {
  const found: ConformancePoint[] = [];
  const tooLong = `It did not end within ${formatCount(timeLimit, 'second')}. The points after it were not tried.`;
  for (const [point, run] of Object.entries(points)) {
    note(point);
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
    const { level, plugin, event } = JSON.parse(each) as Readonly<Record<string, unknown>>;
    // A job may fail, such as without its settings; it is tried again.
    return level === 'error' && plugin === slug && event !== 'job_failed' && !each.includes(outageText);
  });
  return line === undefined ? null : line.slice(0, 500);
}
