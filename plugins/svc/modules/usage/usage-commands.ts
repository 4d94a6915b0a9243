import type { CliCommand } from '#plugin-api';
import { formatCost } from '../../kit/format-cost.ts';
import type { UsagePorts } from './module.ts';
import { plainDollars } from './usage-csv.ts';
import { filterNames, readFilter } from './usage-filter.ts';
import { groupings, groupUsage } from './usage-queries.ts';

/** `svc usage`. */
export function usageCommands({ host }: Pick<UsagePorts, 'host'>): CliCommand[] {
  return [
    {
      name: 'svc usage',
      description: 'Sum up the calls to providers. Days follow the time zone of the site.',
      flags: {
        by: { type: 'string', enum: groupings, default: 'provider', description: 'Grouping.' },
        period: {
          type: 'string',
          enum: ['today', '7', '30', '90'],
          default: '30',
          description: 'Days, today included.',
        },
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
        const by = groupings.find((name) => name === flags['by']) ?? 'provider';
        const custom = flags['from'] !== undefined || flags['to'] !== undefined;
        const filter = readFilter(
          { ...flags, ...(custom && { period: 'custom' }) },
          { now: host.clock.now(), timezone: await host.site.timezone() },
        );
        const groups = await groupUsage(host.database, filter, by);
        return groups.map(({ name, calls, failed, inputTokens, outputTokens, images, cost, unpriced, ...kinds }) => ({
          [by]: name,
          calls,
          failed,
          input_tokens: inputTokens,
          output_tokens: outputTokens,
          cached_tokens: kinds.cachedTokens,
          reasoning_tokens: kinds.reasoningTokens,
          images,
          cost_usd: unpriced > 0 && unpriced === calls ? null : plainDollars(cost),
          cost: formatCost({ cost, calls, unpriced }),
          without_price: unpriced,
        }));
      },
    },
  ];
}
