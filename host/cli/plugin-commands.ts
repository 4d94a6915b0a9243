import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { CliCommand, HealthResult } from '#plugin-api';

interface PluginSummary {
  readonly slug: string;
  readonly version: string;
  readonly state: string;
  readonly failure?: { readonly stage: string; readonly message: string } | null;
}

export interface PluginsForCommands {
  list(): readonly PluginSummary[];
  activate(slug: string): Promise<unknown>;
  deactivate(slug: string): Promise<unknown>;
  /** Returns whether the folder was removed as well. */
  uninstall(slug: string): Promise<boolean>;
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
      description: 'Lists plugins with their state and the reason of a failure.',
      run: () =>
        Promise.resolve(
          plugins()
            .list()
            .map(({ slug: name, version, state, failure }) => ({
              slug: name,
              version,
              state,
              failure: failure ? `${failure.stage}: ${failure.message}` : '',
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
      description: 'Removes an inactive plugin and its data, and its folder unless it ships with the host.',
      args: [slug],
      run: async ({ args: [name = ''] }) => ({
        slug: name,
        folder: (await plugins().uninstall(name)) ? 'removed' : 'kept',
      }),
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
      run: async ({ args: [name = ''] }) => ({ slug: name, folder: await createPluginFolder(directory, name) }),
    },
  ];
}

async function createPluginFolder(directory: string, slug: string): Promise<string> {
  if (!/^[a-z][a-z0-9-]*$/.test(slug))
    throw new Error(
      `'${slug}' is not a valid plugin name; use lowercase letters, digits and hyphens, starting with a letter.`,
    );
  const folder = join(directory, slug);
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
