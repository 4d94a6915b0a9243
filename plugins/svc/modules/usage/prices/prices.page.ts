import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import { textOf } from '../../../admin-ui/form-values.ts';
import type { SettingsContext } from '../../../settings/settings-context.ts';
import { defaultPrices, defaultPricesDate } from './default-prices.ts';
import { priceFaultsOf } from './price-store.ts';
import type { Price } from './price.ts';
import { writePrices, type PriceFault } from './read-prices.ts';

const template = 'svc/prices';

/** What an empty editor shows, greyed. */
const example: readonly Price[] = [
  { provider: 'openai', model: 'gpt-5.6-terra*', input: 2.5, output: 15 },
  { provider: 'azure', model: 'my-deployment', input: 2.5, output: 15 },
  { provider: 'openai', model: 'dall-e-3', image: 0.04 },
];

/** The page "Prices": a site's own prices as JSON, and the built-in ones beside them. */
export function pricesPage(context: Pick<SettingsContext, 'settings' | 'providers'>): AdminPageBody {
  const { prices } = context.settings;
  return {
    render: async () => ({ template, data: await pricesView(context) }),
    actions: {
      save: (request) => save(request, context),
      reset: async (request): Promise<AdminActionResult> => {
        if (textOf(request, 'confirm') !== '1')
          return {
            notice: {
              kind: 'error',
              text: 'Nothing was changed. Tick the box to confirm that your own prices are to be removed.',
            },
          };
        await prices.reset();
        return { notice: { kind: 'success', text: 'Your own prices are removed; the built-in ones are in force.' } };
      },
    },
  };
}

async function save(
  request: AdminRequest,
  context: Pick<SettingsContext, 'settings' | 'providers'>,
): Promise<AdminActionResult> {
  const typed = textOf(request, 'prices').replaceAll('\r\n', '\n');
  try {
    const saved = await context.settings.prices.save(typed);
    const count = saved === 1 ? '1 price of your own is' : `${saved} prices of your own are`;
    return {
      notice: {
        kind: 'success',
        text: saved === 0 ? 'The built-in prices are in force.' : `${count} in force, for calls from now on.`,
      },
    };
  } catch (error) {
    const faults = priceFaultsOf(error);
    if (!faults) throw error;
    return {
      notice: {
        kind: 'error',
        text:
          faults.length === 1
            ? 'Nothing was saved: one line is wrong.'
            : `Nothing was saved: ${faults.length} things are wrong.`,
      },
      page: { template, data: await pricesView(context, { typed, faults }) },
      data: { faults },
      status: 400,
    };
  }
}

interface Refused {
  readonly typed: string;
  readonly faults: readonly PriceFault[];
}

async function pricesView(
  { settings, providers }: Pick<SettingsContext, 'settings' | 'providers'>,
  refused?: Refused,
): Promise<Record<string, unknown>> {
  const own = await settings.prices.own();
  const labels = new Map([...(await providers.all())].map(({ id, label }) => [id, label]));
  const typed = refused?.typed ?? writePrices(own);
  return {
    typed,
    rows: Math.min(30, Math.max(8, typed.split('\n').length + 1)),
    placeholder: writePrices(example),
    faults: refused?.faults.map((fault) => ({ ...fault, text: lineText(refused.typed, fault.line) })),
    hasOwn: own.length > 0,
    asOf: defaultPricesDate,
    builtIn: defaultPrices.map((price) => ({ ...price, label: labels.get(price.provider) ?? price.provider })),
  };
}

/** The line as it was typed, so that it is found without counting. */
function lineText(typed: string, line: number): string {
  return (typed.split('\n')[line - 1] ?? '').trim().slice(0, 120);
}
