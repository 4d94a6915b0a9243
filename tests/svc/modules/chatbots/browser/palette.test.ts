import { expect } from 'chai';
import fc from 'fast-check';
import {
  contrast,
  onColor,
  parseHex,
  readable,
  toHex,
  type Rgb,
} from '../../../../../plugins/svc/modules/chatbots/browser/client/palette.ts';
import { palette } from '../../../../../plugins/svc/modules/chatbots/browser/client/palette.ts';

const none = { primary_color: '', text_color: '', background_color: '', user_bubble_color: '', bot_bubble_color: '' };
const hex = fc
  .tuple(
    ...([0, 1, 2].map(() => fc.integer({ min: 0, max: 255 })) as [
      fc.Arbitrary<number>,
      fc.Arbitrary<number>,
      fc.Arbitrary<number>,
    ]),
  )
  .map((color) => toHex(color));
const maybe = fc.oneof(fc.constant(''), hex);
const colour = (text: string | undefined): Rgb => parseHex(text ?? '') ?? [0, 0, 0];

describe('colors of the widget', () => {
  it('have the contrast that WCAG defines', () => {
    expect(contrast([0, 0, 0], [255, 255, 255])).to.be.closeTo(21, 0.001);
    expect(contrast([118, 118, 118], [255, 255, 255])).to.be.closeTo(4.54, 0.01);
    expect(parseHex('#fff')).to.equal(null);
    expect(parseHex('red')).to.equal(null);
  });

  it('are readable on any configured color', () => {
    fc.assert(
      fc.property(hex, (background) => {
        expect(contrast(onColor(colour(background)), colour(background))).to.be.at.least(4.5);
      }),
    );
    expect(toHex(readable([0, 0, 255], [[0, 0, 0]]))).to.not.equal('#0000ff');
  });

  it('are readable on their backgrounds for any choice, light and dark', () => {
    const pairs = [
      ['text', 'background'],
      ['muted', 'background'],
      ['accent', 'background'],
      ['danger', 'background'],
      ['on-primary', 'primary'],
      ['on-user-bubble', 'user-bubble'],
      ['on-bot-bubble', 'bot-bubble'],
    ] as const;
    fc.assert(
      fc.property(
        fc.record({
          primary_color: maybe,
          text_color: maybe,
          background_color: maybe,
          user_bubble_color: maybe,
          bot_bubble_color: maybe,
        }),
        fc.constantFrom('light', 'dark'),
        (colours, scheme) => {
          const made = palette(colours, scheme);
          for (const [text, ground] of pairs) {
            expect(
              contrast(colour(made[`--${text}`]), colour(made[`--${ground}`])),
              `${text} on ${ground}: ${JSON.stringify(made)}`,
            ).to.be.at.least(4.5);
          }
        },
      ),
      { numRuns: 500, examples: [[{ ...none, text_color: '#000000', background_color: '#026d20' }, 'dark']] },
    );
  });

  it('ignore a background for the other scheme', () => {
    expect(palette({ ...none, background_color: '#fffdf5' }, 'light')['--background']).to.equal('#fffdf5');
    expect(palette({ ...none, background_color: '#fffdf5' }, 'dark')['--background']).to.equal(
      palette(none, 'dark')['--background'],
    );
    expect(palette({ ...none, primary_color: '#ffe08a' }, 'dark')['--primary']).to.equal('#ffe08a');
  });
});
