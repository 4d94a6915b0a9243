import type { EmbeddingCapability } from '../providers/provider.ts';

/**
 * Splits inputs into what one call may hold, in their order. Tokens are not counted: every token of a byte-level
 * tokenizer is at least one byte of UTF-8, so that bytes bound them from above and cost nothing. Most text has four bytes
 * a token, and its calls stay at a quarter of the limit, which is smaller, quicker answers. One input above the limit
 * goes alone, and is the far end's to refuse.
 */
export function embedBatches(
  input: readonly string[],
  { inputs, tokens = Number.POSITIVE_INFINITY }: EmbeddingCapability['limits'],
): string[][] {
  const batches: string[][] = [];
  let batch: string[] = [];
  let bytes = 0;
  for (const text of input) {
    const size = Buffer.byteLength(text);
    if (batch.length > 0 && (batch.length >= inputs || bytes + size > tokens)) {
      batches.push(batch);
      batch = [];
      bytes = 0;
    }
    batch.push(text);
    bytes += size;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}
