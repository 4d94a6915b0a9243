import { fieldKind, type CliCommand, type JsonSchema } from '#plugin-api';
import { describeConfigured, droppedSecretsText, type Configurable, type ConfiguredSettings } from './configured.ts';

export interface ConfiguredCommandsInit<Item extends Configurable> {
  /** The commands without their last word, for example `svc provider`. */
  readonly command: string;
  readonly descriptions: { readonly set: string; readonly list: string };
  readonly idArgument: { readonly name: string; readonly description: string };
  /** The items at registration. Their settings have a flag each: the name with dashes. */
  readonly registered: readonly Item[];
  /** Settings with a flag that later items may have. */
  readonly common: readonly string[];
  /** Flags for the error without any. */
  readonly example: string;
  readonly settings: Pick<ConfiguredSettings<Item>, 'save' | 'saved' | 'unreadable'>;
  all(): readonly Item[] | Promise<readonly Item[]>;
  /** @throws Error if there is none */
  find(id: string): Item | Promise<Item>;
}

/** The commands that change and list settings of providers and vector stores. Secrets are printed masked (D3). */
export function configuredCommands<Item extends Configurable>(
  init: ConfiguredCommandsInit<Item>,
): Readonly<Record<'set' | 'list', CliCommand>> {
  const { command, descriptions, idArgument, registered, settings } = init;
  const names = new Set([...init.common, ...registered.flatMap((item) => Object.keys(item.settings.properties))]);
  const describe = async (item: Item): Promise<Record<string, unknown>> =>
    describeConfigured(item, await settings.saved(item), await settings.unreadable(item));
  return {
    set: {
      name: `${command} set`,
      description: descriptions.set,
      args: [idArgument],
      flags: Object.fromEntries([...names].map((name) => [flagOf(name), flagSchema(name, registered)])),
      run: async ({ args: [id = ''], flags }) => {
        const item = await init.find(id);
        const changes = readFlags(item, [...names], flags);
        if (Object.keys(changes).length === 0)
          throw new Error(`Name the settings to change, for example: ${command} set ${id} ${init.example}`);
        const warning = droppedSecretsText(await settings.save(item, changes));
        return { ...(await describe(item)), ...(warning !== '' && { warning }) };
      },
    },
    list: {
      name: `${command} list`,
      description: descriptions.list,
      run: async () => Promise.all((await init.all()).map(describe)),
    },
  };
}

function flagOf(name: string): string {
  return name.replaceAll('_', '-');
}

/** The settings that the flags name. Lists are separated by commas. */
function readFlags(
  { settings: { properties } }: Configurable,
  names: readonly string[],
  flags: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  for (const name of names) {
    const value = flags[flagOf(name)];
    if (value === undefined) continue;
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    changes[name] = schema && fieldKind(schema) === 'lines' ? String(value).split(',') : value;
  }
  return changes;
}

function flagSchema(name: string, items: readonly Configurable[]): JsonSchema {
  const schemas = items.flatMap(({ settings: { properties } }) => properties[name] ?? []);
  const description = schemas.find(({ title }) => title !== undefined)?.title;
  const isSecret = schemas.some(({ writeOnly }) => writeOnly === true);
  return { type: 'string', ...(description !== undefined && { description }), ...(isSecret && { writeOnly: true }) };
}
