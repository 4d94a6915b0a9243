import { existsSync, symlinkSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PluginSource } from '../loader/manifest.ts';
import { stage } from '../loader/install/stage.ts';
import { hostVersion } from '../site.ts';
import type { TestHost } from './test-host.ts';

/** What a plugin adds to a site. */
export interface Traces {
  readonly tables: readonly string[];
  readonly options: readonly string[];
  /** Hooks of cron events, without those that the host alone handles. */
  readonly events: readonly string[];
  /** Names of post meta. */
  readonly meta: readonly string[];
}

/** Options of the host about plugins. */
const ownOptions = /^(?:active_plugins|declined_plugins|plugin_[a-z]+)/;

export async function readTraces({
  database,
  options,
  cron,
  hooks,
}: Pick<TestHost, 'database' | 'options' | 'cron' | 'hooks'>): Promise<Traces> {
  const { knex, dialect } = database;
  const tables = (await (dialect === 'sqlite'
    ? knex('sqlite_master').where({ type: 'table' }).select('name')
    : knex('pg_tables').whereRaw('schemaname = current_schema()').select({ name: 'tablename' }))) as { name: string }[];
  return {
    tables: tables.map(({ name }) => name).filter((name) => !name.startsWith('sqlite_')),
    options: Object.keys(await options.list()).filter((name) => !ownOptions.test(name)),
    events: (await cron.list()).map(({ hook }) => hook).filter((hook) => hooks.owners(hook).join() !== 'host'),
    meta: (await knex('post_meta').distinct('key').pluck('key')) as string[],
  };
}

/** Rows in all tables of the plugin together, and its options. An upgrade may rename either. */
export async function countData(
  host: Pick<TestHost, 'database' | 'options' | 'cron' | 'hooks'>,
  before: Traces,
): Promise<Record<string, number>> {
  const after = await readTraces(host);
  let rows = 0;
  for (const table of added(before.tables, after.tables)) {
    const [row] = await host.database.knex(table).count({ count: '*' });
    rows += Number(row?.['count']);
  }
  return { 'rows in its tables': rows, options: added(before.options, after.options).length };
}

/** What is in `after` and not in `before`, named for people. */
export function nameRests(before: Traces, after: Traces): string[] {
  return [
    ...added(before.tables, after.tables).map((name) => `The table '${name}' is left.`),
    ...added(before.options, after.options).map((name) => `The option '${name}' is left.`),
    ...added(before.events, after.events).map((name) => `The cron event '${name}' is left.`),
    ...added(before.meta, after.meta).map((name) => `The post meta '${name}' is left.`),
  ];
}

export function added(before: readonly string[], after: readonly string[]): string[] {
  return after.filter((name) => !before.includes(name));
}

const shipped = fileURLToPath(new URL('../../plugins', import.meta.url));

/** Links the plugin and those that it requires, from the folder beside it or from the host. Returns the latter. */
export function linkPlugins({ directory, manifest }: PluginSource, linked: string): string[] {
  symlinkSync(directory, join(linked, manifest.slug));
  return Object.keys(manifest.requires).filter((slug) => {
    const found = [dirname(directory), shipped].find((each) => existsSync(join(each, slug)));
    if (found !== undefined) symlinkSync(join(found, slug), join(linked, slug));
    return found !== undefined;
  });
}

/** The folder of a plugin, or that of a zip file, which is unpacked into `folder`. */
export async function unpackPlugin(
  path: string,
  { host, folder }: { readonly host: Pick<TestHost, 'clock' | 'documents'>; readonly folder: string },
): Promise<string> {
  if ((await stat(path)).isDirectory()) return path;
  const { clock, documents } = host;
  const staged = await stage({ path, pluginDir: folder, hostVersion, clock, documents });
  const directory = join(folder, 'previous');
  await staged.moveTo(directory);
  return directory;
}
