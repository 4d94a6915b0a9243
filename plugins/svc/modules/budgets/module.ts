import type { AdminBadge } from '#plugin-api';
import { lazyCommands, lazyPage } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import type { BudgetsPort, HostPort, ProvidersPort, UsagePort } from '../../ports.ts';
import { budgetsOption, budgetsSchema } from './budget.ts';
import { budgetCounters, budgetMigration, budgetReservations } from './guard/budget-tables.ts';

export type BudgetPorts = HostPort & ProvidersPort & UsagePort & BudgetsPort;

/** The daily job that deletes old counters and releases expired reservations. */
const sweepHook = 'svc_budgets_sweep';
/** Milliseconds. */
const counterLifetime = 400 * 24 * 3600_000;

/** Limits on what calls use: the page and the commands; the guard itself is in `guard/`. */
export const budgetsModule = defineModule<BudgetPorts>({
  pages: [
    lazyPage({
      slug: 'svc/budgets',
      title: 'Budgets',
      menu: 'Budgets',
      group: 'insights',
      icon: 'gauge',
      position: 32,
      style: 'budgets.css',
      body: async () => (await import('./budgets.page.ts')).budgetsPage,
    }),
  ],
  commands: [lazyCommands(async () => (await import('./budget-commands.ts')).budgetCommands)],
  migrations: [budgetMigration],
  tables: [budgetCounters, budgetReservations],
  jobs: [sweepHook],
  async register(ports) {
    const { host } = ports;
    host.options.registerSetting(budgetsOption, { group: 'svc', label: 'Budgets', schema: budgetsSchema });
    host.admin.addBadge(() => budgetBadge(ports));
    await host.jobs.every('daily', {
      name: sweepHook,
      label: 'Delete old budget counters',
      run: async () => {
        const before = new Date(host.clock.now() - counterLifetime).toISOString().slice(0, 10);
        await host.database.knex(budgetCounters).where('period', '<', before).delete();
        await (await import('./guard/counters.ts')).createBudgetCounters(host.database).releaseExpired();
      },
    });
  },
});

/** On every admin page while a budget is used up or nearly so. */
async function budgetBadge({ host, budgets }: BudgetPorts): Promise<AdminBadge | null> {
  const enabled = (await budgets.list()).filter((budget) => budget.enabled);
  if (enabled.length === 0) return null;
  const { budgetStatus } = await import('./guard/budget-status.ts');
  const statuses = await budgetStatus(host, enabled);
  const href = host.admin.url('svc/budgets');
  const names = (wanted: 'exhausted' | 'alert'): string =>
    statuses
      .filter(({ state }) => state === wanted)
      .map(({ budget }) => budget.name)
      .join(', ');
  const [exhausted, alert] = [names('exhausted'), names('alert')];
  if (exhausted !== '') return { text: 'BUDGET USED UP', kind: 'warning', href, title: `Used up: ${exhausted}.` };
  return alert === ''
    ? null
    : { text: 'Budget nearly used up', kind: 'info', href, title: `Nearly used up: ${alert}.` };
}
