import { loadTokenCounter } from '../kit/count-tokens.ts';

/** The tokens of all texts together. */
export async function countTexts({ texts }: { readonly texts: readonly string[] }): Promise<number> {
  const count = await loadTokenCounter();
  return texts.reduce((sum, text) => sum + count(text), 0);
}
