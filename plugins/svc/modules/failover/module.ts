import { lazyCommands, lazyPages } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import type { FailoverPort, HostPort, ProvidersPort, SettingsPort } from '../../ports.ts';
import { failoverOption, failoverSchema } from './failover.ts';

export type FailoverPorts = HostPort & ProvidersPort & SettingsPort & FailoverPort;

/** The fallback providers: the page, the commands and the option. */
export const failoverModule = defineModule<FailoverPorts>({
  pages: lazyPages({
    slug: 'svc/failover',
    title: 'Failover',
    group: 'ai',
    icon: 'route',
    position: 33,
    style: 'budgets.css',
    body: () => import('./failover.page.ts'),
  }),
  commands: [lazyCommands(async () => (await import('./failover-commands.ts')).failoverCommands)],
  register({ host }) {
    host.options.registerSetting(failoverOption, { group: 'svc', label: 'Failover', schema: failoverSchema });
  },
});
