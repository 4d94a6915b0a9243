import { formatMoney } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { imageParamSchemas } from '../../../kit/image-params.ts';
import type { FieldErrors } from '../../../kit/field-errors.ts';
import { modelFields, providerChoices } from './model-fields.ts';

type Values = Readonly<Record<string, unknown>>;

const numbers = Array.from({ length: 10 }, (_, index) => ({ value: String(index + 1), label: String(index + 1) }));
const byDefault = { value: '', label: 'As set' };
const labels: Readonly<Record<string, string>> = {
  standard: 'Standard',
  hd: 'High',
  vivid: 'Vivid',
  natural: 'Natural',
};
const choice = (value: string): { value: string; label: string } => ({ value, label: labels[value] ?? value });

/** Fields of a form that has something drawn: values as they were typed, errors at their fields, and what the model takes. */
export async function jobForm(
  context: ServiceContext,
  {
    act,
    values,
    errors = {},
  }: { readonly act: 'generate' | 'edit'; readonly values: Values; readonly errors?: FieldErrors },
) {
  const providers = await providerChoices(context, act);
  const text = (name: string): string => (typeof values[name] === 'string' ? values[name] : '');
  const provider = providers.find(({ value }) => value === text('provider')) ?? providers[0];
  const fields = await modelFields(context, { provider: provider?.value ?? '', model: text('model') });
  return {
    prompt: text('prompt'),
    provider: provider?.value ?? '',
    providers: providers.map(({ value, label }) => ({ value, label })),
    isReady: providers.some(({ isReady }) => isReady),
    model: text('model'),
    usual: provider?.usual ?? '',
    models: providers.map(({ value, models, usual }) => ({ id: value, usual, models })),
    offered: provider?.models ?? [],
    n: text('n') || '1',
    numbers,
    size: text('size'),
    sizes: imageParamSchemas.size.examples,
    takes: fields,
    quality: text('quality'),
    qualities: [byDefault, ...imageParamSchemas.quality.enum.map(choice)],
    style: text('style'),
    styles: [byDefault, ...imageParamSchemas.style.enum.map(choice)],
    priceText: priceText(fields.price),
    errors,
  };
}

/** What an image will cost, as far as that can be said beforehand. */
export function priceText(price: number | null): string {
  if (price === null) return 'What it costs depends on the tokens it takes; see Usage afterwards.';
  return price === 0
    ? 'The sandbox draws: nothing is charged.'
    : `About ${formatMoney(price)} an image by the price list.`;
}
