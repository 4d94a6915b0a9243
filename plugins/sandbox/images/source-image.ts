import type { Size } from './image-size.ts';

export interface SourceImage extends Size {
  readonly type: 'png' | 'jpeg' | 'webp';
}

/** What an image is by its bytes; sizes are read of PNG alone, others are as large as 0 by 0. Null: it is none of these. */
export function readSource(bytes: Buffer): SourceImage | null {
  if (bytes.length > 24 && bytes.toString('latin1', 0, 8) === '\x89PNG\r\n\x1a\n')
    return { type: 'png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  if (bytes.toString('latin1', 0, 3) === '\xff\xd8\xff') return { type: 'jpeg', width: 0, height: 0 };
  if (bytes.toString('latin1', 8, 12) === 'WEBP') return { type: 'webp', width: 0, height: 0 };
  return null;
}
