import { DocumentError, formatNumber } from '#plugin-api';
import { loadTokenCounter } from '../../../kit/count-tokens.ts';
import { chunkSection, type Chunk, type ChunkSettings } from './chunk-text.ts';
import { splitSections } from './sections.ts';

const maxChunks = 20_000;

export interface ChunkInput extends ChunkSettings {
  /** Markdown, or plain text. */
  readonly text: string;
}

/** Splits a text into passages. @throws DocumentError for more than 20,000 passages */
export async function parseChunks({ text, ...settings }: ChunkInput): Promise<readonly Chunk[]> {
  const count = await loadTokenCounter();
  const chunks: Chunk[] = [];
  for (const section of splitSections(text)) {
    for (const chunk of chunkSection(section, settings, count)) chunks.push(chunk);
    if (chunks.length > maxChunks)
      throw new DocumentError(
        `The source has more than ${formatNumber(maxChunks)} passages. Split it, or use longer passages.`,
      );
  }
  return chunks;
}
