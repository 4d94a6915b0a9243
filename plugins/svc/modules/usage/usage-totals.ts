import type { HostPort, UsagePort } from '../../ports.ts';
import { toDollars } from '../../kit/dollars.ts';
import { readFilter, type Grouping } from './usage-filter.ts';
import { groupUsage } from './usage-queries.ts';

/** Sums of the calls of one group, as REST and the command line have them. */
export interface UsageTotals {
  /** Value of the grouping; `0` or empty for calls without one. */
  readonly name: string;
  readonly calls: number;
  readonly failed: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_tokens: number;
  readonly reasoning_tokens: number;
  readonly images: number;
  /** Null if no call has a price. */
  readonly cost_usd: number | null;
  readonly without_price: number;
}

export interface TotalsInit {
  readonly by: Grouping;
  /** Period, days and filters as `readFilter` takes them, each optional. `from` or `to` replace the period. */
  readonly given: Readonly<Record<string, unknown>>;
}

/** Totals of the ledger, calls that this process has just recorded included; groups with the most calls first, days in order. */
export async function readTotals(
  { host, ledger }: Pick<HostPort, 'host'> & Pick<UsagePort, 'ledger'>,
  { by, given }: TotalsInit,
): Promise<UsageTotals[]> {
  const isCustom = given['from'] !== undefined || given['to'] !== undefined;
  const texts = Object.entries(given).map(([name, value]) => [name, typeof value === 'number' ? String(value) : value]);
  const filter = readFilter(
    { ...(Object.fromEntries(texts) as Record<string, unknown>), ...(isCustom && { period: 'custom' }) },
    { now: host.clock.now(), timezone: await host.site.timezone() },
  );
  await ledger.flush();
  return (await groupUsage(host.database, filter, by)).map((group) => ({
    name: group.name,
    calls: group.calls,
    failed: group.failed,
    input_tokens: group.inputTokens,
    output_tokens: group.outputTokens,
    cached_tokens: group.cachedTokens,
    reasoning_tokens: group.reasoningTokens,
    images: group.images,
    cost_usd: group.unpriced > 0 && group.unpriced === group.calls ? null : toDollars(group.cost),
    without_price: group.unpriced,
  }));
}
