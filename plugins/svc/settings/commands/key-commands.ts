import type { CliCommand } from '#plugin-api';
import type { SettingsContext } from '../settings-context.ts';

/** `svc key set|generate|clear` (contract 5.2, 5.3). */
export function keyCommands({ settings }: SettingsContext): CliCommand[] {
  return [
    {
      name: 'svc key set',
      description: 'Set the REST API key to a value of your own.',
      args: [{ name: 'value', description: 'The key; any text that is not blank.' }],
      run: async ({ args: [value = ''] }) => {
        await settings.restKey.set(value);
        return { set: true, key: (await settings.restKey.masked()) ?? '' };
      },
    },
    {
      name: 'svc key generate',
      description: 'Make a new REST API key and print it, the only time it can be read.',
      run: async () => ({ key: await settings.restKey.generate() }),
    },
    {
      name: 'svc key clear',
      description: 'Remove the REST API key: every REST call is answered with 401 until one is set.',
      run: async () => {
        await settings.restKey.clear();
        return { cleared: true };
      },
    },
  ];
}
