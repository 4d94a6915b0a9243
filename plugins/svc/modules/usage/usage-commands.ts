import type { CliCommand, JsonSchema } from '#plugin-api';
import { plainDollars } from '../../kit/dollars.ts';
import { formatCost } from '../../kit/format-cost.ts';
import type { UsagePorts } from './module.ts';
import { filterNames, groupings } from './usage-filter.ts';
import { readTotals } from './usage-totals.ts';

/** What totals are grouped by, and of which days. */
export const totalsFlags = {
  by: { type: 'string', enum: groupings, default: 'provider', description: 'Grouping.' },
  period: { type: 'string', enum: ['today', '7', '30', '90'], default: '30', description: 'Days, today included.' },
} as const satisfies Record<string, JsonSchema>;

/** `svc usage`. */
export function usageCommands(ports: Pick<UsagePorts, 'host' | 'ledger'>): CliCommand[] {
  return [
    {
      name: 'svc usage',
      description: 'Sum up the calls to providers. Days follow the time zone of the site.',
      flags: {
        ...totalsFlags,
        from: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\d$', description: 'First day, instead of a period.' },
        to: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\d$', description: 'Last day. Default: today.' },
        ...Object.fromEntries(
          filterNames.map((name) => [
            name,
            {
              type: 'string' as const,
              description:
                name === 'sandbox' ? '1: only sandbox calls. 0: only other calls.' : `Only calls with this ${name}.`,
            },
          ]),
        ),
      },
      run: async ({ flags }) => {
        const by = flags['by'] as (typeof groupings)[number];
        const totals = await readTotals(ports, { by, given: flags });
        return totals.map(({ name, cost_usd, without_price, ...sums }) => {
          const cost = (cost_usd ?? 0) * 1_000_000;
          return {
            [by]: name,
            ...sums,
            cost_usd: cost_usd === null ? null : plainDollars(cost),
            cost: formatCost({ cost, calls: sums.calls, unpriced: without_price }),
            without_price,
          };
        });
      },
    },
  ];
}
