import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { formatCount, type CliCommand } from '#plugin-api';
import { listSources, root } from '../sources/files.ts';
import type { Core } from '../core.ts';
import type { PluginsForCommands } from './plugin-commands.ts';
import { textPrinter } from './text-printer.ts';

export interface AuthoringCommandsDependencies {
  readonly core: Pick<Core, 'clock' | 'config' | 'documents' | 'http' | 'pluginFolders'>;
  readonly plugins: () => PluginsForCommands;
  /** Folder for new plugins. */
  readonly directory: string;
  /** Starts the server and background work of this process. */
  readonly start: () => Promise<{ readonly url: string; readonly setupLink: string | null }>;
}

const folderArgument = { name: 'folder', description: 'Folder of the plugin, or its slug.' };

/** Commands for authors of plugins. Their code loads when they run. */
export function authoringCommands(dependencies: AuthoringCommandsDependencies): CliCommand[] {
  const { core, plugins, directory } = dependencies;
  const find = (given: string): Promise<string> => findFolder(given, plugins());
  return [
    {
      name: 'plugin new',
      description: 'Creates a plugin to start from: settings page, routes, table, job, event and test.',
      args: [{ name: 'slug', description: 'Name of the plugin folder.' }],
      flags: {
        ts: { type: 'boolean', description: 'Write TypeScript. Default.' },
        js: { type: 'boolean', description: 'Write JavaScript.' },
        name: { type: 'string', description: 'Name for people. Default: the slug as words.' },
      },
      run: async ({ args: [slug = ''], flags }) => {
        const { createPlugin } = await import('../authoring/new-plugin.ts');
        const created = await createPlugin({
          ...{ slug, directory, language: flags['js'] === true ? 'js' : 'ts', taken: await plugins().discover() },
          ...(typeof flags['name'] === 'string' && { name: flags['name'] }),
        });
        return { slug, folder: created, next: `npm run cli -- plugin dev ${created}` };
      },
    },
    {
      name: 'plugin check',
      description: 'Checks a plugin: manifest, types, permissions, escaping, names, size, licenses and uninstallation.',
      args: [folderArgument],
      result: ['level', 'message'],
      ifEmpty: 'The check found no errors and no warnings.',
      run: async ({ args: [given = ''], progress }) => {
        const { checkPlugin } = await import('../authoring/check.ts');
        const findings = await checkPlugin(await find(given), core.pluginFolders, progress);
        const errors = findings.filter(({ level }) => level === 'error').length;
        if (errors === 0) return findings;
        throw Object.assign(new Error(`The check found ${formatCount(errors, 'error')}.`), {
          result: findings,
        });
      },
    },
    testCommand(find),
    {
      name: 'plugin pack',
      description: 'Writes the zip file of a plugin for `plugin install`, without what .distignore lists.',
      args: [folderArgument],
      flags: {
        output: { type: 'string', description: 'Folder for the zip file. Default: the working folder.' },
        key: { type: 'string', description: 'Private ed25519 key (PEM file) that signs it.' },
      },
      run: async ({ args: [given = ''], flags }) => {
        const { packPlugin } = await import('../authoring/pack.ts');
        const key = flags['key'];
        return packPlugin({
          ...{ folder: await find(given), clock: core.clock, documents: core.documents },
          output: resolve(typeof flags['output'] === 'string' ? flags['output'] : '.'),
          key: typeof key === 'string' ? resolve(key) : undefined,
        });
      },
    },
    {
      name: 'plugin update',
      description: 'Updates an installed plugin from a zip file or an https address, and checks its signature.',
      args: [{ name: 'zip', description: 'A zip file or an https address. Its signature has the same name and .sig.' }],
      run: async ({ args: [from = ''] }) => {
        const { updatePlugin } = await import('../authoring/update.ts');
        const { slug, version, replaced } = await updatePlugin({
          ...{ from, http: core.http },
          install: (path) => plugins().install({ path, activate: false, updatesOnly: true }),
        });
        return { slug, version, replaced };
      },
    },
    {
      name: 'plugin dev',
      description: 'Runs a site with a plugin from its folder, and reloads the plugin when a file changes.',
      args: [folderArgument],
      flags: { 'no-types': { type: 'boolean', description: 'Do not check types.' } },
      run: async ({ args: [given = ''], flags }) => {
        const { develop } = await import('../authoring/dev.ts');
        await develop({
          ...{ folder: await find(given), plugins: plugins(), clock: core.clock, start: dependencies.start },
          checksTypes: flags['no-types'] !== true,
          print: await textPrinter(core.config),
        });
      },
    },
  ];
}

function testCommand(find: (given: string) => Promise<string>): CliCommand {
  return {
    name: 'plugin test',
    description: 'Runs the tests of a plugin, the files *.test.ts and *.test.js in its folder; or --conformance.',
    args: [folderArgument],
    result: ['outcome', 'detail'],
    flags: {
      conformance: {
        type: 'boolean',
        description: 'Try instead what every plugin should stand: rounds, broken requests, pages, uninstallation.',
      },
      'time-limit': {
        ...{ type: 'integer', minimum: 1, maximum: 86_400, default: 300 },
        description: 'Seconds for each file of tests, or for each point of --conformance.',
      },
      rounds: { type: 'integer', minimum: 1, maximum: 10_000, default: 20, description: 'Rounds of activation.' },
      previous: { type: 'string', description: 'Folder or zip file of the previous version, to upgrade from.' },
      postgres: { type: 'string', description: 'postgres:// address of an empty database, for it and two nodes.' },
      browser: { type: 'string', description: 'Path of Chromium, to look at the pages with axe-core.' },
    },
    run: async ({ args: [given = ''], flags, progress }) => {
      const plugin = await find(given);
      const timeLimit = Number(flags['time-limit']);
      if (flags['conformance'] !== true) return runTests(plugin, timeLimit);
      const { runConformance } = await import('../authoring/check-run.ts');
      const text = (name: string) => (typeof flags[name] === 'string' ? { [name]: flags[name] } : {});
      const found = await runConformance({
        plugin,
        timeLimit,
        ...(progress && { progress }),
        rounds: Number(flags['rounds']),
        ...text('previous'),
        ...text('postgres'),
        ...text('browser'),
      });
      const failed = found.filter(({ outcome }) => outcome === 'failed').length;
      if (failed === 0) return found;
      throw Object.assign(new Error(`${failed} of ${found.length} points failed.`), { result: found });
    },
  };
}

/** @throws Error if it is neither a folder nor the slug of a plugin. */
async function findFolder(given: string, plugins: PluginsForCommands): Promise<string> {
  const path = resolve(given);
  if (existsSync(join(path, 'plugin.json'))) return realpath(path);
  const found = (await plugins.discover()).find(({ slug }) => slug === given)?.directory;
  if (!found) throw new Error(`'${given}' is neither a folder with a plugin.json nor the slug of a plugin.`);
  return found;
}

/** Seconds after the limit at which a file that blocks its process is ended from outside. */
const blockedAfter = 10;

async function runTests(folder: string, timeLimit: number): Promise<void> {
  const { files } = listSources(folder, (file) => /\.test\.[mc]?[jt]s$/.test(file));
  if (files.length === 0) throw new Error(`There are no tests in ${folder}; name them like tests/items.test.ts.`);
  const register = pathToFileURL(join(root, 'host', 'testing', 'register.js'));
  register.searchParams.set('seconds', String(timeLimit));
  const child = spawn(
    process.execPath,
    [
      '--import',
      register.href,
      '--test',
      '--test-reporter=spec',
      `--test-timeout=${(timeLimit + blockedAfter) * 1_000}`,
      ...files,
    ],
    { cwd: folder, stdio: 'inherit' },
  );
  const code = await new Promise<number | null>((done) => child.once('close', done));
  if (code !== 0) throw new Error('Tests failed.');
}
