/** Made when it is used: it takes a start several milliseconds. */
let plain: Intl.NumberFormat | undefined;

/**
 * US dollars for calculations, such as `0.0021`: with the digits that they have, without the noise of sums and never with an
 * exponent. For people there is `formatMoney`.
 *
 * @param micro millionths of a US dollar, which have up to six decimals (D51)
 */
export function plainDollars(micro: number): string {
  plain ??= new Intl.NumberFormat('en-US', { useGrouping: false, maximumFractionDigits: 12 });
  return plain.format(Number((micro / 1_000_000).toPrecision(15)));
}

/** The same as a number, for JSON. Null stays: an unknown price is never 0. */
export function toDollars(micro: number): number;
export function toDollars(micro: number | null): number | null;
export function toDollars(micro: number | null): number | null {
  return micro === null ? null : Number(plainDollars(micro));
}
