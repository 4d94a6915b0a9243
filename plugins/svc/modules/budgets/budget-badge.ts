import type { AdminBadge } from '#plugin-api';
import type { ServiceContext } from '../../wiring.ts';

/** What every page of the admin shows while a budget is used up or nearly so. */
export async function budgetBadge({
  host,
  settings,
}: Pick<ServiceContext, 'host' | 'settings'>): Promise<AdminBadge | null> {
  const budgets = (await settings.budgets.list()).filter(({ enabled }) => enabled);
  if (budgets.length === 0) return null;
  const { budgetStatus } = await import('./guard/budget-status.ts');
  const states = await budgetStatus(host, budgets);
  const used = states.filter(({ state }) => state === 'exhausted');
  const near = states.filter(({ state }) => state === 'alert');
  const href = host.admin.url('svc/budgets');
  const names = (list: typeof states): string => list.map(({ budget }) => budget.name).join(', ');
  if (used.length > 0) return { text: 'BUDGET USED UP', kind: 'warning', href, title: `Used up: ${names(used)}.` };
  return near.length > 0
    ? { text: 'Budget nearly used up', kind: 'info', href, title: `Nearly used up: ${names(near)}.` }
    : null;
}
