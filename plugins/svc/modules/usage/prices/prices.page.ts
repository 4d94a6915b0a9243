import { filterChips, formatCount, formatPrice, invalidFields, withNotice } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import { readText } from '../../../admin-ui/form-values.ts';
import { importUpload } from '../../../admin-ui/transfer-actions.ts';
import { foldText } from '../../../kit/fold-text.ts';
import { defaultPricesDate } from './default-prices.ts';
import { anyProvider, openForm, priceKey, priceTexts, removePrice, setPrice } from './price-form.ts';
import type { PriceForm, PricesPagePorts } from './price-form.ts';
import { priceErrorsOf } from './price-store.ts';
import type { Price } from './price.ts';
import { writePrices, type PriceError } from './read-prices.ts';

const template = 'svc/prices';

const columns = [
  { label: 'Model' },
  { label: 'Provider' },
  { label: 'Details' },
  ...['Input', 'Output', 'Image', 'Video second'].map((label) => ({ label, isNumber: true })),
];

/** Built-in prices that are shown at once; a search finds the others. */
const mostRows = 100;

/** The placeholder of an empty editor. */
const example: readonly Price[] = [
  { provider: 'openai', model: 'gpt-5.6-terra*', input: 2.5, output: 15 },
  { provider: 'azure', model: 'my-deployment', input: 2.5, output: 15 },
  { provider: 'openai', model: 'dall-e-3', image: 0.04 },
  { provider: 'openai', model: 'dall-e-3', size: '1024x1792', quality: 'hd', image: 0.12 },
];

/** The page "Prices": the site's own prices, in a table and as JSON, and the built-in ones. */
export function createPage(ports: PricesPagePorts): AdminPageBody {
  const { prices } = ports;
  return {
    render: async ({ query }) => ({ template, data: await pricesView(ports, { query }) }),
    actions: {
      save: (request) => save(request, ports),
      set: (request) =>
        setPrice(request, ports, async (form) => ({ template, data: await pricesView(ports, { form }) })),
      remove: (request) => removePrice(request, ports),
      reset: async () => {
        await prices.reset();
        return withNotice('success', 'Your prices were removed. The built-in prices apply.');
      },
      import: (request) => importList(request, ports),
      'reset-list': async () => {
        await prices.resetList();
        return withNotice('success', 'The built-in prices apply to new calls.');
      },
    },
  };
}

async function save(request: AdminRequest, ports: PricesPagePorts): Promise<AdminActionResult> {
  const typed = readText(request, 'prices').replaceAll('\r\n', '\n');
  try {
    const saved = await ports.prices.save(typed);
    return withNotice(
      'success',
      saved === 0 ? 'Saved. The built-in prices apply.' : `Saved ${formatCount(saved, 'price')}. New calls use them.`,
    );
  } catch (error) {
    const errors = priceErrorsOf(error);
    if (!errors) throw error;
    return withNotice(
      'error',
      errors.length === 1
        ? 'Nothing was saved. Fix the error below.'
        : `Nothing was saved. Fix the ${formatCount(errors.length, 'error')} below.`,
      {
        page: { template, data: await pricesView(ports, { invalid: { typed, errors } }) },
        data: { errors },
        status: 400,
      },
    );
  }
}

/** Replaces the built-in prices by those of an uploaded file: all of them, or none. */
async function importList(request: AdminRequest, ports: PricesPagePorts): Promise<AdminActionResult> {
  return importUpload(request, {
    run: async (text) => {
      try {
        const { prices } = await ports.prices.importList(text);
        return withNotice('success', `Imported ${formatCount(prices.length, 'price')}. New calls use them.`);
      } catch (error) {
        const errors = priceErrorsOf(error);
        if (errors === null) throw error;
        throw invalidFields(
          Object.fromEntries(errors.map(({ line, sentence }, at) => [at, `Line ${String(line)}: ${sentence}`])),
        );
      }
    },
    page: async ({ errors }) => ({ template, data: await pricesView(ports, { refused: errors }) }),
  });
}

interface InvalidPrices {
  readonly typed: string;
  readonly errors: readonly PriceError[];
}

async function pricesView(
  ports: PricesPagePorts,
  { query = {}, invalid, form, refused }: PricesViewInit = {},
): Promise<Record<string, unknown>> {
  const { prices, providers } = ports;
  const [own, list] = [await prices.own(), await prices.list()];
  const labels = new Map([['*', anyProvider], ...providers.all().map(({ id, label }) => [id, label] as const)]);
  const search = typeof query['s'] === 'string' ? query['s'].trim() : '';
  const asRow = (price: Price) => ({
    ...price,
    fields: { key: priceKey(price) },
    editHref: `?${new URLSearchParams({ edit: priceKey(price) }).toString()}#price-form`,
    overrideHref: `?${new URLSearchParams({ override: priceKey(price) }).toString()}#price-form`,
    label: labels.get(price.provider) ?? price.provider,
    ...priceTexts(price),
    amounts: Object.fromEntries(
      (['input', 'output', 'image', 'second'] as const).flatMap((kind) => {
        const dollars = price[kind];
        return dollars === undefined ? [] : [[kind, formatPrice(dollars)]];
      }),
    ),
  });
  const isFound = ({ label, model }: { readonly label: string; readonly model: string }): boolean =>
    foldText(`${label} ${model}`).includes(foldText(search));
  const rows = own.map(asRow).filter(isFound);
  const builtIn = list.prices.map(asRow).filter(isFound);
  const typed = invalid?.typed ?? writePrices(own);
  return {
    search,
    columns,
    chips: filterChips({ s: search }, { s: `Search: ${search}` }),
    own: rows,
    builtIn: builtIn.slice(0, mostRows),
    more: Math.max(0, builtIn.length - mostRows),
    form: form ?? openForm(ports, { query, own, list: list.prices }),
    typed,
    rows: Math.min(30, Math.max(8, typed.split('\n').length + 1)),
    placeholder: writePrices(example),
    errors: invalid?.errors.map((error) => ({ ...error, text: lineText(invalid.typed, error.line) })),
    hasOwn: own.length > 0,
    asOf: list.date,
    isImported: !list.isBuiltIn,
    builtInAsOf: defaultPricesDate,
    refused,
  };
}

interface PricesViewInit {
  readonly query?: Readonly<Record<string, unknown>>;
  /** Of the JSON editor. */
  readonly invalid?: InvalidPrices;
  readonly form?: PriceForm;
  /** Errors of an import. */
  readonly refused?: readonly string[];
}

/** The line as typed, so that the reader finds it without counting. */
function lineText(typed: string, line: number): string {
  return (typed.split('\n')[line - 1] ?? '').trim().slice(0, 120);
}
