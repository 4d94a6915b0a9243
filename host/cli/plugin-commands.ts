import { resolve } from 'node:path';
import { endSentence, type CliCommand, type HealthResult } from '#plugin-api';

export interface PluginSummary {
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
    init?: { readonly deleteFiles?: boolean; readonly force?: boolean },
  ): Promise<{
    readonly folderRemoved: boolean;
    readonly remainingMigrations: readonly string[];
    readonly failure?: string;
  }>;
  install(installation: {
    readonly path: string;
    readonly activate: boolean;
    readonly updatesOnly?: boolean;
  }): Promise<{ readonly slug: string; readonly version: string; readonly replaced: string | null }>;
  /** See the loader. */
  develop(directory: string): Promise<string>;
  health(slug?: string): Promise<readonly { readonly slug: string; readonly results: readonly HealthResult[] }[]>;
}

/** @param plugins called when a command runs, because plugins load after the commands are declared. */
export function pluginCommands(plugins: () => PluginsForCommands): CliCommand[] {
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
        force: {
          type: 'boolean',
          description: "Go on if the plugin's function 'uninstall' fails: what it would have deleted stays.",
        },
      },
      run: async ({ args: [name = ''], flags }) =>
        uninstallPlugin(plugins(), name, {
          deleteFiles: flags['delete-files'] === true,
          force: flags['force'] === true,
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
  ];
}

async function uninstallPlugin(
  plugins: PluginsForCommands,
  slug: string,
  { deleteFiles, force }: { readonly deleteFiles: boolean; readonly force: boolean },
): Promise<Record<string, string>> {
  const { folderRemoved, remainingMigrations, failure } = await plugins.uninstall(slug, { deleteFiles, force });
  const data: Record<string, string> =
    failure !== undefined
      ? { failed: `${endSentence(failure)} What its 'uninstall' would have deleted stays.` }
      : remainingMigrations.length === 0
        ? {}
        : {
            data:
              `What ${remainingMigrations.join(', ')} made in the database stays, because the plugin has no 'uninstall'. ` +
              'A new installation uses it.',
          };
  if (folderRemoved) return { slug, folder: 'removed', ...data };
  const folder = plugins.list().find((plugin) => plugin.slug === slug);
  if (deleteFiles || folder?.shipped || !folder?.directory) return { slug, folder: 'kept', ...data };
  return {
    slug,
    folder: 'kept',
    ...data,
    next:
      `'plugin install' did not create ${folder.directory}, or it is a Git working copy. ` +
      `To delete it too, run: plugin uninstall ${slug} --delete-files`,
  };
}
