import { imageSize } from 'image-size';
import { DocumentError } from '#plugin-api';

export interface Pixels {
  readonly width: number;
  readonly height: number;
}

/** Reads the size of an image. @throws DocumentError if it has none */
export function parsePixels({ bytes }: { readonly bytes: Uint8Array }): Pixels {
  try {
    const { width, height } = imageSize(bytes);
    return { width, height };
  } catch {
    throw new DocumentError('The size of the image cannot be read. Choose another image.');
  }
}
