import type { RouteArgument } from '#plugin-api';
import { errors } from '../../kit/errors.ts';

/** Texts of one call (D11). */
const mostInputs = 2048;

/** The argument `input`: one text or several. */
export const inputArgument: RouteArgument = {
  type: ['string', 'array'],
  required: true,
  description: 'Text to embed, or up to 2,048 texts.',
  items: { type: 'string' },
  minItems: 1,
  maxItems: mostInputs,
  examples: [['First text.', 'Second text.']],
};

/** @throws RestError 400 `rest_svc_empty_input` that names the blank text (D5). */
export function checkedInput(input: string | readonly string[]): readonly string[] {
  const texts = typeof input === 'string' ? [input] : input;
  const blank = texts.findIndex((text) => text.trim() === '');
  if (blank >= 0)
    throw errors.empty_input({ values: { name: typeof input === 'string' ? 'input' : `input[${String(blank)}]` } });
  return texts;
}
