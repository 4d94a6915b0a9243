import type { CliCommand } from '#plugin-api';
import type { Core } from '../core.ts';
import type { Web } from '../web.ts';
import type { PluginsForCommands } from './plugin-commands.ts';

export interface HostCommandsDependencies {
  readonly core: Core;
  readonly accounts: Web['accounts'];
  readonly plugins: () => PluginsForCommands;
  /** Starts the server and background work of this process. */
  readonly start: () => Promise<{ readonly url: string; readonly setupLink: string | null }>;
}

type Loaders = Readonly<Record<string, () => Promise<readonly CliCommand[]>>>;

/**
 * The commands of the host by their first word, each loaded alone. Plugins add theirs when they register.
 *
 * @param first the first word of a command line. Without it, or if no command begins so: all.
 */
export async function hostCommands(
  dependencies: HostCommandsDependencies,
  first?: string,
): Promise<readonly CliCommand[]> {
  const loaders = { ...siteLoaders(dependencies), ...contentLoaders(dependencies) };
  const named = first !== undefined && Object.hasOwn(loaders, first) ? loaders[first] : undefined;
  if (named !== undefined) return named();
  return (await Promise.all(Object.values(loaders).map((load) => load()))).flat();
}

function siteLoaders({ core, accounts, plugins, ...dev }: HostCommandsDependencies): Loaders {
  return {
    // `new`, `start`
    site: async () => (await import('./site-commands.ts')).siteCommands,
    option: async () => (await import('./option-commands.ts')).optionCommands(core.options),
    plugin: async () => [
      ...(await import('./plugin-commands.ts')).pluginCommands(plugins),
      ...(await import('./authoring-commands.ts')).authoringCommands({
        ...{ core, plugins, directory: core.config.pluginDirs[0] ?? 'plugins', ...dev },
      }),
    ],
    user: async () => {
      const { createSessions } = await import('../users/sessions.ts');
      return [
        ...(await import('./user-commands.ts')).userCommands({ ...core, sessions: createSessions(core) }),
        ...(await import('./invitation-commands.ts')).invitationCommands({
          ...{ users: core.users, mail: core.mail, ...accounts },
        }),
      ];
    },
  };
}

function contentLoaders({ core, plugins }: HostCommandsDependencies): Loaders {
  const { content, users } = core;
  return {
    // `post`, `media`
    content: async () =>
      (await import('../content/content-commands.ts')).contentCommands({ parts: content.parts, users }),
    ability: async () => (await import('./ability-commands.ts')).abilityCommands(core),
    cron: async () => (await import('./cron-commands.ts')).cronCommands(core.cron),
    jobs: async () => (await import('./job-commands.ts')).jobCommands(core.jobs),
    db: async () => (await import('./database-commands.ts')).databaseCommands(core),
    secrets: async () => (await import('./secret-commands.ts')).secretCommands(core),
    'security-log': async () => (await import('./security-log-commands.ts')).securityLogCommands(core.securityLog),
    // `config`, `doctor`
    checks: async () => (await import('./doctor-command.ts')).doctorCommands(core, plugins),
  };
}
