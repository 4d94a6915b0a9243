import { formatMoney } from '#plugin-api';
import type { Estimate } from '../write/estimate.ts';

/** `About 9,300 tokens, $0.012.` @param times texts of this kind */
export function estimateWords({ inputTokens, outputTokens, images, cost, unpriced }: Estimate, times = 1): string {
  const number = (value: number): string => value.toLocaleString('en-GB');
  const tokens = (inputTokens + outputTokens) * times;
  const drawn = images * times;
  const what = [
    `${number(rounded(tokens))} tokens`,
    ...(drawn > 0 ? [`${number(drawn)} ${drawn === 1 ? 'image' : 'images'}`] : []),
  ].join(' and ');
  return cost === null
    ? `About ${what}. No price is known for ${unpriced.join(', ')}.`
    : `About ${what}, ${formatMoney(cost * times)}.`;
}

/** What it did take. */
export function spentWords({
  tokens,
  cost,
  unpriced,
}: {
  readonly tokens: number;
  readonly cost: number;
  readonly unpriced: number;
}): string {
  return `${tokens.toLocaleString('en-GB')} tokens, ${formatMoney(cost)}${unpriced > 0 ? ' and calls without a known price' : ''}`;
}

/** Two digits: more would say what nobody knows. */
function rounded(value: number): number {
  if (value < 100) return value;
  const step = 10 ** (Math.floor(Math.log10(value)) - 1);
  return Math.round(value / step) * step;
}
