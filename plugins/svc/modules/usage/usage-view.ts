import { formatShortNumber, type AdminRequest } from '#plugin-api';
import type { UsageRow } from './ledger/usage-tables.ts';
import type { ServiceContext } from '../../wiring.ts';
import { nextStep } from './next-step.ts';
import { money } from './money.ts';
import { chartView, metricOf } from './usage-chart-view.ts';
import { daysOf, failed, filterQuery, longestPeriod, periods, readFilter, type UsageFilter } from './usage-filter.ts';
import {
  groupUsage,
  hasUsage,
  listUsage,
  sumUsage,
  usedValues,
  type UsageGroup,
  type UsagePlace,
  type UsageSums,
} from './usage-queries.ts';

export type UsageContext = Pick<ServiceContext, 'host' | 'settings' | 'providers' | 'ledger'>;

const perPage = 25;

/** The data of `svc/usage`. */
export async function usageView(context: UsageContext, query: AdminRequest['query']): Promise<Record<string, unknown>> {
  const { host } = context;
  const timezone = await host.site.timezone();
  const filter = readFilter(query, { now: host.clock.now(), timezone });
  // What this process noted a moment ago is shown as well.
  await context.ledger.flush();
  const [sums, any] = await Promise.all([sumUsage(host.database, filter), hasUsage(host.database)]);
  const kept = filterQuery(filter);
  const metric = metricOf(query['metric']);
  const base = {
    tabs: periodTabs(filter, metric),
    filter: await filterForm(context, filter),
    exportFields: kept,
    hasFilters: Object.keys(filter.values).length > 0,
  };
  if (sums.calls === 0) return { ...base, empty: any ? emptyPeriod(filter) : await nextStep(context) };
  const days = await groupUsage(host.database, filter, 'day');
  const groups = await Promise.all(
    (['provider', 'model', 'module', 'outcome'] as const).map(async (by) =>
      groupView({ by, groups: await groupUsage(host.database, filter, by), filter, sums, context }),
    ),
  );
  return {
    ...base,
    stats: statsOf(sums),
    unpriced: sums.unpriced,
    chart: chartView({ days, span: daysOf(filter), metric, address: (chosen) => address({ ...kept, metric: chosen }) }),
    groups,
    calls: await callsView(context, { filter, timezone, query, total: sums.calls }),
  };
}

function periodTabs(filter: UsageFilter, metric: string) {
  const kept = { ...filter.values, ...(metric !== 'calls' && { metric }) };
  return [
    ...periods.map(({ value, label }) => ({
      label,
      href: address({ period: value, ...kept }),
      current: filter.period === value,
    })),
    {
      label: 'Other days',
      href: address({ period: 'custom', from: filter.from, to: filter.to, ...kept }),
      current: filter.period === 'custom',
    },
  ];
}

/** The form of the filters; what is chosen stays a choice even where the period has none of it. */
async function filterForm({ host, providers }: UsageContext, filter: UsageFilter) {
  const labels = await providerLabels({ providers });
  const select = async (
    name: 'provider' | 'model' | 'module' | 'outcome',
    title: string,
    label = (value: string) => value,
  ) => {
    const values = new Set([
      ...(await usedValues(host.database, filter, name)),
      ...(filter.values[name] !== undefined ? [filter.values[name]] : []),
    ]);
    if (name === 'outcome') for (const own of ['ok', failed]) values.delete(own);
    const first =
      name === 'outcome'
        ? [
            { value: 'ok', label: 'Succeeded' },
            { value: failed, label: 'Failed' },
          ]
        : [];
    return {
      name,
      label: title,
      value: filter.values[name] ?? '',
      options: [
        { value: '', label: 'All' },
        ...first,
        ...[...values].sort().map((value) => ({ value, label: label(value) })),
      ],
    };
  };
  return {
    custom: filter.period === 'custom',
    period: filter.period,
    from: filter.from,
    to: filter.to,
    longestPeriod,
    fields: [
      await select('provider', 'Provider', (id) => labels.get(id) ?? id),
      await select('model', 'Model'),
      await select('module', 'Module'),
      {
        name: 'kind',
        label: 'Kind',
        value: filter.values.kind ?? '',
        options: [
          { value: '', label: 'All' },
          { value: 'text', label: 'Text' },
          { value: 'image', label: 'Images' },
          { value: 'embedding', label: 'Embeddings' },
        ],
      },
      await select('outcome', 'Outcome'),
      {
        name: 'sandbox',
        label: 'Answered by',
        value: filter.values.sandbox ?? '',
        options: [
          { value: '', label: 'All' },
          { value: '0', label: 'Providers' },
          { value: '1', label: 'The sandbox' },
        ],
      },
    ],
  };
}

async function providerLabels({ providers }: Pick<UsageContext, 'providers'>): Promise<Map<string, string>> {
  return new Map([...(await providers.all())].map(({ id, label }) => [id, label]));
}

function emptyPeriod(filter: UsageFilter) {
  const isWide = Object.keys(filter.values).length === 0 && filter.period === '90';
  return isWide
    ? {
        title: 'No calls in the last 90 days',
        text: 'Choose other days to look further back.',
        href: address({ period: 'custom', from: filter.from, to: filter.to }),
        label: 'Choose other days',
      }
    : {
        title: 'No calls fit',
        text: 'Nothing was noted in this period with these filters.',
        href: address({ period: '90' }),
        label: 'Show the last 90 days',
      };
}

function statsOf(sums: UsageSums) {
  const share = (sums.failed * 100) / sums.calls;
  return [
    {
      label: 'Calls',
      value: sums.calls,
      text: sums.failed === 0 ? 'none failed' : `${sums.failed} failed (${share < 1 ? 'under 1' : Math.round(share)}%)`,
    },
    {
      label: 'Cost',
      value: money(sums.cost),
      text: sums.unpriced === 0 ? 'by the price table' : `without ${sums.unpriced} calls`,
    },
    {
      label: 'Tokens',
      text: `${formatShortNumber(sums.inputTokens)} in, ${formatShortNumber(sums.outputTokens)} out`,
      short: formatShortNumber(sums.inputTokens + sums.outputTokens),
    },
    { label: 'Images', value: sums.images, text: '' },
    { label: 'Average time', duration: sums.duration / sums.calls, text: 'further tries included' },
  ];
}

interface GroupInit {
  readonly by: 'provider' | 'model' | 'module' | 'outcome';
  readonly groups: readonly UsageGroup[];
  readonly filter: UsageFilter;
  readonly sums: UsageSums;
  readonly context: UsageContext;
}

const titles = { provider: 'Providers', model: 'Models', module: 'Modules', outcome: 'Outcomes' } as const;
const shown = 10;

async function groupView({ by, groups, filter, sums, context }: GroupInit) {
  const labels = by === 'provider' ? await providerLabels(context) : new Map([['ok', 'Succeeded']]);
  return {
    by,
    title: titles[by],
    rows: groups.slice(0, shown).map((group) => ({
      ...group,
      label: labels.get(group.name) ?? group.name,
      code: by === 'model' || (by === 'outcome' && group.name !== 'ok'),
      href: address({ ...filterQuery(filter), [by]: group.name }),
      share: Math.round((group.calls * 100) / sums.calls),
      costText: group.unpriced === group.calls ? 'no price' : money(group.cost),
      tokens: group.inputTokens + group.outputTokens,
    })),
    more: Math.max(0, groups.length - shown),
  };
}

interface CallsInit {
  readonly filter: UsageFilter;
  readonly timezone: string;
  readonly query: AdminRequest['query'];
  readonly total: number;
}

async function callsView(context: UsageContext, { filter, timezone, query, total }: CallsInit) {
  const [before, after] = [placeOf(query['before']), placeOf(query['after'])];
  const found = await listUsage(context.host.database, { filter, timezone, limit: perPage + 1, before, after });
  const hasMore = found.length > perPage;
  const rows = after ? found.slice(hasMore ? 1 : 0) : found.slice(0, perPage);
  const [first, last] = [rows[0], rows.at(-1)];
  const kept = filterQuery(filter);
  const newer =
    first && (after ? hasMore : before !== undefined) ? address({ ...kept, after: place(first) }, 'calls') : null;
  const older = last && (after ?? hasMore) ? address({ ...kept, before: place(last) }, 'calls') : null;
  const labels = await providerLabels(context);
  return {
    rows: rows.map((row) => callView(row, labels)),
    total,
    newest: before || after ? address(kept, 'calls') : null,
    newer,
    older,
  };
}

function callView(row: UsageRow, labels: ReadonlyMap<string, string>) {
  const succeeded = row.outcome === 'ok';
  return {
    ...row,
    providerLabel: labels.get(row.provider) ?? row.provider,
    from: row.route ?? row.module,
    costText: row.sandbox === 1 ? '$0' : row.cost === null ? 'no price' : money(row.cost),
    badge: succeeded ? { text: 'Succeeded', kind: 'success' } : { text: 'Failed', kind: 'error' },
    code: succeeded ? '' : row.outcome,
    isSandbox: row.sandbox === 1,
  };
}

function place({ time, id }: UsagePlace): string {
  return `${time}.${id}`;
}

function placeOf(value: unknown): UsagePlace | undefined {
  const [, time, id] = typeof value === 'string' ? (/^(\d{1,15})\.(\d{1,15})$/.exec(value) ?? []) : [];
  return time === undefined || id === undefined ? undefined : { time: Number(time), id: Number(id) };
}

function address(query: Readonly<Record<string, string>>, anchor = ''): string {
  return `?${new URLSearchParams(query).toString()}${anchor === '' ? '' : `#${anchor}`}`;
}
