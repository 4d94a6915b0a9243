import type { HealthResult, HostApi } from '#plugin-api';
import { budgetsOption, type Budget } from './budget.ts';

/**
 * Budgets in dollars that calls without a known price pass for free (D43). An upgrade does not change what older versions set up:
 * it would refuse calls that run. The page Budgets changes it with one click.
 */
export async function checkUnpriced({ options }: Pick<HostApi, 'options'>): Promise<readonly HealthResult[]> {
  const stored = await options.get<unknown>(budgetsOption, []);
  const names = (Array.isArray(stored) ? (stored as readonly Partial<Budget>[]) : [])
    .filter(({ enabled, unit, unpriced }) => enabled !== false && unit === 'dollars' && unpriced === 'free')
    .map(({ name }) => `"${String(name)}"`);
  if (names.length === 0) return [];
  return [
    {
      status: 'recommended',
      label: 'A budget does not limit models without a price',
      description:
        `Calls of models whose price is not known cost nothing under ${names.join(', ')}, so they have no limit. ` +
        'On the page "Budgets", select "Refuse calls without a price".',
    },
  ];
}
