import { definePlugin } from '#plugin-api';
import type { HostApi } from '#plugin-api';
import { createCapturedMails } from './captured-mail.ts';
import { faultSettingsSchema } from './fault-injection.ts';
import { createSandboxPage } from './page.ts';
import type { Sandbox } from './sandbox.ts';
import { migrations, tables } from './storage/migrations.ts';

type Settings = Readonly<Record<string, unknown>>;

/** The service's switch: true while every provider is to be answered by the sandbox. */
const switchOption = 'svc_sandbox';
const faultsOption = 'sandbox_dial';

/**
 * Fakes on this machine for all providers and vector stores. The service asks the filters `svc_sandbox_available`
 * (whether to offer the switch) and, while the switch is on, `svc_sandbox_provider_settings` and
 * `svc_sandbox_vector_store_settings`, which answer settings that lead here. On several nodes each has a server
 * started by its first such call; what is in the vector stores is in the database, the same for all.
 */
export default definePlugin({
  migrations,
  register(host: HostApi): void {
    const { hooks, options } = host;
    const isOn = async (): Promise<boolean> => (await options.get(switchOption, false)) === true;
    let opened: Promise<Sandbox> | undefined;
    // The fakes are loaded by their first use: a site that never switches them on pays nothing at start.
    const open = (): Promise<Sandbox> =>
      (opened ??= import('./sandbox.ts').then(({ createSandbox }) => createSandbox(host, faultsOption)));

    host.onStop(async () => (await opened)?.stop());
    options.registerSetting(faultsOption, { group: 'sandbox', label: 'Fault injection', schema: faultSettingsSchema });
    hooks.addFilter('svc_sandbox_available', () => true);
    hooks.addFilter('svc_sandbox_provider_settings', async (settings: Settings, providerId: string) =>
      (await isOn()) ? (await open()).settings(providerId, settings) : settings,
    );
    hooks.addFilter('svc_sandbox_vector_store_settings', async (settings: Settings, storeId: string) =>
      (await isOn()) ? (await open()).storeSettings(storeId, settings) : settings,
    );
    const mails = createCapturedMails(host);
    // While the switch is on, no mail leaves: it is shown on the page.
    hooks.addFilter('wp_mail_available', async (isAvailable) => isAvailable || (await isOn()));
    hooks.addFilter('pre_wp_mail', async (receipt, message) =>
      receipt === null && (await isOn()) ? mails.capture(message) : receipt,
    );
    hooks.addFilter('svc_chatbot_demo_site', async () => ({ origin: await (await open()).shop() }));
    host.admin.addPage(
      createSandboxPage({ options, faultsOption, isOn, mails, overview: async () => (await open()).overview() }),
    );
  },
  async uninstall(host: HostApi): Promise<void> {
    await host.options.delete(faultsOption);
    for (const table of tables) await host.database.knex.schema.dropTableIfExists(table);
  },
});
