import { formatCount, formatMoney, formatNumber, formatShortNumber, translateText } from '#plugin-api';
import type { AdminRequest, Choice } from '#plugin-api';
import { queryHref } from '../../admin-ui/form-values.ts';
import { formatCost } from '../../kit/format-cost.ts';
import { moduleTitles } from '../../kit/module-titles.ts';
import type { UsageRow } from './ledger/usage-tables.ts';
import type { UsagePorts } from './module.ts';
import { chartView, readMetric } from './usage-chart-view.ts';
import {
  daysOf,
  failed,
  filterQuery,
  groupings,
  maxPeriod,
  periods,
  readFilter,
  type Grouping,
  type UsageFilter,
} from './usage-filter.ts';
import { outcomeLabel } from './outcome-labels.ts';
import {
  groupUsage,
  hasUsage,
  listUsage,
  sumUsage,
  usedValues,
  type UsageGroup,
  type UsageCursor,
  type UsageSums,
} from './usage-queries.ts';

const perPage = 25;

/** The data of `svc/usage`. */
export async function usageView(ports: UsagePorts, query: AdminRequest['query']): Promise<Record<string, unknown>> {
  const { host, ledger } = ports;
  const timezone = await host.site.timezone();
  const filter = readFilter(query, { now: host.clock.now(), timezone });
  // Includes the calls that this process has just recorded.
  await ledger.flush();
  const [sums, any] = await Promise.all([sumUsage(host.database, filter), hasUsage(host.database)]);
  const filterParams = filterQuery(filter);
  const metric = readMetric(query['metric']);
  const base = {
    tabs: periodTabs(filter, metric),
    filter: await filterForm(ports, filter),
    exportFields: filterParams,
    exports: [{ value: '', label: 'Calls' }, ...groupings.map((by) => ({ value: by, label: exportLabels[by] }))],
    hasFilters: Object.keys(filter.values).length > 0,
  };
  if (sums.calls === 0) return { ...base, empty: any ? emptyPeriod(filter) : await nextStep(ports) };
  const days = await groupUsage(host.database, filter, 'day');
  const groups = await Promise.all(
    shownGroupings.map(async (by) =>
      groupView({ by, groups: await groupUsage(host.database, filter, by), filter, sums, ports }),
    ),
  );
  return {
    ...base,
    stats: statsOf(sums),
    unpriced: sums.unpriced,
    chart: chartView({
      days,
      span: daysOf(filter),
      metric,
      link: (chosen) => queryHref({ ...filterParams, metric: chosen }),
    }),
    // Who calls is shown once a call has a caller of the kind.
    groups: groups.filter(({ by, rows }) => !isCaller(by) || rows.length > 0),
    calls: await callsView(ports, { filter, timezone, query, total: sums.calls }),
  };
}

function periodTabs(filter: UsageFilter, metric: string) {
  const otherParams = { ...filter.values, ...(metric !== 'calls' && { metric }) };
  return [
    ...periods.map(({ value, label }) => ({
      label,
      href: queryHref({ period: value, ...otherParams }),
      current: filter.period === value,
    })),
    {
      label: 'Custom',
      href: queryHref({ period: 'custom', from: filter.from, to: filter.to, ...otherParams }),
      current: filter.period === 'custom',
    },
  ];
}

/** The form of the filters. A selected value stays an option even if the period has no such calls. */
async function filterForm({ host, providers }: UsagePorts, filter: UsageFilter) {
  const labels = providerLabels({ providers });
  const field = (name: keyof UsageFilter['values'], label: string, options: readonly Choice[]) => ({
    ...{ name, label },
    value: filter.values[name] ?? '',
    options: [{ value: '', label: 'All' }, ...options],
  });
  const select = async (
    name: 'provider' | 'model' | 'module' | 'outcome' | 'plugin',
    title: string,
    label = (value: string) => value,
  ) => {
    const values = new Set([
      ...(await usedValues(host.database, filter, name)),
      ...(filter.values[name] !== undefined ? [filter.values[name]] : []),
    ]);
    // No plugin: a call of the service.
    values.delete('');
    if (name === 'outcome') for (const fixed of ['ok', failed]) values.delete(fixed);
    const first =
      name === 'outcome'
        ? [
            { value: 'ok', label: 'Succeeded' },
            { value: failed, label: 'Failed' },
          ]
        : [];
    return field(name, title, [...first, ...[...values].sort().map((value) => ({ value, label: label(value) }))]);
  };
  const plugin = await select('plugin', 'Plugin');
  return {
    custom: filter.period === 'custom',
    period: filter.period,
    from: filter.from,
    to: filter.to,
    maxPeriod,
    fields: [
      await select('provider', 'Provider', (id) => labels.get(id) ?? id),
      await select('model', 'Model'),
      await select('module', 'Module', moduleLabel),
      field('kind', 'Kind', [
        { value: 'text', label: 'Text' },
        { value: 'image', label: 'Images' },
        { value: 'video', label: 'Videos' },
        { value: 'embedding', label: 'Embeddings' },
      ]),
      await select('outcome', 'Outcome', outcomeLabel),
      field('sandbox', 'Source', [
        { value: '0', label: 'Providers' },
        { value: '1', label: 'Sandbox' },
      ]),
      ...(plugin.options.length > 1 ? [plugin] : []),
    ],
  };
}

function providerLabels({ providers }: Pick<UsagePorts, 'providers'>): Map<string, string> {
  return new Map(providers.all().map(({ id, label }) => [id, label]));
}

function emptyPeriod(filter: UsageFilter) {
  const isWide = Object.keys(filter.values).length === 0 && filter.period === '90';
  return isWide
    ? {
        title: 'No calls in the last 90 days',
        text: 'Choose custom days to look further back.',
        href: queryHref({ period: 'custom', from: filter.from, to: filter.to }),
        label: 'Choose days',
      }
    : {
        title: 'No matching calls',
        text: 'No calls in this period match the filters.',
        href: queryHref({ period: '90' }),
        label: 'Show the last 90 days',
      };
}

function statsOf(sums: UsageSums) {
  const share = (sums.failed * 100) / sums.calls;
  const failedShare = share < 1 ? 'under 1' : String(Math.round(share));
  return [
    {
      label: 'Calls',
      value: sums.calls,
      text: sums.failed === 0 ? 'none failed' : `${formatNumber(sums.failed)} failed (${failedShare}%)`,
    },
    {
      label: 'Cost',
      value: sums.unpriced > 0 && sums.unpriced === sums.calls ? 'Unknown' : formatMoney(sums.cost),
      text: sums.unpriced === 0 ? 'estimated' : `without ${formatCount(sums.unpriced, 'call')}`,
    },
    {
      label: 'Tokens',
      text: `${formatShortNumber(sums.inputTokens)} in, ${formatShortNumber(sums.outputTokens)} out`,
      short: formatShortNumber(sums.inputTokens + sums.outputTokens),
    },
    { label: 'Images', value: sums.images, text: '' },
    { label: 'Average time', duration: sums.duration / sums.calls, text: 'including retries' },
  ];
}

interface GroupInit {
  readonly by: (typeof shownGroupings)[number];
  readonly groups: readonly UsageGroup[];
  readonly filter: UsageFilter;
  readonly sums: UsageSums;
  readonly ports: UsagePorts;
}

/** `rest` for calls with the REST key, `service` for the service itself. */
function moduleLabel(id: string): string {
  return moduleTitles[id] ?? (id === 'rest' ? 'REST API' : id === 'service' ? 'AI service' : id);
}

const shownGroupings = ['provider', 'model', 'module', 'outcome', 'key_id', 'user_id', 'bot_id', 'plugin'] as const;
const callers: readonly string[] = ['key_id', 'user_id', 'bot_id', 'plugin'];
const isCaller = (by: string): boolean => callers.includes(by);

const titles = {
  provider: 'Providers',
  model: 'Models',
  module: 'Modules',
  outcome: 'Outcomes',
  key_id: 'Named keys',
  user_id: 'Users',
  bot_id: 'Chatbots',
  plugin: 'Plugins',
} as const;
const maxRows = 10;

const exportLabels: Readonly<Record<Grouping, string>> = {
  day: 'Totals by day',
  provider: 'Totals by provider',
  model: 'Totals by model',
  module: 'Totals by module',
  kind: 'Totals by kind of call',
  outcome: 'Totals by outcome',
  bot_id: 'Totals by chatbot',
  key_id: 'Totals by named key',
  user_id: 'Totals by user',
  plugin: 'Totals by plugin',
};

async function groupView({ by, groups: found, filter, sums, ports }: GroupInit) {
  const groups = isCaller(by) ? found.filter(({ name }) => name !== '0' && name !== '') : found;
  const shown = groups.slice(0, maxRows).map(({ name }) => name);
  const labels =
    by === 'provider'
      ? providerLabels(ports)
      : isCaller(by)
        ? await callerLabels(by, shown, ports)
        : new Map(by === 'outcome' ? shown.map((code) => [code, outcomeLabel(code)]) : []);
  return {
    by,
    title: titles[by],
    rows: groups.slice(0, maxRows).map((group) => ({
      ...group,
      isData: isCaller(by),
      label: by === 'module' ? moduleLabel(group.name) : (labels.get(group.name) ?? group.name),
      code: by === 'model',
      detail: by === 'outcome' && group.name !== 'ok' ? group.name : '',
      href: queryHref({ ...filterQuery(filter), [by]: group.name }),
      share: Math.round((group.calls * 100) / sums.calls),
      costText: formatCost(group),
      tokens: group.inputTokens + group.outputTokens,
    })),
    more: Math.max(0, groups.length - maxRows),
  };
}

const deletedCallers: Readonly<Record<string, (id: string) => string>> = {
  key_id: (id) => translateText(`Key ${id}`),
  user_id: (id) => translateText(`User ${id}`),
  bot_id: (id) => translateText(`Chatbot ${id}`),
};

/** Names of users, chatbots and keys; ids of those that were deleted. */
async function callerLabels(
  by: string,
  ids: readonly string[],
  { host, botReplies, namedKeys }: Pick<UsagePorts, 'host' | 'botReplies' | 'namedKeys'>,
): Promise<Map<string, string>> {
  const records = by === 'bot_id' ? await botReplies.list() : by === 'key_id' ? await namedKeys() : [];
  const nameOf = async (id: number): Promise<string | undefined> =>
    by === 'user_id' ? (await host.users.get(id))?.displayName : records.find((record) => record.id === id)?.name;
  const label = async (id: string): Promise<string> => (await nameOf(Number(id))) ?? deletedCallers[by]?.(id) ?? id;
  return new Map(await Promise.all(ids.map(async (id) => [id, await label(id)] as const)));
}

interface CallsInit {
  readonly filter: UsageFilter;
  readonly timezone: string;
  readonly query: AdminRequest['query'];
  readonly total: number;
}

async function callsView(ports: UsagePorts, { filter, timezone, query, total }: CallsInit) {
  const [before, after] = [parseCursor(query['before']), parseCursor(query['after'])];
  const found = await listUsage(ports.host.database, { filter, timezone, limit: perPage + 1, before, after });
  const hasMore = found.length > perPage;
  const rows = after ? found.slice(hasMore ? 1 : 0) : found.slice(0, perPage);
  const [first, last] = [rows[0], rows.at(-1)];
  const filterParams = filterQuery(filter);
  const newer =
    first && (after ? hasMore : before !== undefined)
      ? queryHref({ ...filterParams, after: formatCursor(first) }, 'calls')
      : null;
  const older = last && (after ?? hasMore) ? queryHref({ ...filterParams, before: formatCursor(last) }, 'calls') : null;
  const labels = providerLabels(ports);
  return {
    rows: rows.map((row) => callView(row, labels)),
    total,
    newest: before || after ? queryHref(filterParams, 'calls') : null,
    newer,
    older,
  };
}

function callView(row: UsageRow, labels: ReadonlyMap<string, string>) {
  const succeeded = row.outcome === 'ok';
  return {
    ...row,
    providerLabel: labels.get(row.provider) ?? row.provider,
    from: row.route ?? moduleLabel(row.module),
    costText: row.sandbox === 1 ? '$0' : row.cost === null ? 'Unknown price' : formatMoney(row.cost),
    badge: succeeded ? { text: 'Succeeded', kind: 'success' } : { text: 'Failed', kind: 'error' },
    code: succeeded ? '' : row.outcome,
    reason: succeeded ? '' : outcomeLabel(row.outcome),
    isSandbox: row.sandbox === 1,
  };
}

function formatCursor({ time, id }: UsageCursor): string {
  return `${time}.${id}`;
}

function parseCursor(value: unknown): UsageCursor | undefined {
  const [, time, id] = typeof value === 'string' ? (/^(\d{1,15})\.(\d{1,15})$/.exec(value) ?? []) : [];
  return time === undefined || id === undefined ? undefined : { time: Number(time), id: Number(id) };
}

/** The next step towards a first call. */
async function nextStep({ settings, providers, host }: UsagePorts): Promise<Record<string, string>> {
  const title = 'No calls yet';
  const [sandbox, masked] = await Promise.all([settings.sandbox.isOn(), settings.restKey.masked()]);
  const ready = await Promise.all(providers.all().map((provider) => settings.providers.isConnected(provider)));
  if (!sandbox && !ready.includes(true)) {
    return {
      title,
      text: 'This page shows every call to a provider, with its tokens and cost. Set up a provider first.',
      href: host.admin.url('svc/setup'),
      label: 'Set up a provider',
    };
  }
  if (masked === null)
    return {
      title,
      text: 'This page shows every call to a provider, with its tokens and cost. API callers need a REST key.',
      href: `${host.admin.url('svc')}#rest-key`,
      label: 'Create an API key',
    };
  return {
    title,
    text: 'Everything is ready. Your first call appears here within a second.',
    href: host.admin.url('rest'),
    label: 'View the API reference',
  };
}
