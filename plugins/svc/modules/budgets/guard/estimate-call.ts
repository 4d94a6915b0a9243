import type { TextRequest } from '../../../providers/provider.ts';
import { findPrice, type PriceTable } from '../../usage/prices/price.ts';
import { estimateTokens } from '../../../ai/estimate-usage.ts';
import type { EstimatedUse } from './fuse.ts';

/** Tokens an answer is taken to have at most where the call sets no limit (`max_completion_tokens`). */
export const assumedAnswer = 4096;
/** Tokens of an image of a model that is paid for by tokens: those of the largest in the best quality. */
export const assumedImage = 6240;

const perMessage = 4;

/** The prompt is counted; the answer is as long as it may be. */
export async function estimateText({
  system,
  messages,
  params,
}: Pick<TextRequest, 'system' | 'messages' | 'params'>): Promise<EstimatedUse> {
  const texts = [...(system === null ? [] : [system]), ...messages.map(({ content }) => content)];
  return {
    inputTokens: (await estimateTokens(texts)) + (texts.length + 1) * perMessage,
    outputTokens: params.max_completion_tokens ?? assumedAnswer,
    images: 0,
  };
}

/** @param prices the price table: a model with a price per image is not counted in tokens. */
export async function estimateImages(
  {
    provider,
    model,
    prompt,
    n,
  }: { readonly provider: string; readonly model: string; readonly prompt: string; readonly n: number },
  prices: PriceTable,
): Promise<EstimatedUse> {
  const price = findPrice({ provider, model }, prices);
  const byImage = price?.image !== undefined;
  return {
    inputTokens: byImage && price.input === undefined ? 0 : await estimateTokens([prompt]),
    outputTokens: byImage ? 0 : n * assumedImage,
    images: n,
  };
}
