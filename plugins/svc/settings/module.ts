import { defineModule, type ModuleContext } from '../kit/module.ts';
import { rateLimitMigration } from '../kit/rate-limit.ts';
import type { Provider } from '../providers/provider.ts';
import { keyCommands } from './commands/key-commands.ts';
import { providerCommands } from './commands/provider-commands.ts';
import { sandboxCommands } from './commands/sandbox-commands.ts';
import { addNextSteps } from './next-steps.ts';
import { optionNames } from './names.ts';
import { settingsPage } from './page/settings.page.ts';
import { priceCommands } from './prices/price-commands.ts';
import { pricesSchema } from './prices/price.ts';
import { pricesPage } from './prices/prices.page.ts';
import type { SettingsContext } from './settings-context.ts';
import { addSetupChoices } from './setup/setup-choices.ts';
import { setupPage } from './setup/setup.page.ts';

/** Pages, commands, badge and setup choices of the settings. */
export const settingsModule = defineModule<SettingsContext & ModuleContext & { readonly knownProviders: readonly Provider[] }>({
  id: 'settings',
  title: 'Settings',
  pages: [settingsPage, setupPage, pricesPage],
  commands: [keyCommands, (context) => providerCommands(context, context.knownProviders), sandboxCommands, priceCommands],
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
      ? { text: 'SANDBOX', kind: 'warning', href: `${host.admin.url('svc')}#sandbox`, title: 'Answers are made up on this machine. Click to switch the sandbox off.' }
      : null,
  );
}
