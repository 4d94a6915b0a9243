import {
  formatCount,
  formatDuration,
  formatMoney,
  formatNumber,
  formatPercent,
  localDay,
  type AdminHome,
  type HomeContext,
  type HomeHealth,
} from '#plugin-api';
import type { UsagePorts } from './module.ts';
import { chartView } from './usage-chart-view.ts';
import { addDays, daysOf } from './usage-filter.ts';
import { groupUsage, sumUsage, type UsageGroup, type UsageSums } from './usage-queries.ts';

const usageSlug = 'svc/usage';
/** Shares of failed calls from which a provider is shown as impaired and as failing. */
const someErrors = 0.05;
const failing = 0.5;

/** Adds spending, success rate, the calls per day and the state of each provider to the home page. */
export async function addUsageHome(
  ports: UsagePorts,
  home: AdminHome,
  { user, days }: HomeContext,
): Promise<AdminHome> {
  if (!user.can('manage_options')) return home;
  const { host, ledger } = ports;
  const today = localDay(host.clock.now(), await host.site.timezone());
  const [from, to] = [addDays(today, 1 - days), today];
  const filter = (first: string, last: string) => ({ period: 'custom', from: first, to: last, values: {} });
  await ledger.flush();
  const [now, before, perDay, providers] = await Promise.all([
    sumUsage(host.database, filter(from, to)),
    sumUsage(host.database, filter(addDays(from, -days), addDays(from, -1))),
    groupUsage(host.database, filter(from, to), 'day'),
    groupUsage(host.database, filter(today, today), 'provider'),
  ]);
  const span = daysOf({ from, to });
  const href = `${usageSlug}?period=${days === 1 ? 'today' : String(days)}`;
  const chart = chartView({ days: perDay, span, metric: 'calls', link: () => '' });
  return {
    ...home,
    tiles: [...home.tiles, spendingTile({ now, before, perDay, span, href }), successTile({ now, before, href })],
    chart: home.chart ?? (now.calls === 0 || days === 1 ? null : { ...chart, href }),
    health: [...home.health, ...(await providerHealth(ports, providers))],
  };
}

interface Figures {
  readonly now: UsageSums;
  readonly before: UsageSums;
  readonly href: string;
}

function spendingTile({
  now,
  before,
  perDay,
  span,
  href,
}: Figures & { readonly perDay: readonly UsageGroup[]; readonly span: readonly string[] }): AdminHome['tiles'][number] {
  const costs = new Map(perDay.map(({ name, cost }) => [name, cost]));
  return {
    label: 'Spending',
    value: formatMoney(now.cost),
    href: `${href}&metric=cost`,
    note: now.unpriced > 0 ? `${formatCount(now.unpriced, 'call')} without a price` : formatCount(now.calls, 'call'),
    change: { now: now.cost, before: before.cost },
    points: span.map((day) => costs.get(day) ?? 0),
  };
}

function successTile({ now, href }: Figures): AdminHome['tiles'][number] {
  if (now.calls === 0) return { label: 'Success rate', value: '–', note: 'No calls', href };
  return {
    label: 'Success rate',
    value: formatPercent(Math.floor((1000 * (now.calls - now.failed)) / now.calls) / 10),
    href: now.failed > 0 ? `${href}&outcome=failed` : href,
    note: `${formatDuration(now.duration / now.calls)} on average`,
  };
}

async function providerHealth(
  { providers, settings }: UsagePorts,
  groups: readonly UsageGroup[],
): Promise<HomeHealth[]> {
  const known = await Promise.all(
    providers.all().map(async (provider) => {
      const calls = groups.find(({ name }) => name === provider.id);
      return calls || (await settings.providers.isConnected(provider)) ? [healthOf(provider, calls)] : [];
    }),
  );
  return known.flat();
}

function healthOf(
  provider: { readonly id: string; readonly label: string },
  calls: UsageGroup | undefined,
): HomeHealth {
  const href = `${usageSlug}?period=today&provider=${encodeURIComponent(provider.id)}`;
  if (!calls || calls.calls === 0) return { label: provider.label, state: 'unknown', note: 'no calls today', href };
  const share = calls.failed / calls.calls;
  return {
    label: provider.label,
    state: share >= failing ? 'error' : share >= someErrors ? 'warning' : 'ok',
    note:
      `${formatNumber(calls.failed)} of ${formatCount(calls.calls, 'call')} failed today, ` +
      `${formatDuration(calls.duration / calls.calls)} on average`,
    href,
  };
}
