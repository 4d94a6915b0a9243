import { createHash } from 'node:crypto';
import type { Chunk } from './chunk-text.ts';

/** A passage with the id its vector has. */
export interface NumberedChunk extends Chunk {
  /** UUID made of source, content and the source's own title and address: the same passage has it again, another one never. */
  readonly vectorId: string;
}

export interface ChunkSource {
  readonly id: number;
  readonly title: string;
  readonly url: string;
}

/**
 * Gives passages the ids of their vectors. An id tells nothing of the place: passages that move keep it, so that only
 * what changed is embedded anew. Passages of one source that say the same are counted.
 */
export function numberedChunks(chunks: readonly Chunk[], { id, title, url }: ChunkSource): NumberedChunk[] {
  const seen = new Map<string, number>();
  return chunks.map((chunk) => {
    const hash = hashOf([String(id), title, url, chunk.content, ...chunk.headings]);
    const before = seen.get(hash) ?? 0;
    seen.set(hash, before + 1);
    return { ...chunk, vectorId: uuidOf(before === 0 ? hash : hashOf([hash, String(before)])) };
  });
}

/** SHA-256 hex of texts, in their order. */
export function hashOf(texts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex');
}

/** A UUID of version 8 made of a hash. */
function uuidOf(hash: string): string {
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-a${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}
