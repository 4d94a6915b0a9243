import { budgetCounters, budgetMigration, budgetReservations } from './guard/budget-tables.ts';
import type { ServiceContext } from '../../wiring.ts';
import { lazyCommands, lazyPage } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import { budgetsSchema } from './budget.ts';
import { optionNames } from '../../settings/names.ts';

/** The daily event that forgets counters of periods that are long over. */
const sweepHook = 'svc_budgets_sweep';
const keptFor = 400 * 24 * 3600_000;

/** How much may be spent: the budgets in front of every call, their page and commands. */
export const budgetsModule = defineModule<ServiceContext>({
  id: 'budgets',
  title: 'Budgets',
  pages: [
    lazyPage({
      slug: 'svc/budgets',
      title: 'Budgets',
      menu: 'Budgets',
      parent: 'svc',
      icon: 'bolt',
      position: 32,
      style: 'budgets.css',
      body: async () => (await import('./budgets.page.ts')).budgetsPage,
    }),
  ],
  commands: [lazyCommands(async () => (await import('./budget-commands.ts')).budgetCommands)],
  migrations: [budgetMigration],
  async register(context) {
    const { host, settings } = context;
    host.options.registerSetting(optionNames.budgets, { group: 'svc', label: 'Budgets', schema: budgetsSchema });
    host.admin.addBadge(async () =>
      (await settings.budgets.list()).length === 0 ? null : (await import('./budget-badge.ts')).budgetBadge(context),
    );
    host.hooks.addAction(sweepHook, async () => {
      const before = new Date(host.clock.now() - keptFor).toISOString().slice(0, 10);
      await host.database.knex(budgetCounters).where('period', '<', before).delete();
      await (await import('./guard/counters.ts')).createCounters(host.database).releaseExpired();
    });
    await host.cron.schedule('daily', sweepHook);
  },
});

/** Removed when the plugin is uninstalled. */
export const budgetTables: readonly string[] = [budgetCounters, budgetReservations];

/** Cron jobs, for uninstalling. */
export const budgetJobs: readonly string[] = [sweepHook];
