import { existsSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PluginSource } from '../loader/manifest.ts';
import type { TestHost } from './test-host.ts';

/** What a plugin adds to a site. */
export interface Traces {
  readonly tables: readonly string[];
  readonly options: readonly string[];
  readonly events: readonly string[];
}

/** Options of the host about plugins. */
const ownOptions = /^(?:active_plugins|declined_plugins|plugin_[a-z]+|_transient)/;

export async function readTraces({
  database,
  options,
  cron,
}: Pick<TestHost, 'database' | 'options' | 'cron'>): Promise<Traces> {
  const { knex, dialect } = database;
  const tables = (await (dialect === 'sqlite'
    ? knex('sqlite_master').where({ type: 'table' }).select('name')
    : knex('pg_tables').whereRaw('schemaname = current_schema()').select({ name: 'tablename' }))) as { name: string }[];
  return {
    tables: tables.map(({ name }) => name).filter((name) => !name.startsWith('sqlite_')),
    options: Object.keys(await options.list()).filter((name) => !ownOptions.test(name)),
    events: (await cron.list()).map(({ hook }) => hook),
  };
}

/** What is in `after` and not in `before`, named for people. */
export function nameRests(before: Traces, after: Traces): string[] {
  return [
    ...added(before.tables, after.tables).map((name) => `the table '${name}'`),
    ...added(before.options, after.options).map((name) => `the option '${name}'`),
    ...added(before.events, after.events).map((name) => `the cron event '${name}'`),
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
