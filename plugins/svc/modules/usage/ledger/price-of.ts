import { findPrice, type PriceTable } from '../prices/price.ts';
import type { UsageRecord } from '../../../ai/usage-record.ts';

export type PricedUsage = Pick<UsageRecord, 'provider' | 'model' | 'inputTokens' | 'outputTokens' | 'images'>;

/**
 * What a call costs, in whole millionths of a US dollar; null when a figure that it needs is not known. A call that used
 * nothing costs nothing, whatever the prices. Prices are per million tokens, so that a token's price in dollars is its
 * price here in millionths.
 *
 * Where a model has a price per token and one per image, both are added; images alone, without counted tokens, are not
 * priced by tokens.
 */
export function priceOf(usage: PricedUsage, prices: PriceTable): number | null {
  const { inputTokens, outputTokens, images } = usage;
  if (inputTokens === 0 && outputTokens === 0 && images === 0) return 0;
  const price = findPrice(usage, prices);
  if (price === null) return null;
  const parts = [
    part(inputTokens, price.input),
    part(outputTokens, price.output),
    // A model whose images are paid for as tokens has no price per image; without its tokens nothing can be said.
    images > 0 && price.image === undefined && outputTokens > 0
      ? 0
      : part(images, price.image === undefined ? undefined : price.image * 1_000_000),
  ];
  const sum = parts.reduce<number | null>((total, cost) => (total === null || cost === null ? null : total + cost), 0);
  return sum === null ? null : Math.round(sum);
}

/** Nothing used costs nothing even without a price. */
function part(count: number, each: number | undefined): number | null {
  if (count === 0) return 0;
  return each === undefined ? null : count * each;
}
