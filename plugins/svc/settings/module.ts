import type { AdminMenuGroup, NextStep } from '#plugin-api';
import { lazyCommands, lazyPages } from '../kit/lazy.ts';
import { defineModule, type ModulePorts } from '../kit/module.ts';
import { rateLimitMigration, rateLimitTable } from '../kit/rate-limit.ts';
import type { Provider } from '../providers/provider.ts';
import type { SettingsContext, SetupContext } from './settings.ts';
import { addSetupChoices } from './setup-choices.ts';

/** The groups of the admin menu for the pages of the service. */
const menuGroups: readonly AdminMenuGroup[] = [
  { id: 'chat', title: 'Chat', icon: 'chat', position: 20 },
  { id: 'build', title: 'Build', icon: 'puzzle', position: 30 },
  { id: 'insights', title: 'Insights', icon: 'chart', position: 40 },
  { id: 'ai', title: 'AI settings', icon: 'bolt', position: 60 },
];

export const settingsModule = defineModule<
  SetupContext & ModulePorts & { readonly knownProviders: readonly Provider[] }
>({
  pages: lazyPages({
    slug: 'svc',
    title: 'AI service',
    group: 'ai',
    icon: 'bolt',
    position: 20,
    script: 'settings.js',
    body: () => import('./page/settings.page.ts'),
    subpages: [
      {
        slug: 'svc/setup',
        title: 'Set up a provider',
        script: 'settings.js',
        body: () => import('./page/setup.page.ts'),
      },
    ],
  }),
  commands: [
    lazyCommands(async () => (await import('./settings-commands.ts')).keyCommands),
    async (context) => (await import('./settings-commands.ts')).providerCommands(context, context.knownProviders),
    lazyCommands(async () => (await import('./settings-commands.ts')).sandboxCommands),
  ],
  migrations: [rateLimitMigration],
  tables: [rateLimitTable],
  register: (context) => {
    for (const group of menuGroups) context.host.admin.addMenuGroup(group);
    addSetupChoices(context);
    addSandboxBadge(context);
    addNextSteps(context);
    addProviderAlert(context);
  },
});

/** A badge on every admin page, so that sandbox output is not mistaken for real responses. */
function addSandboxBadge({ host, settings }: SettingsContext): void {
  host.admin.addBadge(async () =>
    (await settings.sandbox.isOn())
      ? {
          text: 'SANDBOX',
          kind: 'warning',
          href: `${host.admin.url('svc')}#sandbox`,
          title: 'Responses are generated locally. Click to turn the sandbox off.',
        }
      : null,
  );
}

/** Adds the API key and a provider to the next steps on the dashboard. */
function addNextSteps(context: SettingsContext): void {
  context.host.hooks.addFilter('admin_next_steps', async (steps: readonly NextStep[]) => [
    ...steps,
    ...(await nextSteps(context)),
  ]);
}

/** An alert on the home page while nothing can answer. */
function addProviderAlert(context: SettingsContext): void {
  context.host.hooks.addFilter('admin_alerts', async (alerts, user) => {
    if (!user.can('manage_options') || (await context.settings.sandbox.isOn()) || (await hasProvider(context)))
      return alerts;
    const text = 'No provider is connected, so chatbots and API calls fail. Connect a provider or turn the sandbox on.';
    return [{ kind: 'error', text, href: 'svc', label: 'Connect' }, ...alerts];
  });
}

/** Whether a provider is connected. */
async function hasProvider(context: SettingsContext): Promise<boolean> {
  const { connectedProviders } = await import('./provider-users.ts');
  return (await connectedProviders(context)).size > 0;
}

async function nextSteps(context: SettingsContext): Promise<NextStep[]> {
  const { settings } = context;
  const [masked, sandbox] = await Promise.all([settings.restKey.masked(), settings.sandbox.isOn()]);
  return [
    { text: 'Create an API key.', href: 'svc', done: masked !== null },
    {
      text: sandbox ? 'Connect a provider, then turn the sandbox off.' : 'Connect a provider.',
      href: 'svc',
      done: await hasProvider(context),
    },
  ];
}
