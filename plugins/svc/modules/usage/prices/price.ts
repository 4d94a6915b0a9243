import type { JsonSchema } from '#plugin-api';

/** What a model costs, in US dollars. A figure left out is not known, and a call that needs it has no price. */
export interface Price {
  /** Id of a provider, or `*` for any. */
  readonly provider: string;
  /** Name of a model; `*` stands for any run of characters, so that `gpt-5*` prices a family. */
  readonly model: string;
  /** Per million tokens. */
  readonly input?: number;
  readonly output?: number;
  /** Per image. */
  readonly image?: number;
}

const dollars = (title: string): JsonSchema => ({ type: 'number', title, minimum: 0, maximum: 100_000 });

/** One entry of the option `svc_prices`. */
export const priceSchema = {
  type: 'object',
  properties: {
    provider: {
      type: 'string',
      title: 'provider',
      minLength: 1,
      maxLength: 60,
      pattern: '^([a-z0-9]+|\\*)$',
      required: true,
    },
    model: { type: 'string', title: 'model', minLength: 1, maxLength: 200, required: true },
    input: dollars('US dollars per million input tokens'),
    output: dollars('US dollars per million output tokens'),
    image: dollars('US dollars per image'),
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

/** The option `svc_prices`: a site's own prices, which win over the built-in ones. */
export const pricesSchema = {
  type: 'array',
  items: priceSchema,
  maxItems: 2000,
  default: [],
} as const satisfies JsonSchema;

/** All prices, in the order in which they are asked: the first that fits a model is its price. */
export type PriceTable = readonly Price[];

/** A site's own prices before the built-in ones; of each, the narrowest first: a provider before any, a whole name before a part of it. */
export function priceTable(own: readonly Price[], builtIn: readonly Price[]): PriceTable {
  return [...narrowestFirst(own), ...narrowestFirst(builtIn)];
}

function narrowestFirst(prices: readonly Price[]): Price[] {
  return [...prices].sort((left, right) => rank(right) - rank(left) || right.model.length - left.model.length);
}

function rank({ provider, model }: Price): number {
  return (provider === '*' ? 0 : 2) + (model.includes('*') ? 0 : 1);
}

/** The price of a model, or null when the table has none. Upper and lower case are one. */
export function findPrice({ provider, model }: Pick<Price, 'provider' | 'model'>, table: PriceTable): Price | null {
  const found = foundIn(table);
  const key = `${provider} ${model}`;
  const known = found.get(key);
  if (known !== undefined) return known;
  const name = model.toLowerCase();
  const price =
    table.find((one) => (one.provider === '*' || one.provider === provider) && fits(one.model.toLowerCase(), name)) ??
    null;
  if (found.size >= 1000) found.clear();
  found.set(key, price);
  return price;
}

/** What was looked up in a table before: each call to a provider asks, and a site uses few models. */
const lookedUp = new WeakMap<PriceTable, Map<string, Price | null>>();

function foundIn(table: PriceTable): Map<string, Price | null> {
  const found = lookedUp.get(table) ?? new Map<string, Price | null>();
  lookedUp.set(table, found);
  return found;
}

/** Without regular expressions: a pattern of many stars must not take long. */
function fits(pattern: string, name: string): boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  if (last === undefined) return pattern === name;
  if (!name.startsWith(first)) return false;
  let from = first.length;
  for (const part of parts) {
    const at = name.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return name.length - last.length >= from && name.endsWith(last);
}
