import { formatNumber, asRecord } from '#plugin-api';
import { priceFigures, priceSchema, pricesSchema, type Price } from './price.ts';

/** An error, and the line of the text it is in (from 1). */
export interface PriceError {
  readonly line: number;
  readonly sentence: string;
}

export type PriceReading = { readonly prices: readonly Price[] } | { readonly errors: readonly PriceError[] };

const shape = 'Write a list: [{"provider": "openai", "model": "gpt-5*", "input": 2.5, "output": 15}].';

const invalidJson =
  'The JSON is invalid from here. Look for a missing or extra comma, quote or bracket in this line or the one before.';

/** Reads prices typed as JSON. An empty text is an empty list. Returns all errors, sorted by line. */
export function readPrices(text: string): PriceReading {
  if (text.trim() === '') return { prices: [] };
  const invalid = invalidLine(text);
  if (invalid !== null) return { errors: [{ line: invalid, sentence: invalidJson }] };
  const value = JSON.parse(text) as unknown;
  if (!Array.isArray(value)) return { errors: [{ line: 1, sentence: shape }] };
  if (value.length > pricesSchema.maxItems)
    return { errors: [{ line: 1, sentence: `Enter at most ${formatNumber(pricesSchema.maxItems)} prices.` }] };
  const lines = entryLines(text);
  const errors = [
    ...value.flatMap((entry, index) => entryErrors(entry, lines[index])),
    ...duplicateErrors(value, lines),
  ];
  return errors.length > 0
    ? { errors: errors.sort((left, right) => left.line - right.line) }
    : { prices: value as Price[] };
}

/** Reads `{"date": "2026-12-01", "prices": [...]}`, as an import file has it. Returns all errors, by the lines of the file. */
export function readPriceList(
  text: string,
): { readonly date: string; readonly prices: readonly Price[] } | { readonly errors: readonly PriceError[] } {
  const invalid = invalidLine(text);
  if (invalid !== null) return { errors: [{ line: invalid, sentence: invalidJson }] };
  const value = JSON.parse(text) as unknown;
  const { date, prices, ...others } = asRecord(value);
  if (typeof date !== 'string' || !isDay(date) || !Array.isArray(prices) || Object.keys(others).length > 0)
    return { errors: [{ line: 1, sentence: 'Write an object: {"date": "2026-12-01", "prices": [...]}.' }] };
  // The date has no brackets, so the list is all from the first to the last.
  const start = text.indexOf('[');
  const before = text.slice(0, start).split('\n').length - 1;
  const reading = readPrices(text.slice(start, text.lastIndexOf(']') + 1));
  return 'errors' in reading
    ? { errors: reading.errors.map(({ line, sentence }) => ({ line: line + before, sentence })) }
    : { date, prices: reading.prices };
}

function isDay(text: string): boolean {
  return text.length === 10 && Number.isFinite(Date.parse(`${text}T00:00:00Z`));
}

function entryErrors(entry: unknown, lines: EntryLines = { line: 1, members: {} }): PriceError[] {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
    return [{ line: lines.line, sentence: `A price must be an object. ${shape}` }];
  const values = entry as Readonly<Record<string, unknown>>;
  const known = Object.keys(priceSchema.properties);
  const at = (name: string): number => lines.members[name] ?? lines.line;
  const unknown = Object.keys(values)
    .filter((name) => !known.includes(name))
    .map((name) => ({ line: at(name), sentence: `Unknown member "${name}". Use ${known.join(', ')}.` }));
  const wrong = known.flatMap((name) => {
    const sentence = valueError(name as keyof Price, values[name]);
    return sentence === null ? [] : [{ line: at(name), sentence }];
  });
  const ofImages = values['size'] !== undefined || values['quality'] !== undefined;
  const priced = priceFigures.some((name) => values[name] !== undefined);
  return [
    ...unknown,
    ...wrong,
    ...(priced
      ? []
      : [
          {
            line: lines.line,
            sentence: 'Set at least one price, such as input, output, image or second. Use 0 for free.',
          },
        ]),
    ...(priced && ofImages && values['image'] === undefined
      ? [{ line: at('size'), sentence: 'A price by size or quality is one of images. Set "image".' }]
      : []),
  ];
}

function valueError(name: keyof Price, value: unknown): string | null {
  if (name === 'provider' || name === 'model') {
    if (typeof value !== 'string' || value.trim() === '')
      return name === 'provider'
        ? '"provider" must be the id of a provider, such as "openai", or "*" for any.'
        : '"model" must be the name of a model; * matches any characters: "gpt-5*".';
    if (name === 'provider' && !new RegExp(priceSchema.properties.provider.pattern).test(value))
      return `"provider" must be an id of lower-case letters and digits, or "*", not "${value}".`;
    return value.length > priceSchema.properties[name].maxLength
      ? `"${name}" must have at most ${priceSchema.properties[name].maxLength} characters.`
      : null;
  }
  if (value === undefined) return null;
  if (name === 'size')
    return typeof value === 'string' && new RegExp(priceSchema.properties.size.pattern).test(value)
      ? null
      : '"size" must be the width and height in pixels, such as "1024x1792".';
  if (name === 'from' || name === 'until')
    return typeof value === 'string' && isDay(value) ? null : `"${name}" must be a day, such as "2026-01-31".`;
  if (name === 'quality')
    return priceSchema.properties.quality.enum.some((quality) => quality === value)
      ? null
      : `"quality" must be ${priceSchema.properties.quality.enum.map((quality) => `"${quality}"`).join(' or ')}.`;
  const { title, minimum = 0, maximum = Infinity } = priceSchema.properties[name];
  return typeof value === 'number' && value >= minimum && value <= maximum
    ? null
    : `"${name}" must be a number from ${minimum} to ${maximum}: ${title ?? ''}.`;
}

function duplicateErrors(entries: readonly unknown[], lines: readonly EntryLines[]): PriceError[] {
  const seen = new Map<string, number>();
  return entries.flatMap((entry, index) => {
    const { provider, model, size, quality, min_input_tokens, from, until } = (entry ?? {}) as Partial<Price>;
    const line = lines[index]?.line ?? 1;
    const name = JSON.stringify([provider, model, size, quality, min_input_tokens, from, until]);
    const first = seen.get(name);
    if (first === undefined || provider === undefined) {
      seen.set(name, line);
      return [];
    }
    return [
      {
        line,
        sentence: `Line ${first} already has a price for this provider, model, size, quality, number of tokens and days. Keep one of them.`,
      },
    ];
  });
}

/** Prices as the editor shows them: one per line, so that an error of a line is one of a price. */
export function writePrices(prices: readonly Price[]): string {
  if (prices.length === 0) return '';
  const line = (price: Price): string =>
    `  { ${Object.entries(price)
      .map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
      .join(', ')} }`;
  return `[\n${prices.map(line).join(',\n')}\n]`;
}

/** The lines where an entry of a list and its members begin, from 1. */
interface EntryLines {
  readonly line: number;
  readonly members: Readonly<Record<string, number>>;
}

/** Lines of the objects in the JSON text of a list. The text must be valid JSON. */
function entryLines(text: string): EntryLines[] {
  const entries: { line: number; members: Record<string, number> }[] = [];
  let line = 1;
  let depth = 0;
  for (const [token] of text.matchAll(/\n|"(?:[^"\\]|\\.)*"(?:\s*:)?|[[{\]}]|[^\s"[{\]},:]+/g)) {
    const entry = entries.at(-1);
    if (depth === 1 && token !== '\n' && token !== ']') entries.push({ line, members: {} });
    if (depth === 2 && entry && token.endsWith(':')) entry.members[memberName(token)] ??= line;
    if (token === '[' || token === '{') depth += 1;
    if (token === ']' || token === '}') depth -= 1;
    line += token.split('\n').length - 1;
  }
  return entries;
}

function memberName(token: string): string {
  return JSON.parse(token.slice(0, token.lastIndexOf(':'))) as string;
}

/** The line at which a JSON text stops being valid, or null when it is. */
function invalidLine(text: string): number | null {
  try {
    JSON.parse(text);
    return null;
  } catch {
    return lineOf(text, errorPosition(text));
  }
}

function lineOf(text: string, position: number): number {
  return text.slice(0, position).split('\n').length;
}

/**
 * The position from which the text is no valid JSON. Engines word their errors differently, and some leave the position
 * out for short texts.
 */
function errorPosition(text: string): number {
  const open: string[] = [];
  let expects: 'value' | 'key' | 'colon' | 'end' = 'value';
  let position = 0;
  const token =
    /\s+|"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[[\]{},:]/y;
  let afterComma = false;
  for (;;) {
    token.lastIndex = position;
    const found = token.exec(text)?.[0];
    if (found === undefined) return position;
    position += found.length;
    if (/^\s/.test(found)) continue;
    const start = position - found.length;
    if (found === ']' || found === '}') {
      if (open.pop() !== (found === ']' ? '[' : '{') || afterComma || expects === 'colon') return start;
      expects = 'end';
    } else if (found === ',') {
      if (expects !== 'end' || open.length === 0) return start;
      expects = open.at(-1) === '{' ? 'key' : 'value';
      afterComma = true;
      continue;
    } else if (found === ':') {
      if (expects !== 'colon') return start;
      expects = 'value';
      afterComma = true;
      continue;
    } else if (expects === 'key') {
      if (!found.startsWith('"')) return start;
      expects = 'colon';
    } else if (expects !== 'value') return start;
    else if (found === '[' || found === '{') {
      open.push(found);
      expects = found === '{' ? 'key' : 'value';
    } else expects = 'end';
    afterComma = false;
  }
}
