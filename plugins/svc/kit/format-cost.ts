import { formatCount, formatMoney } from '#plugin-api';

/** What calls to providers cost. */
export interface Cost {
  /** Millionths of a US dollar, without the calls that have no price. */
  readonly cost: number;
  readonly calls: number;
  /** Calls with an unknown price. */
  readonly unpriced: number;
}

/** `$1.20`, `Unknown price`, or `$1.20, plus 2 calls with an unknown price`: an unknown price is never shown as $0. */
export function formatCost({ cost, calls, unpriced }: Cost): string {
  if (unpriced === 0) return formatMoney(cost);
  return unpriced >= calls
    ? 'Unknown price'
    : `${formatMoney(cost)}, plus ${formatCount(unpriced, 'call')} with an unknown price`;
}
