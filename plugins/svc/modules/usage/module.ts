import { localDay } from '#plugin-api';
import { lazyCommands, lazyPages } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import type { BotsPort, KeysPort, HostPort, PricesPort, ProvidersPort, SettingsPort, UsagePort } from '../../ports.ts';
import { sweepUsage } from './ledger/usage-store.ts';
import {
  usageBilledMigration,
  usageCallersMigration,
  usageDaysTable,
  usageMigration,
  usageReferenceMigration,
  usageRoleDaysTable,
  usageRolesMigration,
  usageTable,
} from './ledger/usage-tables.ts';
import { usageRoute } from './usage.route.ts';
import { pricesOption, pricesSchema } from './prices/price.ts';

export type UsagePorts = HostPort & SettingsPort & ProvidersPort & UsagePort & PricesPort & BotsPort & KeysPort;

/** The daily job that deletes old calls from the ledger. */
const sweepHook = 'svc_usage_sweep';
/** Milliseconds. */
const day = 24 * 3600 * 1000;

/** What calls cost and how they ended: the ledger, the prices, their pages and commands. */
export const usageModule = defineModule<UsagePorts>({
  routes: [usageRoute],
  pages: [
    ...lazyPages<UsagePorts>({
      slug: 'svc/usage',
      title: 'Usage',
      group: 'insights',
      icon: 'chart',
      position: 30,
      style: 'usage.css',
      body: () => import('./usage.page.ts'),
    }),
    ...lazyPages<UsagePorts>({
      slug: 'svc/prices',
      title: 'Prices',
      group: 'ai',
      icon: 'tag',
      position: 31,
      style: 'prices.css',
      uploadLimit: 2_000_000,
      body: () => import('./prices/prices.page.ts'),
    }),
  ],
  commands: [
    lazyCommands(async () => (await import('./usage-commands.ts')).usageCommands),
    lazyCommands(async () => (await import('./prices/price-commands.ts')).priceCommands),
  ],
  migrations: [
    usageMigration,
    usageReferenceMigration,
    usageCallersMigration,
    usageRolesMigration,
    usageBilledMigration,
  ],
  tables: [usageTable, usageDaysTable, usageRoleDaysTable],
  jobs: [sweepHook],
  async register(ports) {
    const { host, settings, ledger } = ports;
    host.metrics.add(() => ledger.metrics());
    host.hooks.addFilter('admin_home', async (home, context) =>
      (await import('./home.ts')).addUsageHome(ports, home, context),
    );
    host.hooks.addAction('wp_abilities_api_init', async () =>
      (await import('./usage-abilities.ts')).registerUsageAbilities(host.abilities, ports),
    );
    host.options.registerSetting(pricesOption, { group: 'svc', label: 'Prices', schema: pricesSchema });
    await host.jobs.every('daily', {
      name: sweepHook,
      label: 'Delete old calls from the usage ledger',
      timeout: 3_600,
      run: async () => {
        const { usage_days: days } = await settings.limits();
        const before = host.clock.now() - days * day;
        const beforeDay = localDay(before, await host.site.timezone());
        const calls = await sweepUsage(host.database, { before, beforeDay });
        if (calls > 0) host.log.info('Deleted old calls from the usage ledger', { event: 'usage_swept', calls, days });
      },
    });
  },
});
