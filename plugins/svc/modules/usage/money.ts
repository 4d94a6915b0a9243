/** An amount as people read it: `$12.34`, and as many digits as a small one needs: `$0.0021`. @param micro millionths of a US dollar. */
export function money(micro: number): string {
  const dollars = micro / 1_000_000;
  if (micro === 0) return '$0';
  if (dollars >= 1) return `$${grouped(dollars.toFixed(2))}`;
  // Two digits that say something; nothing is shown as $0 that is not.
  const digits = Math.min(6, Math.max(2, 1 - Math.floor(Math.log10(dollars))));
  return `$${dollars.toFixed(digits)}`;
}

function grouped(text: string): string {
  return text.replace(/\B(?=(\d{3})+(?=\.))/g, ',');
}

/** For tables to be calculated with: `0.002100`. */
export function plainDollars(micro: number | null): string {
  return micro === null ? '' : (micro / 1_000_000).toFixed(6);
}
