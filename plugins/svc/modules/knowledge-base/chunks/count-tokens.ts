import type { CountTokens } from './units.ts';

/** Counts with the tokens of OpenAI's newer models (o200k); the tokenizer is loaded by the first call. Other models' tokens are about as long. */
export async function tokenCounter(): Promise<CountTokens> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
  // Text that looks like a control token counts as the text it is.
  return (text) => countTokens(text, { disallowedSpecial: new Set() });
}
