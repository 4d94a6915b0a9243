import type { MatchLogic, ModelInfo, ModelPrice } from '@pydantic/genai-prices';
import type { Price, PricedModel } from './price.ts';

type Library = typeof import('@pydantic/genai-prices');

/** Prices of the package `@pydantic/genai-prices`, which collects what vendors publish. Immutable. */
export interface LibraryPrices {
  /** The price of a model at a time, in milliseconds since the epoch; null where the package has none of this very model. */
  find(model: PricedModel, time: number): Price | null;
  /** All prices at a time, in the order of their providers. */
  list(time: number): readonly Price[];
}

/** Ids of providers there, by ours. */
const vendors: Readonly<Record<string, string>> = {
  openai: 'openai',
  azure: 'azure',
  google: 'google',
  openrouter: 'openrouter',
  claude: 'anthropic',
  deepseek: 'deepseek',
  xai: 'x-ai',
};

/** Vendors whose models Azure sells at their own prices. It has others for DeepSeek's. */
const sharedPrices: Readonly<Record<string, readonly string[]>> = {
  azure: ['openai', 'anthropic', 'x-ai', 'moonshotai'],
};

/** Our name of each price there. Prices of searches and files are those of tools that vendors run. */
const figures = {
  input_mtok: 'input',
  output_mtok: 'output',
  cache_read_mtok: 'cached_input',
  cache_write_mtok: 'cache_write',
  cache_write_1h_mtok: 'cache_write_1h',
  input_image_mtok: 'image_input',
  input_audio_mtok: 'audio_input',
  output_reasoning_mtok: 'reasoning',
  output_image_mtok: 'image_output',
  output_audio_mtok: 'audio_output',
} as const satisfies Readonly<Record<string, keyof Price>>;

/** What may follow a name without being another model: a date, a number of at least three digits, or that it is not final. */
const versions = /^(?:[-@](?:\d{4}-\d\d-\d\d|\d\d-\d{4}|\d\d-\d\d|\d{3,8}|latest|preview|exp))*$/;

/** Loads the package, half a megabyte of prices, at the first call. */
export async function loadLibraryPrices(): Promise<LibraryPrices> {
  return (loading ??= import('@pydantic/genai-prices').then(readLibrary));
}

let loading: Promise<LibraryPrices> | undefined;

function readLibrary({ calcPrice, findProvider }: Library): LibraryPrices {
  const modelsOf = (vendor: string): readonly ModelInfo[] => findProvider({ providerId: vendor })?.models ?? [];
  return {
    find({ provider, model, inputTokens = 0 }, time) {
      const vendor = vendors[provider];
      if (vendor === undefined) return null;
      const name = model.toLowerCase();
      const found = calcPrice({}, name, { providerId: vendor, timestamp: new Date(time) });
      if (found === null || !isOf(found.model, name)) return null;
      // The package prices what one vendor sells of another by the list of that other.
      if (![vendor, ...(sharedPrices[vendor] ?? [])].some((id) => modelsOf(id).includes(found.model))) return null;
      return toPrice({ provider, model: name }, found.model_price, inputTokens);
    },
    list: (time) =>
      Object.entries(vendors).flatMap(([provider, vendor]) =>
        modelsOf(vendor).flatMap((model) => {
          const found = calcPrice({}, model.id, { providerId: vendor, timestamp: new Date(time) });
          if (found?.model !== model) return [];
          const of = { provider, model: model.id };
          return thresholdsOf(found.model_price).flatMap((from) => toPrice(of, found.model_price, from) ?? []);
        }),
      ),
  };
}

/** Whether an entry is of the model with this name, and not of a larger one whose name the name begins with. */
function isOf({ id, match }: ModelInfo, name: string): boolean {
  return [id, ...namesIn(match)].some(
    (known) => name.startsWith(known.toLowerCase()) && versions.test(name.slice(known.length)),
  );
}

function namesIn(match: MatchLogic): readonly string[] {
  if ('or' in match) return match.or.flatMap(namesIn);
  if ('and' in match) return match.and.flatMap(namesIn);
  if ('regex' in match) return [];
  return Object.values(match);
}

/** The least numbers of input tokens from which another price applies to the whole call, from 0 on. */
function thresholdsOf(prices: ModelPrice): readonly number[] {
  const starts = Object.values(prices).flatMap((price) =>
    typeof price === 'object' ? price.tiers.map(({ start }) => start + 1) : [],
  );
  return [...new Set([0, ...starts])].sort((left, right) => left - right);
}

/** Null if it has no price by tokens. */
function toPrice(of: Pick<Price, 'provider' | 'model'>, prices: ModelPrice, inputTokens: number): Price | null {
  const amounts = Object.entries(figures).flatMap(([key, name]) => {
    const price = prices[key];
    if (price === undefined) return [];
    return [[name, typeof price === 'number' ? price : tierOf(price, inputTokens)]];
  });
  if (amounts.length === 0) return null;
  const from = thresholdsOf(prices).findLast((threshold) => threshold <= inputTokens) ?? 0;
  return { ...of, ...(from > 0 && { min_input_tokens: from }), ...(Object.fromEntries(amounts) as Partial<Price>) };
}

function tierOf({ base, tiers }: Exclude<ModelPrice[string], number | undefined>, inputTokens: number): number {
  return tiers.findLast(({ start }) => inputTokens > start)?.price ?? base;
}
