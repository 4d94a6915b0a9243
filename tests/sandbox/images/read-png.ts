import { crc32, inflateSync } from 'node:zlib';
import { expect } from 'chai';

export interface ReadPng {
  readonly width: number;
  readonly height: number;
  /** Colour of a pixel, as `r,g,b`. */
  readonly pixel: (x: number, y: number) => string;
}

/** Reads a PNG with a palette and 8 bits a pixel as a strict reader would: signature, checksums, lengths, filters. */
export function readPng(bytes: Buffer): ReadPng {
  expect(bytes.subarray(0, 8).toString('latin1')).to.equal('\x89PNG\r\n\x1a\n');
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < bytes.length;) {
    const length = bytes.readUInt32BE(at);
    const named = bytes.subarray(at + 4, at + 8 + length);
    expect(bytes.readUInt32BE(at + 8 + length)).to.equal(crc32(named));
    chunks.set(named.subarray(0, 4).toString('latin1'), named.subarray(4));
    at += length + 12;
  }
  expect([...chunks.keys()]).to.deep.equal(['IHDR', 'PLTE', 'IDAT', 'IEND']);
  const header = chunks.get('IHDR')!;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  expect([...header.subarray(8)]).to.deep.equal([8, 3, 0, 0, 0]);
  const rows = inflateSync(chunks.get('IDAT')!);
  expect(rows.length).to.equal((width + 1) * height);
  const colours = Buffer.alloc(width * height);
  for (let y = 0; y < height; y += 1) {
    expect(rows[y * (width + 1)]).to.equal(2);
    for (let x = 0; x < width; x += 1)
      colours[y * width + x] = rows[y * (width + 1) + 1 + x]! + (y > 0 ? colours[(y - 1) * width + x]! : 0);
  }
  const palette = chunks.get('PLTE')!;
  return {
    width,
    height,
    pixel: (x, y) => [...palette.subarray(colours[y * width + x]! * 3, colours[y * width + x]! * 3 + 3)].join(),
  };
}
