import { expect } from 'chai';
import { imageBytes } from '../../../plugins/svc/ai/image-bytes.ts';

const of = (text: string): Buffer => Buffer.from(text, 'latin1');

describe('Bytes of an image', () => {
  const images = {
    png: '\x89PNG\r\n\x1a\n....',
    jpg: '\xff\xd8\xff\xe0....',
    gif: 'GIF89a....',
    webp: 'RIFF....WEBPVP8 ',
    avif: '\0\0\0\x20ftypavif....',
  };
  for (const [extension, bytes] of Object.entries(images)) {
    it(`are told to be ${extension} by how they begin`, () => {
      expect(imageBytes(of(bytes)).extension).to.equal(extension);
    });
  }

  for (const bytes of [
    '',
    'hello',
    '<svg xmlns="http://www.w3.org/2000/svg"/>',
    '<html>',
    '%PDF-1.7',
    'RIFF....WAVE',
    'MZ',
    '\x89PN',
  ]) {
    it(`are none: ${JSON.stringify(bytes)}`, () => {
      expect(() => imageBytes(of(bytes))).to.throw('returned no PNG, JPEG, GIF, WebP or AVIF image');
    });
  }
});
