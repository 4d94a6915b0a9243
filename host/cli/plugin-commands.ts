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
  /** Answers whether the folder was removed, too. */
  uninstall(slug: string): Promise<boolean>;
  install(installation: {
    readonly path: string;
    readonly activate: boolean;
  }): Promise<{ readonly slug: string; readonly version: string; readonly replaced: string | null }>;
  health(slug?: string): Promise<readonly { readonly slug: string; readonly results: readonly HealthResult[] }[]>;
}

export interface PluginCommandsDependencies {
  /** Asked when a command runs: the plugins are loaded after the commands are declared. */
  readonly plugins: () => PluginsForCommands;
  /** Where new plugins are made. */
  readonly directory: string;
}

export function pluginCommands({ plugins, directory }: PluginCommandsDependencies): CliCommand[] {
  const slug = { name: 'slug', description: 'Name of its folder' };
  const stateOf = (name: string): string =>
    plugins()
      .list()
      .find((plugin) => plugin.slug === name)?.state ?? 'unknown';
  return [
    {
      name: 'plugin list',
      description: 'Lists the plugins found, with their state and why one failed',
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
      description: 'Activates a plugin, here and in running hosts',
      args: [slug],
      run: async ({ args: [name = ''] }) => {
        await plugins().activate(name);
        return { slug: name, state: stateOf(name) };
      },
    },
    {
      name: 'plugin deactivate',
      description: 'Deactivates a plugin, here and in running hosts',
      args: [slug],
      run: async ({ args: [name = ''] }) => {
        await plugins().deactivate(name);
        return { slug: name, state: stateOf(name) };
      },
    },
    {
      name: 'plugin install',
      description: 'Installs a plugin from a folder or a zip, or a newer version of one that is installed',
      args: [{ name: 'path', description: 'A folder or a zip with a plugin.json' }],
      flags: { activate: { type: 'boolean', description: 'Activate it as well' } },
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
      description: 'Removes an inactive plugin with its data, and its folder unless it comes with the host',
      args: [slug],
      run: async ({ args: [name = ''] }) => ({
        slug: name,
        folder: (await plugins().uninstall(name)) ? 'removed' : 'kept',
      }),
    },
    {
      name: 'plugin health',
      description: 'Asks the running plugins how they are',
      args: [{ ...slug, optional: true }],
      run: async ({ args: [name] }) =>
        (await plugins().health(name)).flatMap(({ slug: each, results }) =>
          results.map((result) => ({ slug: each, ...result })),
        ),
    },
    {
      name: 'plugin new',
      description: 'Makes the folder of a new plugin: a manifest and an entry with a filter, an action and a route',
      args: [slug],
      run: async ({ args: [name = ''] }) => ({ slug: name, folder: await makePlugin(directory, name) }),
    },
  ];
}

async function makePlugin(directory: string, slug: string): Promise<string> {
  if (!/^[a-z][a-z0-9-]*$/.test(slug))
    throw new Error(`'${slug}' cannot name a plugin; use lower-case letters, digits and dashes, a letter first.`);
  const folder = join(directory, slug);
  try {
    await mkdir(directory, { recursive: true });
    await mkdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new Error(`There is a folder ${folder} already.`, { cause: error });
    throw error;
  }
  const manifest = {
    slug,
    name: slug,
    version: '0.1.0',
    description: 'What it does, in one sentence.',
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
    host.hooks.addAction('plugins_loaded', () => host.log.info('Ready.'));
    host.rest.registerRoute('${slug}/v1', '/greet/{name}', {
      args: { name: { type: 'string', minLength: 1 } },
      permission: () => true,
      handler: ({ params }) => ({ greeting: host.hooks.applyFilters('${slug}_greeting', \`Hello, \${params.name}!\`) }),
    });
  },
};
`;
