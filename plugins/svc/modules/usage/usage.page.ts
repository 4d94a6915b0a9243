import type { AdminPageBody } from '#plugin-api';
import { totalsCsv, usageCsv } from './usage-csv.ts';
import { groupings, readFilter } from './usage-filter.ts';
import { readTotals } from './usage-totals.ts';
import type { UsagePorts } from './module.ts';
import { usageView } from './usage-view.ts';

/** The page "Usage": sums, chart and calls of a period, and their export. */
export function createPage(ports: UsagePorts): AdminPageBody {
  const { host, ledger } = ports;
  return {
    render: async (request) => ({ template: 'svc/usage', data: await usageView(ports, request.query) }),
    actions: {
      export: async (request) => {
        const timezone = await host.site.timezone();
        const filter = readFilter(request.form, { now: host.clock.now(), timezone });
        await ledger.flush();
        const by = groupings.find((name) => name === request.form['by']);
        return {
          download: {
            name: `usage-${by === undefined ? '' : `by-${by}-`}${filter.from}-${filter.to}.csv`,
            type: 'text/csv; charset=utf-8; header=present',
            content:
              by === undefined
                ? usageCsv(host.database, { filter, timezone })
                : totalsCsv(by, () => readTotals(ports, { by, given: request.form })),
          },
        };
      },
    },
  };
}
