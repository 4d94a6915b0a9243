import { requireStorable, RestError, type CliCommand, type User, type UsersApi } from '#plugin-api';
import type { Abilities } from '../abilities/abilities.ts';

export interface AbilityCommandsDependencies {
  readonly abilities: Abilities;
  readonly users: Pick<UsersApi, 'list' | 'find'>;
}

/** `ability list|run`. Runs act for the first administrator, or for `--user`. */
export function abilityCommands({ abilities, users }: AbilityCommandsDependencies): CliCommand[] {
  return [
    {
      name: 'ability list',
      description: 'Lists abilities with their category and the plugin that registered them.',
      run: async () =>
        (await abilities.list()).map(({ name, label, category, owner, meta: { annotations } }) => ({
          name,
          label,
          category,
          plugin: owner,
          readonly: annotations.readonly ?? '',
          destructive: annotations.destructive ?? '',
        })),
    },
    {
      name: 'ability run',
      description: 'Runs an ability and prints what it returns.',
      args: [{ name: 'name', description: "Name of the ability (see 'ability list')." }],
      flags: {
        input: { type: 'string', description: 'The input as JSON. Default: none.' },
        user: { type: 'string', description: 'Login or email address of the user. Default: the first administrator.' },
      },
      async run({ args: [name = ''], flags }) {
        const user = await findUser(users, flags['user']);
        try {
          return await abilities.run(name, requireStorable(readJson(flags['input']), '--input'), { user });
        } catch (error) {
          if (error instanceof RestError && error.status === 404)
            throw new Error(`${error.message} Run 'ability list' to see all of them.`, { cause: error });
          throw error;
        }
      },
    },
  ];
}

async function findUser(users: AbilityCommandsDependencies['users'], wanted: unknown): Promise<User> {
  const user =
    wanted === undefined
      ? (await users.list({ role: 'administrator', limit: 1 }))[0]
      : await users.find(String(wanted));
  if (!user)
    throw new Error(wanted === undefined ? 'There is no administrator.' : `There is no user ${String(wanted)}.`);
  return user;
}

function readJson(text: unknown): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(String(text));
  } catch (error) {
    throw new Error(`--input is not JSON: ${(error as Error).message}`, { cause: error });
  }
}
