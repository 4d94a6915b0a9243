/** `$0.0021`: as many digits as a small amount needs. @param micro millionths of a US dollar. */
export function dollars(micro: number): string {
  if (micro === 0) return '$0';
  const amount = micro / 1_000_000;
  if (amount >= 1) return `$${amount.toLocaleString('en-GB', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  return `$${amount.toFixed(Math.min(6, Math.max(2, 1 - Math.floor(Math.log10(amount)))))}`;
}
