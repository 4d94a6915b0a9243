const units = [
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const;

/** Few letters for a large number: `1.02M`, `340k`, `12`. */
export function shortNumber(value: number): string {
  const [unit, letter] = units.find(([size]) => value >= size) ?? [1, ''];
  return `${Number((value / unit).toPrecision(3))}${letter}`;
}
