import type { CliCommand, OptionsApi } from '#plugin-api';

/** What encrypted secrets begin with (D3). */
const encryptedPrefix = 'enc:v1:';

/** `option get|set|delete|list`. Encrypted secrets are never printed, wherever in a value they stand. */
export function optionCommands(options: Pick<OptionsApi, 'get' | 'update' | 'delete' | 'list'>): CliCommand[] {
  const absent = (name: string): Error => new Error(`There is no option '${name}'. 'option list' shows all.`);
  const name = { name: 'name', description: 'Name of the option.' };
  return [
    {
      name: 'option get',
      description: 'Prints the value of an option, or its registered default.',
      args: [name],
      async run({ args: [option = ''] }) {
        const value: unknown = await options.get(option);
        // false is stored seldom and answered for absent ones: only then the list tells them apart.
        if (value === false && !(option in (await options.list(option)))) throw absent(option);
        return hideSecrets(value);
      },
    },
    {
      name: 'option set',
      description: 'Stores a value: JSON when it is JSON, else the text itself.',
      args: [
        name,
        {
          name: 'value',
          description: 'For example 7, true, {"a":1} or a text. A text that looks like JSON goes in quotes: \'"7"\'.',
        },
      ],
      async run({ args: [option = '', value = ''] }) {
        return (await options.update(option, parseValue(value)))
          ? `Option '${option}' is set.`
          : `Option '${option}' had this value already.`;
      },
    },
    {
      name: 'option delete',
      description: 'Removes an option; its registered default holds again.',
      args: [name],
      async run({ args: [option = ''] }) {
        if (!(await options.delete(option))) throw absent(option);
        return `Option '${option}' is deleted.`;
      },
    },
    {
      name: 'option list',
      description: 'Lists the stored options, without transients.',
      args: [{ name: 'prefix', description: 'Only names that begin with it.', optional: true }],
      async run({ args: [prefix = ''] }) {
        return Object.entries(await options.list(prefix)).map(([option, value]) => ({
          name: option,
          value: hideSecrets(value),
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

function hideSecrets(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith(encryptedPrefix) ? '[encrypted]' : value;
  if (Array.isArray(value)) return value.map(hideSecrets);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([member, inner]) => [member, hideSecrets(inner)]));
}
