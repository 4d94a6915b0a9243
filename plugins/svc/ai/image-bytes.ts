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
  const beginning = bytes.toString('latin1', 0, 16);
  const found = signatures.find(({ at, bytes: signature }) => beginning.startsWith(signature, at));
  if (found === undefined)
    throw new ProviderError({
      kind: 'unreadable',
      status: 200,
      message: 'it returned no PNG, JPEG, GIF, WebP or AVIF image.',
    });
  return { bytes, extension: found.extension };
}

export function decodedImage(base64: string): ImageBytes {
  return imageBytes(Buffer.from(base64, 'base64'));
}
