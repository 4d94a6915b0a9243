import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { CliCommand, HealthResult } from '#plugin-api';
import { reserved } from '../loader/manifest.ts';

interface PluginSummary {
  readonly slug: string;
  readonly version: string;
  readonly state: string;
  readonly failure?: { readonly stage: string; readonly message: string } | null;
  /** Of a running plugin. */
  readonly lastError?: { readonly stage: string; readonly message: string } | null;
  readonly warnings?: readonly string[];
  /** Shipped with the host: uninstalling keeps its folder. */
  readonly shipped?: boolean;
  /** Absolute path; null if the folder is missing or its manifest is invalid. */
  readonly directory?: string | null;
}

export interface PluginsForCommands {
  list(): readonly PluginSummary[];
  /** Searches the plugin folders again. */
  discover(): Promise<readonly PluginSummary[]>;
  activate(slug: string): Promise<unknown>;
  deactivate(slug: string): Promise<unknown>;
  uninstall(
    slug: string,
    init?: { readonly deleteFiles?: boolean },
  ): Promise<{ readonly folderRemoved: boolean; readonly remainingMigrations: readonly string[] }>;
  install(installation: {
    readonly path: string;
    readonly activate: boolean;
  }): Promise<{ readonly slug: string; readonly version: string; readonly replaced: string | null }>;
  health(slug?: string): Promise<readonly { readonly slug: string; readonly results: readonly HealthResult[] }[]>;
}

export interface PluginCommandsDependencies {
  /** Called when a command runs, because plugins load after the commands are declared. */
  readonly plugins: () => PluginsForCommands;
  /** Folder for new plugins. */
  readonly directory: string;
}

export function pluginCommands({ plugins, directory }: PluginCommandsDependencies): CliCommand[] {
  const slug = { name: 'slug', description: 'Name of the plugin folder.' };
  const stateOf = (name: string): string =>
    plugins()
      .list()
      .find((plugin) => plugin.slug === name)?.state ?? 'unknown';
  return [
    {
      name: 'plugin list',
      description: 'Lists plugins with their state, the reason of a failure, the last error and warnings.',
      run: () =>
        Promise.resolve(
          plugins()
            .list()
            .map(({ slug: name, version, state, failure, lastError, warnings = [] }) => ({
              slug: name,
              version,
              state,
              failure: failure ? `${failure.stage}: ${failure.message}` : '',
              last_error: lastError ? `${lastError.stage}: ${lastError.message}` : '',
              warnings: warnings.join(' '),
            })),
        ),
    },
    {
      name: 'plugin activate',
      description: 'Activates a plugin, also in running hosts.',
      args: [slug],
      run: async ({ args: [name = ''] }) => {
        await plugins().activate(name);
        return { slug: name, state: stateOf(name) };
      },
    },
    {
      name: 'plugin deactivate',
      description: 'Deactivates a plugin, also in running hosts.',
      args: [slug],
      run: async ({ args: [name = ''] }) => {
        await plugins().deactivate(name);
        return { slug: name, state: stateOf(name) };
      },
    },
    {
      name: 'plugin install',
      description: 'Installs or updates a plugin from a folder or a zip file.',
      args: [{ name: 'path', description: 'A folder or a zip file with a plugin.json.' }],
      flags: { activate: { type: 'boolean', description: 'Activate it after installation.' } },
      run: async ({ args: [path = ''], flags }) => {
        const {
          slug: name,
          version,
          replaced,
        } = await plugins().install({ path: resolve(path), activate: flags['activate'] === true });
        return { slug: name, version, replaced: replaced ?? '', state: stateOf(name) };
      },
    },
    {
      name: 'plugin uninstall',
      description: "Deletes an inactive plugin's data, and its folder if 'plugin install' created it.",
      args: [slug],
      flags: {
        'delete-files': {
          type: 'boolean',
          description: "Also delete a folder that 'plugin install' did not create, or that is a Git working copy.",
        },
      },
      run: async ({ args: [name = ''], flags }) => uninstallPlugin(plugins(), name, flags['delete-files'] === true),
    },
    {
      name: 'plugin health',
      description: 'Runs the health checks of running plugins.',
      args: [{ ...slug, optional: true }],
      run: async ({ args: [name] }) =>
        (await plugins().health(name)).flatMap(({ slug: each, results }) =>
          results.map((result) => ({ slug: each, ...result })),
        ),
    },
    {
      name: 'plugin new',
      description: 'Creates a plugin folder: a manifest and an entry module with a filter, an action and a route.',
      args: [slug],
      run: async ({ args: [name = ''] }) => ({
        slug: name,
        folder: await createPluginFolder(directory, name, await plugins().discover()),
      }),
    },
  ];
}

async function uninstallPlugin(
  plugins: PluginsForCommands,
  slug: string,
  deleteFiles: boolean,
): Promise<Record<string, string>> {
  const { folderRemoved, remainingMigrations } = await plugins.uninstall(slug, { deleteFiles });
  const tables: Record<string, string> =
    remainingMigrations.length === 0
      ? {}
      : {
          tables:
            `Those of ${remainingMigrations.join(', ')} stay, because the plugin has no 'uninstall'. ` +
            'A new installation uses them.',
        };
  if (folderRemoved) return { slug, folder: 'removed', ...tables };
  const folder = plugins.list().find((plugin) => plugin.slug === slug);
  if (deleteFiles || folder?.shipped || !folder?.directory) return { slug, folder: 'kept', ...tables };
  return {
    slug,
    folder: 'kept',
    ...tables,
    next:
      `'plugin install' did not create ${folder.directory}, or it is a Git working copy. ` +
      `To delete it too, run: plugin uninstall ${slug} --delete-files`,
  };
}

/** @throws Error if the name is invalid or taken: a second plugin of one name would replace the first one. */
async function createPluginFolder(directory: string, slug: string, plugins: readonly PluginSummary[]): Promise<string> {
  if (!/^[a-z][a-z0-9-]*$/.test(slug))
    throw new Error(
      `'${slug}' is not a valid plugin name; use lowercase letters, digits and hyphens, starting with a letter.`,
    );
  if (reserved.includes(slug)) throw new Error(`'${slug}' is reserved for the host; choose another name.`);
  const folder = join(directory, slug);
  const taken = plugins.find((plugin) => plugin.slug === slug);
  if (taken && taken.directory !== folder)
    throw new Error(
      `The plugin '${slug}' already exists${taken.directory ? ` in ${taken.directory}` : ''}; choose another name.`,
    );
  try {
    await mkdir(directory, { recursive: true });
    await mkdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new Error(`The folder ${folder} already exists.`, { cause: error });
    throw error;
  }
  const manifest = {
    slug,
    name: slug,
    version: '0.1.0',
    description: 'Describe the plugin in one sentence.',
    main: 'index.js',
    host: '^1',
    requires: {},
  };
  await writeFile(join(folder, 'plugin.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  await writeFile(join(folder, 'index.js'), entry(slug));
  return folder;
}

const entry = (slug: string): string => `export default {
  register(host) {
    host.hooks.addFilter('${slug}_greeting', (greeting) => greeting);
    host.hooks.addAction('plugins_loaded', () => host.log.info('Plugin ready', { event: 'plugin_ready' }));
    host.rest.registerRoute('${slug}/v1', '/greet/{name}', {
      args: { name: { type: 'string', minLength: 1 } },
      permission: () => true,
      handler: ({ params }) => ({ greeting: host.hooks.applyFilters('${slug}_greeting', \`Hello, \${params.name}!\`) }),
    });
  },
};
`;
