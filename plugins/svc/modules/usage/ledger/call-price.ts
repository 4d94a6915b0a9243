import type { Logger } from '#plugin-api';
import type { PriceTable } from '../prices/price.ts';
import type { CallPrice, UsageLedger } from '../../../ai/usage-record.ts';
import { priceOf } from './price-of.ts';
import { wholeCounts } from './usage-row.ts';

export interface CallPriceParts {
  readonly host: { readonly log: Logger };
  readonly prices: () => Promise<PriceTable>;
  /** Whether calls are answered by the sandbox at this moment: they cost nothing. */
  readonly isSandbox: () => Promise<boolean>;
}

/** What calls cost by the price table and the switch of the sandbox at the moment of asking. */
export function createCallPrices({ prices, isSandbox, host }: CallPriceParts): UsageLedger['price'] {
  return async (usage): Promise<CallPrice> => {
    try {
      const sandbox = await isSandbox();
      return { sandbox, cost: sandbox ? 0 : priceOf(wholeCounts(usage), await prices()) };
    } catch (error) {
      host.log.warn('What a call costs could not be found out.', { error });
      return { sandbox: false, cost: null };
    }
  };
}
