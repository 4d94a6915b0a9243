import { formatDate, type HomeAlert } from '#plugin-api';
import { lazyCommands, lazyPages } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import type { BotsPort, ExplainPort, HostPort, ProvidersPort } from '../../ports.ts';
import { keysMigration, keysTable, keyWindowsTable } from './key-tables.ts';

export type KeyPorts = HostPort & ExplainPort & ProvidersPort & BotsPort;

const keysSlug = 'svc/keys';

/** Named keys beside the single REST key (D31). */
export const keysModule = defineModule<KeyPorts>({
  pages: lazyPages({
    slug: keysSlug,
    title: 'API keys',
    group: 'developers',
    icon: 'key',
    position: 21,
    body: () => import('./keys.page.ts'),
  }),
  commands: [lazyCommands(async () => (await import('./key-commands.ts')).namedKeyCommands)],
  migrations: [keysMigration],
  tables: [keysTable, keyWindowsTable],
  register(ports) {
    const { hooks } = ports.host;
    hooks.addFilter(
      'ability_caller',
      async (caller, request, route) =>
        caller ?? (await (await import('./ability-caller.ts')).findAbilityCaller(ports, request, route)),
    );
    hooks.addFilter('admin_alerts', async (alerts, user) =>
      user.can('manage_options') ? [...alerts, ...(await expiryAlerts(ports))] : alerts,
    );
  },
});

/** An alert for each key that expires within two weeks. */
async function expiryAlerts({ host }: KeyPorts): Promise<HomeAlert[]> {
  const [{ createKeyStore }, { keyState }, timezone] = await Promise.all([
    import('./key-store.ts'),
    import('./named-key.ts'),
    host.site.timezone(),
  ]);
  const keys = await createKeyStore(host).list();
  return keys.flatMap((key): HomeAlert[] =>
    key.expiresAt !== null && keyState(key, host.clock.now()) === 'expiring'
      ? [
          {
            kind: 'warning',
            text: `The key “${key.name}” expires after ${formatDate(key.expiresAt - 1, 'date', timezone)}.`,
            href: `${keysSlug}?edit=${String(key.id)}`,
            label: 'Edit',
          },
        ]
      : [],
  );
}
