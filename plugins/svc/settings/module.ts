import { lazyCommands, lazyPage } from '../kit/lazy.ts';
import { defineModule, type ModulePorts } from '../kit/module.ts';
import { rateLimitMigration } from '../kit/rate-limit.ts';
import type { Provider } from '../providers/provider.ts';
import { addNextSteps } from './next-steps.ts';
import { optionNames } from './names.ts';
import { pricesSchema } from '../modules/usage/prices/price.ts';
import type { SettingsContext } from './settings-context.ts';
import { addSetupChoices } from './setup/setup-choices.ts';

/** Pages, commands, badge and setup choices of the settings. */
export const settingsModule = defineModule<
  SettingsContext & ModulePorts & { readonly knownProviders: readonly Provider[] }
>({
  id: 'settings',
  title: 'Settings',
  pages: [
    lazyPage({
      slug: 'svc',
      title: 'AI service',
      menu: 'AI service',
      icon: 'bolt',
      position: 20,
      script: 'settings.js',
      body: async () => (await import('./page/settings.page.ts')).settingsPage,
    }),
    lazyPage({
      slug: 'svc/setup',
      title: 'Set up a provider',
      parent: 'svc',
      script: 'settings.js',
      body: async () => (await import('./setup/setup.page.ts')).setupPage,
    }),
    lazyPage({
      slug: 'svc/prices',
      title: 'Prices',
      menu: 'Prices',
      parent: 'svc',
      icon: 'key',
      position: 31,
      style: 'prices.css',
      body: async () => (await import('../modules/usage/prices/prices.page.ts')).pricesPage,
    }),
  ],
  commands: [
    lazyCommands(async () => (await import('./commands/key-commands.ts')).keyCommands),
    async (context) =>
      (await import('./commands/provider-commands.ts')).providerCommands(context, context.knownProviders),
    lazyCommands(async () => (await import('./commands/sandbox-commands.ts')).sandboxCommands),
    lazyCommands(async () => (await import('../modules/usage/prices/price-commands.ts')).priceCommands),
  ],
  migrations: [rateLimitMigration],
  register: (context) => {
    addSetupChoices(context);
    addSandboxBadge(context);
    addNextSteps(context);
    // So that no other way in stores what is no list of prices.
    context.host.options.registerSetting(optionNames.prices, { group: 'svc', label: 'Prices', schema: pricesSchema });
  },
});

/** On every admin page while answers are made up, so that nobody takes them for real. */
function addSandboxBadge({ host, settings }: SettingsContext): void {
  host.admin.addBadge(async () =>
    (await settings.sandbox.isOn())
      ? {
          text: 'SANDBOX',
          kind: 'warning',
          href: `${host.admin.url('svc')}#sandbox`,
          title: 'Answers are made up on this machine. Click to switch the sandbox off.',
        }
      : null,
  );
}
