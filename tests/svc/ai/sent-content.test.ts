import { expect } from 'chai';
import { readSent } from '../../../plugins/svc/ai/sent-content.ts';

const data = Buffer.alloc(24_000, 7).toString('base64');
const lengthOf = (part: object): number => readSent({ messages: [{ role: 'user', content: [part] }] }).dataLength;

describe('what of a request costs tokens', () => {
  it('is a thirty-second of the characters of a sound, and all of a file’s', () => {
    expect(lengthOf({ type: 'input_audio', input_audio: { data, format: 'wav' } })).to.equal(data.length / 32);
    expect(lengthOf({ type: 'file', file: { file_data: data } })).to.equal(data.length);
    expect(lengthOf({ type: 'other', input_audio: { data, format: 'wav' } })).to.equal(data.length);
  });

  it('is no character of an image, which counts as one', () => {
    const part = { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } };
    const { dataLength, images } = readSent({ content: [part] });
    expect([dataLength, images]).to.deep.equal([0, 1]);
  });
});
