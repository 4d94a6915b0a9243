import { requireStorable, type CliCommand, type OptionsApi } from '#plugin-api';
import { hideSettingSecrets } from '../options/setting-secrets.ts';
import type { RegisteredSetting } from '../options/settings.ts';

/** Encrypted secrets (D3), bound to their place or not. */
const encrypted = /^enc:v\d+:/;

export type OptionCommandsDependencies = Pick<OptionsApi, 'get' | 'update' | 'delete' | 'list'> & {
  settings(): readonly RegisteredSetting[];
};

/** `option get|set|delete|list`. Never prints secrets, at any depth of a value: those of registered settings and encrypted ones. */
export function optionCommands(options: OptionCommandsDependencies): CliCommand[] {
  const hideSecrets = (name: string, value: unknown): unknown => {
    const schema = options.settings().find((setting) => setting.name === name)?.schema;
    return hideEncrypted(schema === undefined ? value : hideSettingSecrets(schema, value, '[encrypted]'));
  };
  const notFound = (name: string): Error =>
    new Error(`Option '${name}' does not exist. Run 'option list' to see all options.`);
  const name = { name: 'name', description: 'Name of the option.' };
  return [
    {
      name: 'option get',
      result: 'data',
      description: 'Prints the value of an option or its registered default.',
      args: [name],
      async run({ args: [option = ''] }) {
        const value: unknown = await options.get(option);
        // `get` returns false for a missing option too. The list distinguishes the two.
        if (value === false && !(option in (await options.list(option)))) throw notFound(option);
        return hideSecrets(option, value);
      },
    },
    {
      name: 'option set',
      description: 'Stores a value, parsed as JSON if possible, otherwise as text.',
      args: [
        name,
        {
          name: 'value',
          description: 'For example 7, true, {"a":1} or a text. Quote a text that looks like JSON: \'"7"\'.',
        },
      ],
      async run({ args: [option = '', value = ''] }) {
        return (await options.update(option, requireStorable(parseValue(value), option)))
          ? `Option '${option}' updated.`
          : `Option '${option}' already has this value.`;
      },
    },
    {
      name: 'option delete',
      description: 'Deletes an option. Its registered default applies again.',
      args: [name],
      async run({ args: [option = ''] }) {
        if (!(await options.delete(option))) throw notFound(option);
        return `Option '${option}' deleted.`;
      },
    },
    {
      name: 'option list',
      description: 'Lists stored options without transients.',
      args: [{ name: 'prefix', description: 'Only options whose name starts with this.', optional: true }],
      async run({ args: [prefix = ''] }) {
        return Object.entries(await options.list(prefix)).map(([option, value]) => ({
          name: option,
          value: hideSecrets(option, value),
        }));
      },
    },
  ];
}

function parseValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function hideEncrypted(value: unknown): unknown {
  if (typeof value === 'string') return encrypted.test(value) ? '[encrypted]' : value;
  if (Array.isArray(value)) return value.map(hideEncrypted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([member, inner]) => [member, hideEncrypted(inner)]));
}
