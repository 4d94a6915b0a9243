import type { CliCommand } from '#plugin-api';
import type { SettingsContext } from '../settings-context.ts';

/** `svc sandbox on|off`. */
export function sandboxCommands({ settings }: SettingsContext): CliCommand[] {
  const turn = (on: boolean) => async () => {
    await settings.sandbox.turn(on);
    return { sandbox: on ? 'on' : 'off' };
  };
  return [
    {
      name: 'svc sandbox on',
      description: 'Answer every call with made-up answers of this machine; no provider is asked.',
      run: turn(true),
    },
    { name: 'svc sandbox off', description: 'Ask the providers again.', run: turn(false) },
  ];
}
