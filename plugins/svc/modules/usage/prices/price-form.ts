import { formFields, formatNumber, formatPrice, readForm, translateText, withNotice } from '#plugin-api';
import type { AdminActionResult, AdminRequest, FieldErrors, FieldHints, FormField, JsonSchema } from '#plugin-api';
import { readText } from '../../../admin-ui/form-values.ts';
import { tokenKinds } from '../../../kit/token-details.ts';
import type { PricesPort, ProvidersPort } from '../../../ports.ts';
import { priceErrorsOf } from './price-store.ts';
import { priceSchema, type Price } from './price.ts';
import { writePrices } from './read-prices.ts';

export type PricesPagePorts = PricesPort & Pick<ProvidersPort, 'providers'>;

/** The form of one price. */
export interface PriceForm {
  /** Of the edited price; '' for a new one. */
  readonly key: string;
  readonly title: string;
  /** The fields that most prices need, and the others. */
  readonly fields: readonly FormField[];
  readonly more: readonly FormField[];
  readonly isMoreOpen: boolean;
}

export const anyProvider = 'Any provider';
const mainPaths = ['provider', 'model', 'input', 'output', 'image', 'second'];
const morePaths = Object.keys(priceSchema.properties).filter((name) => !mainPaths.includes(name));

const hints: Readonly<Record<string, FieldHints>> = {
  provider: { label: 'Provider' },
  model: {
    label: 'Model',
    help: '* matches any characters. For Azure, the model name in the deployment\u2019s responses.',
  },
  input: { label: 'Input', help: 'US dollars per million tokens.' },
  output: { label: 'Output', help: 'US dollars per million tokens.' },
  image: { label: 'Image', help: 'US dollars per image.' },
  second: { label: 'Second of video', help: 'US dollars.' },
  size: { label: 'Only for images of this size', placeholder: '1024x1792' },
  quality: { label: 'Only for images of this quality' },
  min_input_tokens: { label: 'Only for calls with at least so many input tokens' },
  from: { label: 'First day', placeholder: '2026-01-01' },
  until: { label: 'Last day', placeholder: '2026-12-31' },
};

/** Identifies a price: no two have the same provider, model, size, quality, number of tokens and days. */
export function priceKey({ provider, model, size, quality, min_input_tokens: tokens, from, until }: Price): string {
  return JSON.stringify([provider, model, size ?? '', quality ?? '', tokens ?? 0, from ?? '', until ?? '']);
}

/** What a price is limited to and what it says of single kinds of tokens, as texts. */
export function priceTexts(price: Price): { readonly limits: string; readonly kinds: string } {
  const { size = '', quality = '', min_input_tokens: least, from, until } = price;
  const tokens = least === undefined ? '' : translateText(`from ${formatNumber(least)} input tokens`);
  const days = translateText([from && `from ${from}`, until && `until ${until}`].filter(Boolean).join(' '));
  const kinds = tokenKinds.flatMap((kind) => {
    const figure = price[kind];
    return figure === undefined ? [] : [translateText(`${kind.replaceAll('_', ' ')} ${formatPrice(figure)}`)];
  });
  return { limits: [size, quality, tokens, days].filter((text) => text !== '').join(', '), kinds: kinds.join(', ') };
}

interface OpenFormInit {
  readonly query: Readonly<Record<string, unknown>>;
  readonly own: readonly Price[];
  readonly list: readonly Price[];
}

/** The form that a link opens: `new`, `edit` with the key of an own price, or `override` with that of a built-in one. */
export function openForm(ports: PricesPagePorts, { query, own, list }: OpenFormInit): PriceForm | null {
  const edited = own.find((price) => priceKey(price) === query['edit']);
  if (edited) return priceForm(ports, { key: priceKey(edited), values: { ...edited } });
  const template = list.find((price) => priceKey(price) === query['override']);
  if (template) return priceForm(ports, { key: '', values: { ...template } });
  return query['new'] === undefined ? null : priceForm(ports, { key: '', values: {} });
}

interface FormInit {
  readonly key: string;
  readonly values: Readonly<Record<string, unknown>>;
  readonly errors?: FieldErrors;
}

function priceForm({ providers }: PricesPagePorts, { key, values, errors = {} }: FormInit): PriceForm {
  const choices = [
    ...providers.all().map(({ id, label }) => ({ value: id, label })),
    { value: '*', label: anyProvider },
  ];
  const init = { values, errors, id: 'price', hints: { ...hints, provider: { ...hints['provider'], choices } } };
  const schema: JsonSchema = priceSchema;
  return {
    key,
    title: key === '' ? 'New price' : `Price of ${String(values['model'])}`,
    fields: formFields(schema, { ...init, paths: mainPaths }),
    more: formFields(schema, { ...init, paths: morePaths }),
    isMoreOpen: morePaths.some((name) => values[name] !== undefined || errors[name] !== undefined),
  };
}

/** Adds the posted price, or replaces the one with the posted `key`. @param show the page with an invalid form. */
export async function setPrice(
  request: AdminRequest,
  ports: PricesPagePorts,
  show: (form: PriceForm) => Promise<NonNullable<AdminActionResult['page']>>,
): Promise<AdminActionResult> {
  const key = readText(request, 'key');
  const typed = readForm(priceSchema, request.form);
  const values = Object.fromEntries(Object.entries(typed).filter(([, value]) => value !== '' && value !== null));
  const own = await ports.prices.own();
  const position = own.findIndex((price) => priceKey(price) === key);
  const at = position === -1 ? own.length : position;
  const prices = [...own.slice(0, at), values as unknown as Price, ...own.slice(at + 1)];
  try {
    await ports.prices.save(writePrices(prices));
  } catch (error) {
    const errors = priceErrorsOf(error);
    if (errors === null) throw error;
    // The texts name the line of a JSON list, which this form does not have.
    const named = errors.map(({ sentence }): [string, string] => {
      const [, name = 'model'] = /^"(\w+)"/.exec(sentence) ?? [];
      return [name, sentence.startsWith('Line ') ? 'There is already a price for this.' : sentence];
    });
    const form = priceForm(ports, { key, values, errors: Object.fromEntries(named.reverse()) });
    return withNotice('error', 'Nothing was saved. Correct the marked fields.', {
      page: await show(form),
      status: 400,
    });
  }
  return withNotice('success', `Price of ${String(values['model'])} saved. New calls use it.`, {
    redirect: 'svc/prices',
  });
}

/** Removes the own price with the posted `key`; Undo adds it again. */
export async function removePrice(request: AdminRequest, { prices }: PricesPagePorts): Promise<AdminActionResult> {
  const own = await prices.own();
  const removed = own.find((price) => priceKey(price) === readText(request, 'key'));
  if (removed === undefined)
    return withNotice('error', 'This price does not exist. It may have been removed.', { redirect: 'svc/prices' });
  await prices.save(writePrices(own.filter((price) => price !== removed)));
  const fields = Object.fromEntries(Object.entries(removed).map(([name, value]) => [name, String(value)]));
  return {
    notice: {
      kind: 'success',
      text: `Price of ${removed.model} removed.`,
      undo: { action: 'set', fields },
    },
    redirect: 'svc/prices',
  };
}
