import { brokenLine, entryLines, type EntryLines } from './entry-lines.ts';
import { priceSchema, pricesSchema, type Price } from './price.ts';

/** What is wrong, and in which line of the text (from 1). */
export interface PriceFault {
  readonly line: number;
  readonly sentence: string;
}

export type PriceReading = { readonly prices: readonly Price[] } | { readonly faults: readonly PriceFault[] };

const shape = 'Write a list: [{"provider": "openai", "model": "gpt-5*", "input": 2.5, "output": 15}].';

/** Reads prices that a person typed as JSON. An empty text is an empty list. All faults are told, in the order of their lines. */
export function readPrices(text: string): PriceReading {
  if (text.trim() === '') return { prices: [] };
  const broken = brokenLine(text);
  if (broken !== null)
    return {
      faults: [
        {
          line: broken,
          sentence:
            'This is not JSON any more from here. Look for a missing or an extra comma, quote or bracket in this line or the one before.',
        },
      ],
    };
  const value = JSON.parse(text) as unknown;
  if (!Array.isArray(value)) return { faults: [{ line: 1, sentence: shape }] };
  if (value.length > pricesSchema.maxItems)
    return { faults: [{ line: 1, sentence: `There may be at most ${pricesSchema.maxItems} prices.` }] };
  const lines = entryLines(text);
  const faults = [...value.flatMap((entry, index) => faultsOf(entry, lines[index])), ...repeated(value, lines)];
  return faults.length > 0
    ? { faults: faults.sort((left, right) => left.line - right.line) }
    : { prices: value as Price[] };
}

function faultsOf(entry: unknown, place: EntryLines = { line: 1, members: {} }): PriceFault[] {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
    return [{ line: place.line, sentence: `A price is an object. ${shape}` }];
  const values = entry as Readonly<Record<string, unknown>>;
  const known = Object.keys(priceSchema.properties);
  const at = (name: string): number => place.members[name] ?? place.line;
  const unknown = Object.keys(values)
    .filter((name) => !known.includes(name))
    .map((name) => ({ line: at(name), sentence: `There is no member "${name}". Use ${known.join(', ')}.` }));
  const wrong = known.flatMap((name) => {
    const sentence = faultOf(name as keyof Price, values[name]);
    return sentence === null ? [] : [{ line: at(name), sentence }];
  });
  const priced = ['input', 'output', 'image'].some((name) => values[name] !== undefined);
  return [
    ...unknown,
    ...wrong,
    ...(priced
      ? []
      : [
          { line: place.line, sentence: 'Give at least one of input, output and image; 0 says that it costs nothing.' },
        ]),
  ];
}

function faultOf(name: keyof Price, value: unknown): string | null {
  if (name === 'provider' || name === 'model') {
    if (typeof value !== 'string' || value.trim() === '')
      return name === 'provider'
        ? '"provider" must be the id of a provider, such as "openai", or "*" for any.'
        : '"model" must be the name of a model; * stands for any characters: "gpt-5*".';
    if (name === 'provider' && !new RegExp(priceSchema.properties.provider.pattern).test(value))
      return `"provider" must be an id of lower-case letters and digits, or "*"; "${value}" is neither.`;
    return value.length > priceSchema.properties[name].maxLength
      ? `"${name}" may have at most ${priceSchema.properties[name].maxLength} characters.`
      : null;
  }
  if (value === undefined) return null;
  const { title, minimum = 0, maximum = Infinity } = priceSchema.properties[name];
  return typeof value === 'number' && value >= minimum && value <= maximum
    ? null
    : `"${name}" must be a number from ${minimum} to ${maximum}: ${title ?? ''}.`;
}

function repeated(entries: readonly unknown[], lines: readonly EntryLines[]): PriceFault[] {
  const seen = new Map<string, number>();
  return entries.flatMap((entry, index) => {
    const { provider, model } = (entry ?? {}) as Partial<Price>;
    const line = lines[index]?.line ?? 1;
    const name = JSON.stringify([provider, model]);
    const first = seen.get(name);
    if (first === undefined || provider === undefined) {
      seen.set(name, line);
      return [];
    }
    return [{ line, sentence: `The same provider and model have a price in line ${first} already. Keep one of them.` }];
  });
}

/** Prices as the editor shows them: one a line, so that what is said of a line is said of a price. */
export function writePrices(prices: readonly Price[]): string {
  if (prices.length === 0) return '';
  const line = (price: Price): string =>
    `  { ${Object.entries(price)
      .map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
      .join(', ')} }`;
  return `[\n${prices.map(line).join(',\n')}\n]`;
}
