import type { Logger } from '#plugin-api';
import { findPrice, type PriceTable } from '../prices/price.ts';
import type { CallPrice, UsageRecord } from './usage-record.ts';
import { wholeCounts } from './usage-row.ts';

export type PricedUsage = Pick<
  UsageRecord,
  'provider' | 'model' | 'inputTokens' | 'outputTokens' | 'images' | 'seconds' | 'size' | 'quality'
>;

export interface CallPriceParts {
  readonly host: { readonly log: Logger };
  readonly prices: () => Promise<PriceTable>;
  /** Whether the sandbox responds to calls now: they cost nothing. */
  readonly isSandbox: () => Promise<boolean>;
}

/** Prices calls by the price table and the sandbox mode of the moment. Never rejects: on an error the price is unknown. */
export function createCallPrices({ prices, isSandbox, host }: CallPriceParts) {
  return async (usage: PricedUsage): Promise<CallPrice> => {
    try {
      const sandbox = await isSandbox();
      return { sandbox, cost: sandbox ? 0 : priceOf(wholeCounts(usage), await prices()) };
    } catch (error) {
      host.log.warn('Failed to price a call', { event: 'call_price_failed', error });
      return { sandbox: false, cost: null };
    }
  };
}

/**
 * What a call costs, in whole millionths of a US dollar; null if a figure it needs is unknown. A call that used nothing
 * costs nothing, whatever the prices. Prices are per million tokens, so a token's price in dollars is its price here in
 * millionths.
 *
 * A model with a price per token and one per image costs the sum of both; with one per image alone, its images cost that
 * and their tokens nothing. Images without counted tokens have no price by tokens.
 */
export function priceOf(usage: PricedUsage, prices: PriceTable): number | null {
  const { inputTokens, outputTokens, images, seconds = 0 } = usage;
  if (inputTokens === 0 && outputTokens === 0 && images === 0 && seconds === 0) return 0;
  const price = findPrice(usage, prices);
  if (price === null) return null;
  const perImage = images > 0 && price.image !== undefined;
  const parts = [
    partialCost(inputTokens, price.input ?? (perImage ? 0 : undefined)),
    partialCost(outputTokens, price.output ?? (perImage ? 0 : undefined)),
    // A model whose images are paid for as tokens has no price per image; without tokens their cost is unknown.
    images > 0 && price.image === undefined && outputTokens > 0
      ? 0
      : partialCost(images, price.image === undefined ? undefined : price.image * 1_000_000),
    partialCost(seconds, price.second === undefined ? undefined : price.second * 1_000_000),
  ];
  const sum = parts.reduce<number | null>((total, cost) => (total === null || cost === null ? null : total + cost), 0);
  return sum === null ? null : Math.round(sum);
}

/** Nothing used costs nothing even without a price. */
function partialCost(count: number, each: number | undefined): number | null {
  if (count === 0) return 0;
  return each === undefined ? null : count * each;
}
