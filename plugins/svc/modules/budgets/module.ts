import { formatDate, type AdminBadge, type HomeAlert } from '#plugin-api';
import { lazyCommands, lazyPages } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import type { BotsPort, BudgetsPort, HostPort, KeysPort, ProvidersPort, UsagePort } from '../../ports.ts';
import { budgetsOption, budgetsSchema } from './budget.ts';
import type { BudgetStatus } from './guard/budget-status.ts';
import {
  budgetCallersMigration,
  budgetDecimalsMigration,
  budgetCounters,
  budgetMigration,
  budgetReservations,
  budgetRolesMigration,
  reservationOwnersMigration,
} from './guard/budget-tables.ts';

export type BudgetPorts = HostPort & ProvidersPort & UsagePort & BudgetsPort & BotsPort & KeysPort;

const budgetsSlug = 'svc/budgets';
/** The daily job that deletes old counters and releases expired reservations. */
const sweepHook = 'svc_budgets_sweep';
/** Milliseconds. */
const counterLifetime = 400 * 24 * 3600_000;

/** Limits on what calls use: the page and the commands; the guard itself is in `guard/`. */
export const budgetsModule = defineModule<BudgetPorts>({
  pages: lazyPages({
    slug: budgetsSlug,
    title: 'Budgets',
    group: 'insights',
    icon: 'gauge',
    position: 32,
    style: 'budgets.css',
    body: () => import('./budgets.page.ts'),
  }),
  commands: [lazyCommands(async () => (await import('./budget-commands.ts')).budgetCommands)],
  migrations: [
    budgetMigration,
    budgetCallersMigration,
    budgetRolesMigration,
    budgetDecimalsMigration,
    reservationOwnersMigration,
  ],
  tables: [budgetCounters, budgetReservations],
  jobs: [sweepHook],
  async register(ports) {
    const { host } = ports;
    host.options.registerSetting(budgetsOption, { group: 'svc', label: 'Budgets', schema: budgetsSchema });
    host.admin.addBadge(() => budgetBadge(ports));
    host.hooks.addFilter('admin_alerts', async (alerts, user) =>
      user.can('manage_options') ? [...alerts, ...(await budgetAlerts(ports))] : alerts,
    );
    host.hooks.addFilter('admin_next_steps', async (steps) => [
      ...steps,
      { text: 'Set a budget.', href: budgetsSlug, done: (await ports.budgets.list()).length > 0 },
    ]);
    await host.jobs.every('daily', {
      name: sweepHook,
      label: 'Delete old budget counters',
      run: async () => {
        const before = new Date(host.clock.now() - counterLifetime).toISOString().slice(0, 10);
        await host.database.knex(budgetCounters).where('period', '<', before).delete();
        await (await import('./guard/budget-reservations.ts')).releaseReservations(host);
      },
    });
  },
});

/** On every admin page while a budget is used up or nearly so. */
async function budgetBadge(ports: BudgetPorts): Promise<AdminBadge | null> {
  const statuses = await activeStatuses(ports);
  const href = ports.host.admin.url(budgetsSlug);
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

/** A line on the home page for each budget that is used up or nearly so. */
async function budgetAlerts(ports: BudgetPorts): Promise<HomeAlert[]> {
  const timezone = await ports.host.site.timezone();
  return (await activeStatuses(ports)).flatMap(({ state, budget, used, amount, endsAt }): HomeAlert[] => {
    const resets = `It resets on ${formatDate(endsAt, 'date', timezone)}.`;
    const base = { href: budgetsSlug, label: 'Edit' };
    if (state === 'exhausted')
      return [{ ...base, kind: 'error', text: `The budget "${budget.name}" is used up. ${resets}` }];
    return state === 'alert'
      ? [
          {
            ...base,
            kind: 'warning',
            text: `The budget “${budget.name}” is at ${String(Math.floor((100 * used) / amount))}%. ${resets}`,
          },
        ]
      : [];
  });
}

async function activeStatuses({ host, budgets }: BudgetPorts): Promise<readonly BudgetStatus[]> {
  const enabled = (await budgets.list()).filter((budget) => budget.enabled);
  return enabled.length === 0 ? [] : (await import('./guard/budget-status.ts')).budgetStatus(host, enabled);
}
