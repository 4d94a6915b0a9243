import { randomUUID } from 'node:crypto';
import { existsSync, symlinkSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { errorText } from '#plugin-api';
import { root } from '../build/files.js';
import type { CompilePlugin } from '../loader/loader.ts';
import type { PluginSource } from '../loader/manifest.ts';
import type { TestHost } from '../testing/test-host.ts';
import type { Finding } from './check.ts';

/** What a plugin adds to a site. */
interface Traces {
  readonly tables: readonly string[];
  readonly options: readonly string[];
  readonly events: readonly string[];
}

/**
 * Runs the plugin in a host in memory: what it registers and how it is named, and what it leaves after it was uninstalled.
 *
 * @param known findings about its sources, which are not repeated.
 */
export async function checkRun(
  source: PluginSource,
  compilePlugin: CompilePlugin | undefined,
  known: readonly Finding[],
): Promise<Finding[]> {
  const { createTestHost } = await import('../testing/index.ts');
  const folder = join(tmpdir(), `svc-check-${randomUUID()}`);
  // Plugins are installed into the first folder and deleted from it. The other one has links.
  const [empty, linked] = [join(folder, 'empty'), join(folder, 'linked')];
  await mkdir(empty, { recursive: true });
  await mkdir(linked);
  const required = linkRequired(source, linked);
  const host = await createTestHost({
    plugins: 'found',
    pluginDirs: [empty, linked],
    ...(compilePlugin && { compilePlugin }),
  });
  try {
    for (const slug of required) await host.plugins.activate(slug);
    return await observe(host, source, known);
  } finally {
    await host.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Links the plugin and those that it requires, from the folder beside it or from the host. Returns the latter. */
function linkRequired(source: PluginSource, linked: string): string[] {
  symlinkSync(source.directory, join(linked, source.manifest.slug));
  return Object.keys(source.manifest.requires).filter((slug) => {
    const found = [dirname(source.directory), join(root, 'plugins')].find((each) => existsSync(join(each, slug)));
    if (found !== undefined) symlinkSync(join(found, slug), join(linked, slug));
    return found !== undefined;
  });
}

async function observe(host: TestHost, source: PluginSource, known: readonly Finding[]): Promise<Finding[]> {
  const { slug } = source.manifest;
  const prefix = slug.replaceAll('-', '_');
  const findings: Finding[] = [];
  const add = (rule: string, message: string): void => void findings.push({ level: 'error', rule, at: '', message });
  const requireOwn = (kind: string, names: readonly string[]): void => {
    for (const name of names)
      if (
        ![`${prefix}_`, `${slug}_`, `${slug}-`].some((start) => name.startsWith(start)) &&
        name !== prefix &&
        name !== slug
      )
        add('prefix', `Start the name of the ${kind} '${name}' with '${prefix}_', so that no other plugin has it.`);
  };
  const before = { ...(await readTraces(host)), ...(await readRegistered(host)) };
  try {
    await host.plugins.activate(slug);
    const after = { ...(await readTraces(host)), ...(await readRegistered(host)) };
    requireOwn('table', added(before.tables, after.tables));
    requireOwn('option', added(before.options, after.options));
    requireOwn('setting', added(before.settings, after.settings));
    requireOwn('metric', added(before.metrics, after.metrics));
    requireOwn('cron event', added(before.events, after.events));
    if (!known.some(({ rule }) => rule === 'permission'))
      for (const route of added(before.openRoutes, after.openRoutes))
        add(
          'permission',
          `The route ${route} is open to everyone. Add permission, with () => true if that is what you want.`,
        );
    await host.plugins.deactivate(slug);
    const isLasting = added(before.tables, after.tables).length + added(before.options, after.options).length > 0;
    const failure = await host.plugins.uninstall(slug).then(() => null, errorText);
    if (failure !== null) add('uninstall', failure);
    const left = await readTraces(host);
    const rests = [
      ...added(before.tables, left.tables).map((name) => `the table '${name}'`),
      ...added(before.options, left.options).map((name) => `the option '${name}'`),
      ...added(before.events, left.events).map((name) => `the cron event '${name}'`),
    ];
    if (isLasting || rests.length > 0) findings.push(...reportRests(rests));
  } catch (error) {
    add('start', errorText(error));
  }
  return findings;
}

function reportRests(rests: readonly string[]): Finding[] {
  return rests.map((name) => ({
    ...{ level: 'error', rule: 'uninstall', at: '' },
    message: `Uninstalling leaves ${name}. Delete it in the function uninstall.`,
  }));
}

function added(before: readonly string[], after: readonly string[]): string[] {
  return after.filter((name) => !before.includes(name));
}

/** Options of the host about plugins. */
const ownOptions = /^(?:active_plugins|declined_plugins|plugin_[a-z]+|_transient)/;

async function readTraces({ database, options, cron }: TestHost): Promise<Traces> {
  const tables = (await database.knex('sqlite_master').where({ type: 'table' }).select('name')) as { name: string }[];
  return {
    tables: tables.map(({ name }) => name).filter((name) => !name.startsWith('sqlite_')),
    options: Object.keys(await options.list()).filter((name) => !ownOptions.test(name)),
    events: (await cron.list()).map(({ hook }) => hook),
  };
}

async function readRegistered({
  rest,
  options,
  fetch,
}: TestHost): Promise<Record<'openRoutes' | 'settings' | 'metrics', string[]>> {
  const metrics = await (await fetch('/metrics')).text();
  return {
    openRoutes: rest
      .describe()
      // The host adds an index and an OpenAPI document to each namespace.
      .filter(({ namespace, route }) => ![`/${namespace}`, `/${namespace}/openapi.json`].includes(route))
      .filter(({ endpoints }) => endpoints.some((each) => !each.hasPermission && !each.hasAuthentication))
      .map(({ route }) => route),
    settings: options.settings().map(({ name }) => name),
    metrics: [...metrics.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name),
  };
}
