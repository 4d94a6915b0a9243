import { isRecord, RestError, type Clock, type OptionsApi } from '#plugin-api';
import { defaultPrices, defaultPricesDate } from './default-prices.ts';
import {
  findPrice,
  priceListOption,
  priceTable,
  pricesOption,
  type Price,
  type PricedModel,
  type PriceTable,
} from './price.ts';
import { loadLibraryPrices, type LibraryPrices } from './library-prices.ts';
import { readPriceList, readPrices, type PriceError } from './read-prices.ts';

/** The site's price table. A change applies to new calls, on every node within a second. */
export interface PriceStore {
  /** The site's own prices, in the order they were saved. */
  own(): Promise<readonly Price[]>;
  /** The built-in list, or the imported one that replaced it, and the day it was looked up. Most specific first. */
  list(): Promise<PriceList>;
  /** Own prices, then the list. */
  table(): Promise<PriceTable>;
  /** The price of a model today, or null without one. */
  find(model: PricedModel): Promise<Price | null>;
  /**
   * Replaces the own prices by those of a JSON text. @throws RestError 400 with `data.errors`, a PriceError for each
   * error; then nothing is saved.
   */
  save(text: string): Promise<number>;
  /**
   * Replaces the built-in list by that of a JSON text: `{"date": "2026-12-01", "prices": [...]}`. Own prices still override
   * it. @throws RestError 400 as `save` does
   */
  importList(text: string): Promise<PriceList>;
  /** Back to the built-in list. */
  resetList(): Promise<void>;
  /** Removes the own prices. */
  reset(): Promise<void>;
}

export interface PriceList {
  /** When its prices were looked up, `YYYY-MM-DD`. */
  readonly date: string;
  readonly prices: readonly Price[];
  /** False: the list was imported. */
  readonly isBuiltIn: boolean;
}

const builtIn: PriceList = { date: defaultPricesDate, prices: defaultPrices, isBuiltIn: true };

export function createPriceStore({
  options,
  clock,
}: {
  readonly options: Pick<OptionsApi, 'get' | 'computed' | 'update' | 'delete'>;
  readonly clock: Pick<Clock, 'now'>;
}): PriceStore {
  let library: LibraryPrices | undefined;
  const further: PriceTable['further'] = (model, time) => library?.find(model, time) ?? null;
  const readTable = options.computed([pricesOption, priceListOption], (own, stored) => {
    const { prices, isBuiltIn } = readList(stored);
    return priceTable(validPrices(own), prices, isBuiltIn ? further : undefined);
  });
  async function table(): Promise<PriceTable> {
    library ??= await loadLibraryPrices();
    return readTable();
  }
  return {
    own: options.computed([pricesOption], validPrices),
    async list() {
      const list = readList(await options.get<unknown>(priceListOption));
      if (!list.isBuiltIn) return list;
      library ??= await loadLibraryPrices();
      return { ...list, prices: [...list.prices, ...library.list(clock.now())] };
    },
    table,
    find: async (model) => findPrice({ time: clock.now(), ...model }, await table()),
    async save(text) {
      const reading = readPrices(text);
      if ('errors' in reading) throw invalidPrices(reading.errors);
      await options.update(pricesOption, reading.prices);
      return reading.prices.length;
    },
    async importList(text) {
      const reading = readPriceList(text);
      if ('errors' in reading) throw invalidPrices(reading.errors);
      await options.update(priceListOption, reading);
      return { ...reading, isBuiltIn: false };
    },
    async resetList() {
      await options.delete(priceListOption);
    },
    async reset() {
      await options.delete(pricesOption);
    },
  };
}

/** Ignores what is no price: another program may have stored it. */
function validPrices(stored: unknown): readonly Price[] {
  return Array.isArray(stored) ? (stored as unknown[]).filter(isPrice) : [];
}

function readList(stored: unknown): PriceList {
  if (!isRecord(stored) || typeof stored['date'] !== 'string' || !Array.isArray(stored['prices'])) return builtIn;
  return { date: stored['date'], prices: validPrices(stored['prices']), isBuiltIn: false };
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
  const { provider, model, size, quality, from, until, ...figures } = value as Record<string, unknown>;
  return (
    typeof provider === 'string' &&
    typeof model === 'string' &&
    [size, quality, from, until].every((text) => text === undefined || typeof text === 'string') &&
    Object.values(figures).every((figure) => figure === undefined || (typeof figure === 'number' && figure >= 0))
  );
}
