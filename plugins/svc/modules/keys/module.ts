import { formatDate, type HealthResult, type HomeAlert, type HostApi } from '#plugin-api';
import { lazyCommands, lazyPages } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import type { BotsPort, ExplainPort, HostPort, ProvidersPort, SettingsPort } from '../../ports.ts';
import type { NamedKey } from './named-key.ts';
import { chatbotKeysMigration, keysMigration, lenientKeysMigration, keysTable, keyWindowsTable } from './key-tables.ts';

export type KeyPorts = HostPort & ExplainPort & ProvidersPort & SettingsPort & BotsPort;

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
  migrations: [keysMigration, lenientKeysMigration, chatbotKeysMigration],
  tables: [keysTable, keyWindowsTable],
  register(ports) {
    const { hooks } = ports.host;
    hooks.addFilter(
      'ability_caller',
      async (caller, request, route) =>
        caller ?? (await (await import('./ability-caller.ts')).findAbilityCaller(ports, request, route)),
    );
    hooks.addFilter('admin_alerts', async (alerts, user) =>
      user.can('manage_options') ? [...alerts, ...(await expiryAlerts(ports)), ...(await ownerAlerts(ports))] : alerts,
    );
    hooks.addFilter('user_credentials', async (credentials, userId) => [
      ...credentials,
      ...(await usableKeys(ports, userId)).map(({ name }) => ({ kind: 'API key', name })),
    ]);
    hooks.addAction('revoke_user_credentials', async (userId) => {
      const { createKeyStore } = await import('./key-store.ts');
      for (const { id } of await usableKeys(ports, userId)) await createKeyStore(ports.host).revoke(id);
    });
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

/** Keys that are neither revoked nor expired. */
async function workingKeys({ host }: Pick<KeyPorts, 'host'>): Promise<readonly NamedKey[]> {
  const [{ createKeyStore }, { keyState }] = await Promise.all([import('./key-store.ts'), import('./named-key.ts')]);
  const now = host.clock.now();
  return (await createKeyStore(host).list()).filter((key) => !['revoked', 'expired'].includes(keyState(key, now)));
}

/** Those that a user created. */
async function usableKeys(ports: KeyPorts, userId: number): Promise<readonly NamedKey[]> {
  return (await workingKeys(ports)).filter(({ createdBy }) => createdBy === userId);
}

/** Keys that work although the user who created them was deleted. */
async function orphanedKeys({ host }: Pick<KeyPorts, 'host'>): Promise<readonly NamedKey[]> {
  const orphaned: NamedKey[] = [];
  for (const key of await workingKeys({ host }))
    if (key.createdBy !== 0 && (await host.users.get(key.createdBy)) === null) orphaned.push(key);
  return orphaned;
}

const orphanText = ({ name }: NamedKey): string =>
  `The key “${name}” still works, but the user who created it was deleted. Revoke it if it is not needed.`;

/** An alert for each of them. */
async function ownerAlerts(ports: KeyPorts): Promise<HomeAlert[]> {
  return (await orphanedKeys(ports)).map((key) => ({
    kind: 'warning',
    text: orphanText(key),
    href: `${keysSlug}?s=${encodeURIComponent(key.name)}`,
    label: 'Show',
  }));
}

/** What `doctor` and Site Health say about them. */
export async function checkKeyOwners(host: HostApi): Promise<HealthResult[]> {
  return (await orphanedKeys({ host })).map((key) => ({
    status: 'recommended',
    label: 'The creator of an API key was deleted',
    description: orphanText(key),
  }));
}
