import type { JsonSchema } from '#plugin-api';
import { matchesName } from '../../../kit/matches-name.ts';
import { imageParamSchemas, type ImageParams } from '../../../kit/image-params.ts';

/** What a model costs, in US dollars. A missing member is unknown, and a call that needs it has no price. */
export interface Price {
  /** Id of a provider, or `*` for any. */
  readonly provider: string;
  /** Name of a model; `*` matches any characters, so that `gpt-5*` prices a family. */
  readonly model: string;
  /** The price is that of images of this size alone, in pixels: `1024x1792`. Missing: of any size. */
  readonly size?: string;
  /** The price is that of images of this quality alone. Missing: of any quality. */
  readonly quality?: NonNullable<ImageParams['quality']>;
  /** Per million tokens. */
  readonly input?: number;
  readonly output?: number;
  /** Per image. */
  readonly image?: number;
  /** Per second of video. */
  readonly second?: number;
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
    size: { ...imageParamSchemas.size, title: 'size of the image' },
    quality: { ...imageParamSchemas.quality, title: 'quality of the image' },
    input: dollars('US dollars per million input tokens'),
    output: dollars('US dollars per million output tokens'),
    image: dollars('US dollars per image'),
    second: dollars('US dollars per second of video'),
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

/** An option: the site's own prices, which override the built-in ones. */
export const pricesOption = 'svc_prices';

export const pricesSchema = {
  type: 'array',
  items: priceSchema,
  maxItems: 2000,
  default: [],
} as const satisfies JsonSchema;

/** All prices in order: the first that matches a model is its price. */
export type PriceTable = readonly Price[];

/**
 * The site's own prices before the built-in ones; the most specific first: a provider before any, a whole name before
 * a pattern, then a size and a quality before a size, a quality, and neither.
 */
export function priceTable(own: readonly Price[], builtIn: readonly Price[]): PriceTable {
  return [...mostSpecificFirst(own), ...mostSpecificFirst(builtIn)];
}

function mostSpecificFirst(prices: readonly Price[]): Price[] {
  return [...prices].sort(
    (left, right) =>
      rank(right) - rank(left) || right.model.length - left.model.length || imageRank(right) - imageRank(left),
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
}

/** The price of a model, or null without one. Case-insensitive. */
export function findPrice({ provider, model, size, quality }: PricedModel, table: PriceTable): Price | null {
  const cache = cacheFor(table);
  const key = JSON.stringify([provider, model, size, quality]);
  const known = cache.get(key);
  if (known !== undefined) return known;
  const name = model.toLowerCase();
  const price =
    table.find(
      (one) =>
        (one.provider === '*' || one.provider === provider) &&
        (one.size === undefined || one.size === size) &&
        (one.quality === undefined || one.quality === quality) &&
        matchesName(one.model.toLowerCase(), name),
    ) ?? null;
  if (cache.size >= 1000) cache.clear();
  cache.set(key, price);
  return price;
}

/** Earlier lookups by table: each call to a provider looks up a price, and a site uses few models. */
const caches = new WeakMap<PriceTable, Map<string, Price | null>>();

function cacheFor(table: PriceTable): Map<string, Price | null> {
  const cache = caches.get(table) ?? new Map<string, Price | null>();
  caches.set(table, cache);
  return cache;
}
