import type { Clock, Logger } from '#plugin-api';
import type { UsageCounts } from '../../../ai/ports.ts';
import { inputTokenKinds, outputTokenKinds, type TokenDetails, type TokenKind } from '../../../kit/token-details.ts';
import { findPrice, type Price, type PriceTable } from '../prices/price.ts';
import type { CallPrice, UsageRecord } from './usage-record.ts';
import { wholeCounts } from './usage-row.ts';

export type PricedUsage = Pick<
  UsageRecord,
  'provider' | 'model' | 'inputTokens' | 'outputTokens' | 'tokenDetails' | 'images' | 'seconds' | 'size' | 'quality'
> &
  Partial<Pick<UsageRecord, 'kind'>>;

export interface CallPriceParts {
  readonly host: { readonly log: Logger; readonly clock: Pick<Clock, 'now'> };
  readonly prices: () => Promise<PriceTable>;
  /** Whether the sandbox responds to calls now: they cost nothing. */
  readonly isSandbox: () => Promise<boolean>;
}

/** Prices calls by the price table and the sandbox mode of the moment. Never rejects: on an error the price is unknown. */
export function createCallPrices({ prices, isSandbox, host }: CallPriceParts) {
  return async (usage: PricedUsage, attempts?: UsageCounts['attempts']): Promise<CallPrice> => {
    try {
      const sandbox = await isSandbox();
      if (sandbox) return { sandbox, cost: 0 };
      const [table, time] = [await prices(), host.clock.now()];
      return { sandbox, cost: priceOfAttempts(usage, attempts, (used) => priceOf(wholeCounts(used), table, time)) };
    } catch (error) {
      host.log.warn('Failed to price a call', { event: 'call_price_failed', error });
      return { sandbox: false, cost: null };
    }
  };
}

/** The cost of a call whose attempts are billed one by one: a vendor may have other prices for long prompts. */
function priceOfAttempts(
  usage: PricedUsage,
  attempts: UsageCounts['attempts'],
  price: (usage: PricedUsage) => number | null,
): number | null {
  if (attempts === undefined || (attempts.length === 1 && attempts[0]?.reportedCost === undefined)) return price(usage);
  let sum = 0;
  for (const { usage: used, tokenDetails, reportedCost } of attempts) {
    const [inputTokens, outputTokens] = [used?.input_tokens ?? 0, used?.output_tokens ?? 0];
    const cost = reportedCost ?? price({ ...usage, inputTokens, outputTokens, tokenDetails });
    if (cost === null) return null;
    sum += cost;
  }
  return sum;
}

/**
 * What a call costs, in millionths of a US dollar; null if a figure it needs is unknown. A call that used nothing
 * costs nothing, whatever the prices. Prices are per million tokens, so a token's price in dollars is its price here in
 * millionths.
 *
 * Kinds of tokens with a price of their own cost that, the others as much as input or output (D32): a missing discount for
 * cached tokens makes the figure too high, never too low.
 *
 * A model with a price per token and one per image costs the sum of both; with one per image or second alone, its images or
 * videos cost that and their tokens nothing. Images without counted tokens have no price by tokens.
 *
 * @param time of the call, in milliseconds since the epoch. Missing: only prices without dates apply.
 */
export function priceOf(usage: PricedUsage, prices: PriceTable, time?: number): number | null {
  const { inputTokens, outputTokens, tokenDetails: details, images, seconds = 0, kind } = usage;
  if (inputTokens === 0 && outputTokens === 0 && images === 0 && seconds === 0) return 0;
  const price = findPrice(usage, prices, time);
  if (price === null) return null;
  const isOfImages = (images > 0 || kind === 'image') && price.image !== undefined;
  const free = isOfImages || (kind === 'video' && price.second !== undefined) ? 0 : undefined;
  const parts = [
    tokenCost(inputTokens, { price, details, kinds: inputTokenKinds, each: price.input ?? free }),
    tokenCost(outputTokens, { price, details, kinds: outputTokenKinds, each: price.output ?? free }),
    // A model whose images are paid for as tokens has no price per image; without tokens their cost is unknown.
    images > 0 && price.image === undefined && outputTokens > 0
      ? 0
      : partialCost(images, price.image === undefined ? undefined : price.image * 1_000_000),
    partialCost(seconds, price.second === undefined ? undefined : price.second * 1_000_000),
  ];
  let sum = 0;
  for (const cost of parts) {
    if (cost === null) return null;
    sum += cost;
  }
  return sum / precision;
}

/** Parts are whole numbers of millionths of the result, so that their sum is exact. */
const precision = 1_000_000;

interface TokenPrices {
  readonly price: Price;
  readonly details: TokenDetails | undefined;
  readonly kinds: readonly TokenKind[];
  /** Price of a token of no kind, and of a kind without a price. */
  readonly each: number | undefined;
}

/** The cost of each kind and of the rest. Kinds never add up to more than all tokens, whatever was reported. */
function tokenCost(all: number, { price, details, kinds, each }: TokenPrices): number | null {
  let rest = all;
  let sum = 0;
  for (const kind of details === undefined ? [] : kinds) {
    const count = Math.min(rest, details?.[kind] ?? 0);
    const cost = partialCost(count, price[kind] ?? each);
    if (cost === null) return null;
    rest -= count;
    sum += cost;
  }
  const cost = partialCost(rest, each);
  return cost === null ? null : sum + cost;
}

/** Nothing used costs nothing even without a price. */
function partialCost(count: number, each: number | undefined): number | null {
  if (count === 0) return 0;
  return each === undefined ? null : count * Math.round(each * precision);
}
