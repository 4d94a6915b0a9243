import type { ServiceContext } from '../../wiring.ts';
import { lazyCommands, lazyPage } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import { failoverSchema } from './failover.ts';
import { optionNames } from '../../settings/names.ts';

/** Who answers where a provider fails: the page and the commands; `ai/failover.ts` asks them. */
export const failoverModule = defineModule<ServiceContext>({
  id: 'failover',
  title: 'Failover',
  pages: [
    lazyPage({
      slug: 'svc/failover',
      title: 'Failover',
      menu: 'Failover',
      parent: 'svc',
      icon: 'bolt',
      position: 33,
      style: 'budgets.css',
      body: async () => (await import('./failover.page.ts')).failoverPage,
    }),
  ],
  commands: [lazyCommands(async () => (await import('./failover-commands.ts')).failoverCommands)],
  register({ host }) {
    host.options.registerSetting(optionNames.failover, { group: 'svc', label: 'Failover', schema: failoverSchema });
  },
});

/** Removed when the plugin is uninstalled. */
export const failoverTables: readonly string[] = [];

/** Cron jobs, for uninstalling. */
export const failoverJobs: readonly string[] = [];
