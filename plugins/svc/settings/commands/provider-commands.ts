import type { CliCommand, JsonSchema } from '#plugin-api';
import type { Provider } from '../../providers/provider.ts';
import { isListField } from '../field-value.ts';
import { mask } from '../mask.ts';
import { missingSettings } from '../configured.ts';
import type { SettingsContext } from '../settings-context.ts';

/** Flags of `svc provider set`, by the setting they change. Settings of other names go by their own, with dashes. */
const settingFlags = ['api_key', 'base_url', 'model', 'embedding_model', 'image_model', 'api_version'];

const idArgument = { name: 'id', description: 'Id of the provider, for example openai.' };

/**
 * `svc provider set|test|list`.
 *
 * @param providers those there are when the commands are registered: their settings make the flags.
 */
export function providerCommands(context: SettingsContext, providers: readonly Provider[]): CliCommand[] {
  const names = [
    ...new Set([...settingFlags, ...providers.flatMap((provider) => Object.keys(provider.settings.properties))]),
  ];
  return [
    {
      name: 'svc provider set',
      description: 'Change the settings of a provider. An empty value removes one; what is not named stays.',
      args: [idArgument],
      flags: Object.fromEntries(names.map((name) => [flagOf(name), flagSchema(name, providers)])),
      run: async ({ args: [id = ''], flags }) => {
        const provider = await find(context, id);
        const changes = changesOf(provider, names, flags);
        if (Object.keys(changes).length === 0)
          throw new Error(`Name what to change, for example: svc provider set ${id} --api-key=...`);
        await context.settings.providers.save(provider, changes);
        return describe(context, provider);
      },
    },
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
      description:
        'List the models a provider offered when it was last tested or synced, with what they make where it says so.',
      args: [idArgument],
      flags: { sync: { type: 'boolean', description: 'Ask the provider now.' } },
      run: async ({ args: [id = ''], flags }) => {
        const provider = await find(context, id);
        const result = flags['sync'] === true ? await context.tester.test(provider.id) : null;
        if (result?.ok === false) throw new Error(result.message);
        const { models, syncedAt } = await context.tester.models(provider.id);
        const synced = syncedAt === null ? '' : new Date(syncedAt).toISOString();
        return models.map(({ id: model, kinds }) => ({ model, kinds: kinds?.join(', ') ?? '', synced }));
      },
    },
    {
      name: 'svc provider list',
      description: 'List the providers and whether they are configured.',
      run: async () => Promise.all([...(await context.providers.all())].map((provider) => describe(context, provider))),
    },
  ];
}

function flagOf(name: string): string {
  return name.replaceAll('_', '-');
}

/** The settings that flags name. A list is written with commas. */
function changesOf(
  provider: Provider,
  names: readonly string[],
  flags: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  for (const name of names) {
    const value = flags[flagOf(name)];
    if (value === undefined) continue;
    const schema = Object.hasOwn(provider.settings.properties, name) ? provider.settings.properties[name] : undefined;
    changes[name] = schema && isListField(schema) ? String(value).split(',') : value;
  }
  return changes;
}

function flagSchema(name: string, providers: readonly Provider[]): JsonSchema {
  const description = providers
    .map((provider) => provider.settings.properties[name]?.title)
    .find((title) => title !== undefined);
  return { type: 'string', ...(description !== undefined && { description }) };
}

async function find(context: SettingsContext, id: string): Promise<Provider> {
  const provider = await context.providers.get(id);
  if (provider) return provider;
  const known = [...(await context.providers.all())].map((candidate) => candidate.id).join(', ');
  throw new Error(`There is no provider '${id}'. Use one of ${known}.`);
}

/** What may be printed of a provider: secrets masked (D3). */
async function describe(context: SettingsContext, provider: Provider): Promise<Record<string, unknown>> {
  const saved = await context.settings.providers.saved(provider);
  const values = Object.entries(provider.settings.properties).map(([name, schema]) => {
    const value = saved[name];
    return [name, schema.writeOnly && typeof value === 'string' ? mask(value) : (value ?? '')];
  });
  return {
    id: provider.id,
    label: provider.label,
    configured: missingSettings(provider, saved).length === 0,
    ...Object.fromEntries(values),
  };
}
