import type { JsonSchema } from '#plugin-api';
import { matchesName } from '../../../kit/matches-name.ts';
import { tokenKinds, type TokenKind } from '../../../kit/token-details.ts';
import { imageParamSchemas, type ImageParams } from '../../../kit/image-params.ts';

/** What a model costs, in US dollars. A missing member is unknown, and a call that needs it has no price. */
export interface Price extends Readonly<Partial<Record<TokenKind, number>>> {
  /** Id of a provider, or `*` for any. */
  readonly provider: string;
  /** Name of a model; `*` matches any characters, so that `gpt-5*` prices a family. */
  readonly model: string;
  /** The price is that of images of this size alone, in pixels: `1024x1792`. Missing: of any size. */
  readonly size?: string;
  /** The price is that of images of this quality alone. Missing: of any quality. */
  readonly quality?: NonNullable<ImageParams['quality']>;
  /** The price is that of calls with at least so many input tokens alone. Missing: of any number. */
  readonly min_input_tokens?: number;
  /** First and last day of the price, `YYYY-MM-DD` in UTC. Missing: since ever, and for good. */
  readonly from?: string;
  readonly until?: string;
  /** Per million tokens, as are the kinds of tokens (D32). A kind without a price costs as much as input or output. */
  readonly input?: number;
  readonly output?: number;
  /** Per image. */
  readonly image?: number;
  /** Per second of video. */
  readonly second?: number;
}

const dollars = (title: string): JsonSchema => ({ type: 'number', title, minimum: 0, maximum: 100_000 });

const day = (title: string) => ({ type: 'string', title, pattern: '^\\d{4}-\\d\\d-\\d\\d$' }) as const;

/** Members with a figure: a price needs at least one. */
export const priceFigures = ['input', 'output', 'image', 'second', ...tokenKinds] as const;

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
    size: { ...imageParamSchemas.size, title: 'size of the image' },
    quality: { ...imageParamSchemas.quality, title: 'quality of the image' },
    min_input_tokens: { type: 'integer', title: 'least input tokens of the call', minimum: 1, maximum: 100_000_000 },
    from: day('first day of the price'),
    until: day('last day of the price'),
    input: dollars('US dollars per million input tokens'),
    output: dollars('US dollars per million output tokens'),
    cached_input: dollars('US dollars per million input tokens read from a cache'),
    cache_write: dollars('US dollars per million input tokens written to a cache'),
    cache_write_1h: dollars('US dollars per million input tokens written to a cache for an hour'),
    image_input: dollars('US dollars per million input tokens of images'),
    audio_input: dollars('US dollars per million input tokens of audio'),
    reasoning: dollars('US dollars per million output tokens of reasoning'),
    image_output: dollars('US dollars per million output tokens of images'),
    audio_output: dollars('US dollars per million output tokens of audio'),
    image: dollars('US dollars per image'),
    second: dollars('US dollars per second of video'),
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

/** An option: the site's own prices, which override the built-in ones. */
export const pricesOption = 'svc_prices';

/** An option: a list of prices, with its date, that replaces the built-in one. */
export const priceListOption = 'svc_price_list';

export const pricesSchema = {
  type: 'array',
  items: priceSchema,
  maxItems: 2000,
  default: [],
} as const satisfies JsonSchema;

/** All prices in order: the first that matches a model is its price. */
export interface PriceTable {
  readonly prices: readonly Price[];
  /** The price where none of these applies. */
  readonly further?: ((model: PricedModel, time: number) => Price | null) | undefined;
}

/**
 * The site's own prices before the built-in ones; the most specific first: a provider before any, a whole name before
 * a pattern, then a size and a quality before a size, a quality, and neither, then more input tokens before fewer.
 */
export function priceTable(
  own: readonly Price[],
  builtIn: readonly Price[],
  further?: PriceTable['further'],
): PriceTable {
  return { prices: [...mostSpecificFirst(own), ...mostSpecificFirst(builtIn)], further };
}

function mostSpecificFirst(prices: readonly Price[]): Price[] {
  return [...prices].sort(
    (left, right) =>
      rank(right) - rank(left) ||
      right.model.length - left.model.length ||
      imageRank(right) - imageRank(left) ||
      (right.min_input_tokens ?? 0) - (left.min_input_tokens ?? 0) ||
      // The latest beginning first; a price without one applies when no other does.
      (right.from ?? '').localeCompare(left.from ?? '') ||
      (left.until ?? '9').localeCompare(right.until ?? '9'),
  );
}

function rank({ provider, model }: Price): number {
  return (provider === '*' ? 0 : 2) + (model.includes('*') ? 0 : 1);
}

function imageRank({ size, quality }: Price): number {
  return (size === undefined ? 0 : 2) + (quality === undefined ? 0 : 1);
}

/** What is priced. Without a size or quality, only prices that need none apply. */
export interface PricedModel {
  readonly provider: string;
  readonly model: string;
  /** Of an image: the one requested, if the model supports it. */
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
  /** Default: 0. */
  readonly inputTokens?: number | undefined;
  /** Time of the call, in milliseconds since the epoch. Missing: only prices without dates apply. */
  readonly time?: number | undefined;
}

/** The price of a model at a time, or null without one. Case-insensitive. */
export function findPrice(given: PricedModel, table: PriceTable, time = given.time): Price | null {
  const { provider, model, size, quality, inputTokens = 0 } = given;
  const cache = cacheFor(table);
  const hour = time === undefined ? null : Math.floor(time / hourLength);
  let tier = 0;
  for (const threshold of cache.thresholds) if (threshold <= inputTokens) tier = threshold;
  const found = cache.found.get(model);
  for (const one of found ?? [])
    if (
      one.provider === provider &&
      one.tier === tier &&
      one.hour === hour &&
      one.size === size &&
      one.quality === quality
    )
      return one.price;
  const name = model.toLowerCase();
  const day = time === undefined ? undefined : dayOf(time);
  const own = table.prices.find(
    (one) =>
      (one.provider === '*' || one.provider === provider) &&
      (one.size === undefined || one.size === size) &&
      (one.quality === undefined || one.quality === quality) &&
      (one.min_input_tokens ?? 0) <= tier &&
      isInForce(one, day) &&
      matchesName(one.model.toLowerCase(), name),
  );
  if (own === undefined && table.further !== undefined) return table.further({ ...given, inputTokens }, time ?? 0);
  const price = own ?? null;
  remember(cache, model, { provider, size, quality, tier, hour, price });
  return price;
}

function remember(cache: PriceCache, model: string, found: FoundPrice): void {
  if (cache.size >= 1000) {
    cache.found.clear();
    cache.size = 0;
  }
  const list = cache.found.get(model) ?? [];
  list.push(found);
  cache.found.set(model, list);
  cache.size += 1;
}

function isInForce({ from, until }: Price, day: string | undefined): boolean {
  if (from === undefined && until === undefined) return true;
  return day !== undefined && (from === undefined || from <= day) && (until === undefined || day <= until);
}

const hourLength = 3_600_000;

/** As prices have it. */
function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

interface FoundPrice extends Pick<PricedModel, 'provider' | 'size' | 'quality'> {
  /** Since the epoch. */
  readonly hour: number | null;
  readonly tier: number;
  readonly price: Price | null;
}

interface PriceCache {
  /** By model. */
  readonly found: Map<string, FoundPrice[]>;
  /** Number of prices found. */
  size: number;
  /** Numbers of input tokens from which another price may apply, in their order. */
  readonly thresholds: readonly number[];
}

/** Earlier lookups by table: each call to a provider looks up a price, and a site uses few models. */
const caches = new WeakMap<PriceTable, PriceCache>();

function cacheFor(table: PriceTable): PriceCache {
  const known = caches.get(table);
  if (known !== undefined) return known;
  const thresholds = [...new Set(table.prices.map((one) => one.min_input_tokens ?? 0))].sort(
    (left, right) => left - right,
  );
  const cache: PriceCache = { found: new Map(), size: 0, thresholds };
  caches.set(table, cache);
  return cache;
}
