import { lazyCommands } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import type { HostPort } from '../../ports.ts';
import { keysMigration, keysTable, keyWindowsTable } from './key-tables.ts';

export type KeyPorts = HostPort;

/** Named keys beside the single REST key (D31). */
export const keysModule = defineModule<KeyPorts>({
  commands: [lazyCommands(async () => (await import('./key-commands.ts')).namedKeyCommands)],
  migrations: [keysMigration],
  tables: [keysTable, keyWindowsTable],
  register: (ports) =>
    void ports.host.hooks.addFilter(
      'ability_caller',
      async (caller, request, route) =>
        caller ?? (await (await import('./ability-caller.ts')).findAbilityCaller(ports, request, route)),
    ),
});
