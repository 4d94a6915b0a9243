import type { CliCommand } from '#plugin-api';
import type { Provider } from '../providers/provider.ts';
import { configuredCommands } from './configured-commands.ts';
import type { SettingsContext } from './settings.ts';

const idArgument = { name: 'id', description: 'Id of the provider, for example openai.' };

/**
 * `svc provider set|test|models|list`.
 *
 * @param registered the providers at registration; their settings define the flags.
 */
export function providerCommands(context: SettingsContext, registered: readonly Provider[]): CliCommand[] {
  const { set, list } = configuredCommands({
    command: 'svc provider',
    descriptions: {
      set: 'Change the settings of a provider. An empty value removes a setting. Other settings stay unchanged.',
      list: 'List the providers and whether they are configured.',
    },
    idArgument,
    registered,
    common: ['api_key', 'base_url', 'model', 'embedding_model', 'image_model', 'video_model', 'api_version'],
    example: '--api-key-stdin',
    settings: context.settings.providers,
    all: () => context.providers.all(),
    find: (id) => find(context, id),
  });
  return [
    set,
    {
      name: 'svc provider test',
      description: 'Make a real call to a provider.',
      args: [idArgument],
      run: async ({ args: [id = ''] }) => {
        const provider = await find(context, id);
        const result = await context.tester.test(provider.id);
        if (!result.ok) throw new Error(result.message);
        return { id, works: true, models: result.models.length, milliseconds: result.milliseconds };
      },
    },
    {
      name: 'svc provider models',
      description: 'List the models that a provider had at its last test or sync, with their kinds if known.',
      args: [idArgument],
      flags: { sync: { type: 'boolean', description: 'Load the list from the provider now.' } },
      run: async ({ args: [id = ''], flags }) => {
        const provider = await find(context, id);
        const result = flags['sync'] === true ? await context.tester.test(provider.id) : null;
        if (result?.ok === false) throw new Error(result.message);
        const { models, syncedAt } = await context.tester.models(provider.id);
        const synced = syncedAt === null ? '' : new Date(syncedAt).toISOString();
        return models.map(({ id: model, kinds }) => ({ model, kinds: kinds?.join(', ') ?? '', synced }));
      },
    },
    list,
  ];
}

async function find(context: SettingsContext, id: string): Promise<Provider> {
  const provider = await context.providers.get(id);
  if (provider) return provider;
  const known = [...(await context.providers.all())].map((candidate) => candidate.id).join(', ');
  throw new Error(`Unknown provider '${id}'. Use one of ${known}.`);
}

/** `svc key set|generate|clear` (contract 5.2, 5.3). */
export function keyCommands({ settings }: SettingsContext): CliCommand[] {
  return [
    {
      name: 'svc key set',
      description: 'Set the REST API key to your own value.',
      args: [
        {
          name: 'value',
          description: 'Any key that is not empty: - to read standard input, @file, or the value.',
          secret: true,
        },
      ],
      run: async ({ args: [value = ''] }) => {
        const warning = await settings.restKey.set(value);
        return { set: true, key: (await settings.restKey.masked()) ?? '', ...(warning !== null && { warning }) };
      },
    },
    {
      name: 'svc key generate',
      description: 'Generate a new REST API key and print it. It cannot be read again.',
      run: async () => ({ key: await settings.restKey.generate() }),
    },
    {
      name: 'svc key clear',
      description: 'Remove the REST API key. Every REST call gets 401 until you set a new key.',
      run: async () => {
        await settings.restKey.clear();
        return { cleared: true };
      },
    },
  ];
}

/** `svc sandbox on|off`. */
export function sandboxCommands({ settings }: SettingsContext): CliCommand[] {
  const turn = (on: boolean) => async () => {
    await settings.sandbox.set(on);
    return { sandbox: on ? 'on' : 'off' };
  };
  return [
    {
      name: 'svc sandbox on',
      description: 'Generate every response locally and call no provider.',
      run: turn(true),
    },
    { name: 'svc sandbox off', description: 'Call the providers again.', run: turn(false) },
  ];
}
