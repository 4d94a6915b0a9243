import { definePlugin } from '#plugin-api';
import type { HostApi } from '#plugin-api';
import { dialSchema, readDial } from './dial.ts';
import { createSandboxPage } from './page.ts';
import { createSandboxServer } from './server.ts';
import { findWire } from './wires.ts';

/** The service's switch: true while every provider is to be answered by the sandbox. */
const switchOption = 'svc_sandbox';
const dialOption = 'sandbox_dial';

/**
 * Stand-ins on this machine for all text providers. The service asks the filters `svc_sandbox_available` (whether to
 * offer the switch) and `svc_provider_settings` (a provider's settings, decrypted); while the switch is on, the latter
 * answers settings that lead here. On several nodes each has a server of its own, started by its first such call.
 */
export default definePlugin({
  register(host: HostApi): void {
    const { hooks, options } = host;
    const server = createSandboxServer({
      clock: host.clock,
      log: host.log,
      dial: async () => readDial(await options.get(dialOption)),
    });
    host.onStop(() => server.stop());
    options.registerSetting(dialOption, { group: 'sandbox', label: 'Fault dial', schema: dialSchema });
    hooks.addFilter('svc_sandbox_available', () => true);
    hooks.addFilter('svc_provider_settings', async (settings: Readonly<Record<string, unknown>>, providerId: string) => {
      const wire = findWire(providerId);
      if (!wire || (await options.get(switchOption, false)) !== true) return settings;
      const { url } = await server.start();
      return { ...settings, ...wire.settings(`${url}/${wire.id}`, settings) };
    });
    host.admin.addPage(createSandboxPage({ host, server, switchOption, dialOption }));
  },
  async uninstall(host: HostApi): Promise<void> {
    await host.options.delete(dialOption);
  },
});
