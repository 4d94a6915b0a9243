import { RestError, type OptionsApi } from '#plugin-api';
import { optionNames } from '../../../settings/names.ts';
import { defaultPrices } from './default-prices.ts';
import { priceTable, pricesSchema, type Price, type PriceTable } from './price.ts';
import { readPrices, type PriceFault } from './read-prices.ts';

/** The site's price table. A change counts for calls from then on, on every node within a second. */
export interface PriceStore {
  /** The site's own prices, in the order they were written. */
  own(): Promise<readonly Price[]>;
  /** Own prices, then the built-in ones. */
  table(): Promise<PriceTable>;
  /** Replaces the own prices by those of a JSON text. @throws RestError 400 with `data.faults`, a PriceFault for each fault; then nothing is saved. */
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

  /** What another program may have stored is read as far as it is a list of prices. */
  async function own(): Promise<readonly Price[]> {
    const stored = await options.get<unknown>(optionNames.prices, pricesSchema.default);
    return Array.isArray(stored) ? (stored as unknown[]).filter(isPrice) : [];
  }

  return {
    own,
    async table() {
      const stored = await options.get<unknown>(optionNames.prices, pricesSchema.default);
      if (known !== undefined && known.own === stored) return known.table;
      const table = priceTable(await own(), defaultPrices);
      known = { own: stored, table };
      return table;
    },
    async save(text) {
      const reading = readPrices(text);
      if ('faults' in reading) throw refused(reading.faults);
      await options.update(optionNames.prices, reading.prices);
      return reading.prices.length;
    },
    async reset() {
      await options.delete(optionNames.prices);
    },
  };
}

function refused(faults: readonly PriceFault[]): RestError {
  const message = faults.map(({ line, sentence }) => `Line ${line}: ${sentence}`).join(' ');
  return new RestError({ code: 'rest_invalid_param', status: 400, message, data: { faults } });
}

/** The faults an error carries, or null when it is another kind of error. */
export function priceFaultsOf(error: unknown): readonly PriceFault[] | null {
  if (!(error instanceof RestError)) return null;
  const { faults } = (error.data ?? {}) as { readonly faults?: readonly PriceFault[] };
  return faults ?? null;
}

function isPrice(value: unknown): value is Price {
  if (typeof value !== 'object' || value === null) return false;
  const { provider, model, ...figures } = value as Record<string, unknown>;
  return (
    typeof provider === 'string' &&
    typeof model === 'string' &&
    Object.values(figures).every((figure) => figure === undefined || (typeof figure === 'number' && figure >= 0))
  );
}
