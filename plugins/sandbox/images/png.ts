import { crc32 as zlibCrc32, deflateSync } from 'node:zlib';

export interface IndexedImage {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** Red, green and blue of each colour, 0 to 255; up to 256 of them. */
  readonly palette: readonly (readonly [number, number, number])[];
  /** Colours of one row, `width` of them. Asked for once per row, from above. The same array twice: the same row again. */
  readonly row: (y: number) => Uint8Array;
}

/** The bytes of a PNG file. */
export function encodePng({ width, height, palette, row }: IndexedImage): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits a pixel, colours from a palette.
  header.set([8, 3], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flat())),
    chunk('IDAT', deflateSync(filtered({ width, height, palette, row }), { level: 6 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Each row as its difference to the one above (filter 2): where rows repeat there are only zeros, which pack well. */
function filtered({ width, height, row }: IndexedImage): Buffer {
  const bytes = Buffer.alloc((width + 1) * height);
  let above: Uint8Array = new Uint8Array(width);
  for (let y = 0; y < height; y += 1) {
    const start = y * (width + 1);
    const current = row(y);
    bytes[start] = 2;
    if (current !== above)
      for (let x = 0; x < width; x += 1) bytes[start + 1 + x] = (current[x] ?? 0) - (above[x] ?? 0);
    above = current;
  }
  return bytes;
}

function chunk(type: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const framed = Buffer.alloc(named.length + 8);
  framed.writeUInt32BE(content.length, 0);
  named.copy(framed, 4);
  framed.writeUInt32BE(zlibCrc32(named), named.length + 4);
  return framed;
}
