import { RestError, type OptionsApi } from '#plugin-api';
import { defaultPrices } from './default-prices.ts';
import {
  findPrice,
  priceTable,
  pricesOption,
  pricesSchema,
  type Price,
  type PricedModel,
  type PriceTable,
} from './price.ts';
import { readPrices, type PriceError } from './read-prices.ts';

/** The site's price table. A change applies to new calls, on every node within a second. */
export interface PriceStore {
  /** The site's own prices, in the order they were saved. */
  own(): Promise<readonly Price[]>;
  /** Own prices, then the built-in ones. */
  table(): Promise<PriceTable>;
  /** The price of a model, or null without one. */
  find(model: PricedModel): Promise<Price | null>;
  /**
   * Replaces the own prices by those of a JSON text. @throws RestError 400 with `data.errors`, a PriceError for each
   * error; then nothing is saved.
   */
  save(text: string): Promise<number>;
  /** Back to the built-in prices alone. */
  reset(): Promise<void>;
}

export function createPriceStore({
  options,
}: {
  readonly options: Pick<OptionsApi, 'get' | 'update' | 'delete'>;
}): PriceStore {
  let known: { readonly own: unknown; readonly table: PriceTable } | undefined;

  /** Ignores what is no price: another program may have stored it. */
  async function own(): Promise<readonly Price[]> {
    const stored = await options.get<unknown>(pricesOption, pricesSchema.default);
    return Array.isArray(stored) ? (stored as unknown[]).filter(isPrice) : [];
  }

  async function table(): Promise<PriceTable> {
    const stored = await options.get<unknown>(pricesOption, pricesSchema.default);
    if (known?.own !== stored || known === undefined)
      known = { own: stored, table: priceTable(await own(), defaultPrices) };
    return known.table;
  }

  return {
    own,
    table,
    find: async (model) => findPrice(model, await table()),
    async save(text) {
      const reading = readPrices(text);
      if ('errors' in reading) throw invalidPrices(reading.errors);
      await options.update(pricesOption, reading.prices);
      return reading.prices.length;
    },
    async reset() {
      await options.delete(pricesOption);
    },
  };
}

function invalidPrices(errors: readonly PriceError[]): RestError {
  const message = errors.map(({ line, sentence }) => `Line ${line}: ${sentence}`).join(' ');
  return new RestError({ code: 'rest_invalid_param', status: 400, message, data: { errors } });
}

/** The errors of `save`, or null for another error. */
export function priceErrorsOf(error: unknown): readonly PriceError[] | null {
  if (!(error instanceof RestError)) return null;
  const { errors } = (error.data ?? {}) as { readonly errors?: readonly PriceError[] };
  return errors ?? null;
}

function isPrice(value: unknown): value is Price {
  if (typeof value !== 'object' || value === null) return false;
  const { provider, model, size, quality, ...figures } = value as Record<string, unknown>;
  return (
    typeof provider === 'string' &&
    typeof model === 'string' &&
    [size, quality].every((text) => text === undefined || typeof text === 'string') &&
    Object.values(figures).every((figure) => figure === undefined || (typeof figure === 'number' && figure >= 0))
  );
}
