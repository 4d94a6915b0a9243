import { expect } from 'chai';
import {
  drawChart,
  formatBytes,
  formatDuration,
  formatMoney,
  formatPrice,
  formatShortNumber,
  formatWait,
} from '#plugin-api';
import { inLanguage } from '../../host/plugin-api/language.ts';
import { pseudoLanguage } from '../../host/languages/pseudo.ts';

describe('formatters for people', () => {
  const cases: readonly (readonly [name: string, actual: string, expected: string])[] = [
    ['a wait below a second', formatWait(0), '1 second'],
    ['a wait of seconds', formatWait(59_001), '60 seconds'],
    ['a wait, rounded up so that a retry is never early', formatWait(60_001), '2 minutes'],
    ['a wait of hours', formatWait(3_600_000), '1 hour'],
    ['a wait of days', formatWait(86_400_001), '2 days'],
    ['a duration below a second', formatDuration(340.4), '340 ms'],
    ['a duration of seconds', formatDuration(2_449), '2.4 s'],
    ['a duration of two days', formatDuration(48 * 3_600_000), '2 d'],
    ['a duration that is no number', formatDuration('soon'), ''],
    ['no cost', formatMoney(0), '$0'],
    ['a cost below a cent', formatMoney(2_100), '$0.0021'],
    ['the smallest cost', formatMoney(1), '$0.000001'],
    ['a part of it', formatMoney(0.1), '<$0.000001'],
    ['a price', formatPrice(30), '$30'],
    ['a price with cents', formatPrice(0.2), '$0.20'],
    ['a price below a cent', formatPrice(0.0375), '$0.0375'],
    ['a large cost', formatMoney(1_204_500_000), '$1,204.50'],
    ['a short number', formatShortNumber(1_023_456), '1.02M'],
    ['bytes', formatBytes(512), '512 bytes'],
    ['megabytes', formatBytes(1.5 * 1_024 ** 2), '1.5 MB'],
  ];
  for (const [name, actual, expected] of cases)
    it(`write ${name}: ${expected}`, () => expect(actual).to.equal(expected));

  it('write money and days of charts as the language does', () => {
    const written = inLanguage({ ...pseudoLanguage, tag: 'de-DE' }, () => [
      formatMoney(1_204_500_000),
      formatMoney(0),
      formatPrice(0.2),
      drawChart({
        ...{ width: 340, days: [{ day: '2026-10-31', value: 1, failed: 0 }], whole: true },
        ...{ format: String, title: () => '' },
      }).labels[0]?.text,
    ]);
    expect(written).to.deep.equal(['1.204,50\u00a0$', '0\u00a0$', '0,20\u00a0$', '31. Okt.']);
  });
});

describe('a chart', () => {
  it('has its labels in the middle below their bars, inside the image', () => {
    for (const [width, count] of [
      [340, 30],
      [900, 7],
      [900, 90],
      [1200, 3],
    ] as const) {
      const days = Array.from({ length: count }, (_, index) => ({
        ...{ day: new Date(Date.UTC(2026, 8, 1 + index)).toISOString().slice(0, 10), value: index, failed: 0 },
      }));
      const { labels, bars } = drawChart({ width, days, whole: true, format: String, title: () => '' });
      for (const { x, text } of labels) {
        const nearest = Math.min(...bars.map((bar) => Math.abs(bar.x + bar.width / 2 - x)));
        expect(nearest, `${String(count)} days, ${text}`).to.be.lessThan(1);
        expect(x + (text.length * 7) / 2, `${String(count)} days, ${text}`).to.be.at.most(width);
      }
    }
  });
});
