import { ProviderError } from '../providers/provider.ts';

export interface ImageBytes {
  readonly bytes: Buffer;
  /** Without dot. */
  readonly extension: string;
}

/** Signatures of the image files that browsers show. `at`: their offset in bytes. */
const signatures: readonly { readonly extension: string; readonly at: number; readonly bytes: string }[] = [
  { extension: 'png', at: 0, bytes: '\x89PNG\r\n\x1a\n' },
  { extension: 'jpg', at: 0, bytes: '\xff\xd8\xff' },
  { extension: 'gif', at: 0, bytes: 'GIF8' },
  { extension: 'webp', at: 8, bytes: 'WEBP' },
  { extension: 'avif', at: 4, bytes: 'ftypavif' },
];

/**
 * Detects an image by its bytes, not by its declared type.
 *
 * @throws ProviderError `unreadable` for anything else.
 */
export function imageBytes(bytes: Buffer): ImageBytes {
  const extension = imageExtension(bytes);
  if (extension === null)
    throw new ProviderError({
      kind: 'unreadable',
      status: 200,
      message: 'it returned no PNG, JPEG, GIF, WebP or AVIF image.',
    });
  return { bytes, extension };
}

/** The extension of an image by its bytes, or null for anything else. */
export function imageExtension(bytes: Uint8Array): string | null {
  const beginning = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(16, bytes.byteLength)).toString('latin1');
  return signatures.find(({ at, bytes: signature }) => beginning.startsWith(signature, at))?.extension ?? null;
}

export function decodedImage(base64: string): ImageBytes {
  return imageBytes(Buffer.from(base64, 'base64'));
}
