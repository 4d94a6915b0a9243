import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CliCommand } from '#plugin-api';

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
}

export interface PluginCommandsDependencies {
  /** Asked when a command runs: the plugins are loaded after the commands are declared. */
  readonly plugins: () => PluginsForCommands;
  /** Where new plugins are made. */
  readonly directory: string;
}

export function pluginCommands({ plugins, directory }: PluginCommandsDependencies): CliCommand[] {
  const slug = { name: 'slug', description: 'Name of its folder' };
  const stateOf = (name: string): string => plugins().list().find((plugin) => plugin.slug === name)?.state ?? 'unknown';
  return [
    {
      name: 'plugin list',
      description: 'Lists the plugins found, with their state and why one failed',
      run: () =>
        Promise.resolve(
          plugins().list().map(({ slug: name, version, state, failure }) => ({ slug: name, version, state, failure: failure ? `${failure.stage}: ${failure.message}` : '' })),
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
      name: 'plugin new',
      description: 'Makes the folder of a new plugin: a manifest and an entry with a filter, an action and a route',
      args: [slug],
      run: async ({ args: [name = ''] }) => ({ slug: name, folder: await makePlugin(directory, name) }),
    },
  ];
}

async function makePlugin(directory: string, slug: string): Promise<string> {
  if (!/^[a-z][a-z0-9-]*$/.test(slug)) throw new Error(`'${slug}' cannot name a plugin; use lower-case letters, digits and dashes, a letter first.`);
  const folder = join(directory, slug);
  try {
    await mkdir(directory, { recursive: true });
    await mkdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw new Error(`There is a folder ${folder} already.`, { cause: error });
    throw error;
  }
  const manifest = { slug, name: slug, version: '0.1.0', description: 'What it does, in one sentence.', main: 'index.js', host: '^1', requires: {} };
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
