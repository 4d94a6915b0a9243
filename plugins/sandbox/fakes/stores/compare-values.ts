/** Filters of numbers by their operator. */
export const orders: Readonly<Record<string, (held: number, value: number) => boolean>> = {
  $gt: (held, value) => held > value,
  $gte: (held, value) => held >= value,
  $lt: (held, value) => held < value,
  $lte: (held, value) => held <= value,
};

export function isScalar(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}
