import type { CliCommand } from '#plugin-api';
import { money, plainDollars } from './money.ts';
import { filterNames, readFilter } from './usage-filter.ts';
import { groupUsage } from './usage-queries.ts';
import type { UsageContext } from './usage-view.ts';

const groupings = ['day', 'provider', 'model', 'module', 'kind', 'outcome'] as const;

/** `svc usage`. */
export function usageCommands({ host }: UsageContext): CliCommand[] {
  return [
    {
      name: 'svc usage',
      description: 'Sum up the calls to providers in the usage ledger. Times and days are those of the site.',
      flags: {
        by: { type: 'string', enum: groupings, default: 'provider', description: 'What to sum up by.' },
        period: {
          type: 'string',
          enum: ['today', '7', '30', '90'],
          default: '30',
          description: 'Days, today included.',
        },
        from: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\d$', description: 'First day, in place of a period.' },
        to: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\d$', description: 'Last day. Default today.' },
        ...Object.fromEntries(
          filterNames.map((name) => [
            name,
            {
              type: 'string' as const,
              description: `Only calls with this ${name === 'sandbox' ? 'mark: 1 for those the sandbox answered, 0 for others' : name}.`,
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
        return groups.map(({ name, calls, failed, inputTokens, outputTokens, images, cost, unpriced }) => ({
          [by]: name,
          calls,
          failed,
          input_tokens: inputTokens,
          output_tokens: outputTokens,
          images,
          cost_usd: plainDollars(cost),
          cost: money(cost),
          without_price: unpriced,
        }));
      },
    },
  ];
}
