import { expect } from 'chai';
import { recipeOf } from '../../../plugins/sandbox/images/image-address.ts';
import { drawPicture } from '../../../plugins/sandbox/images/picture.ts';
import { readPng } from './read-png.ts';

const draw = (init: { prompt?: string; width?: number; height?: number; index?: number; seed?: number } = {}): Buffer =>
  drawPicture(
    recipeOf({ prompt: 'A red lighthouse', width: 256, height: 256, index: 0, seed: 1, model: 'm', ...init }),
  );

describe('a picture of the sandbox', () => {
  it('is a valid PNG of just the size that was asked for, a few kilobytes small', () => {
    for (const [width, height] of [
      [16, 16],
      [256, 256],
      [1024, 1024],
      [1792, 1024],
      [1024, 1536],
      [1000, 333],
      [3840, 2160],
    ] as const) {
      const bytes = draw({ width, height });
      expect(readPng(bytes)).to.include({ width, height });
      expect(bytes.length, `${String(width)}x${String(height)}`).to.be.below(30_000);
    }
  });

  it('is the same for the same prompt, and another for another prompt, seed or place among several', () => {
    expect(draw().equals(draw())).to.equal(true);
    for (const other of [{ prompt: 'A blue lighthouse' }, { seed: 2 }, { index: 1 }])
      expect(draw().equals(draw(other)), JSON.stringify(other)).to.equal(false);
  });

  it('bears the first words of the prompt, dark on light', () => {
    const { pixel } = readPng(draw({ prompt: 'L' }));
    // The letter L, three dots wide and five high, each dot 4 pixels; its line begins 8 dots above the foot.
    const dots = Array.from({ length: 5 }, (_, row) =>
      Array.from({ length: 3 }, (_unused, column) =>
        pixel((2 + column) * 4, (64 - 8 + row) * 4) === '24,24,27' ? '#' : '.',
      ).join(''),
    );
    expect(dots).to.deep.equal(['#..', '#..', '#..', '#..', '###']);
  });

  it('takes any prompt: long words, other scripts, none at all', () => {
    for (const prompt of [
      '',
      'x'.repeat(4000),
      'Ein schöner Wald im Überfluss',
      '東京',
      '🏖 & <b>"',
      'one two three four five six seven eight nine ten eleven twelve thirteen',
    ])
      readPng(draw({ prompt }));
  });
});
