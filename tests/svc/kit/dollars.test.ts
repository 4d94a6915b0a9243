import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { plainDollars, toDollars } from '../../../plugins/svc/kit/dollars.ts';

const service = new URL('../../../plugins/svc/', import.meta.url);

describe('dollars for calculations', () => {
  const noise = [0.1, 0.2, 0.7].reduce((sum, micro) => sum + micro, 0);
  const texts: readonly (readonly [micro: number, text: string])[] = [
    [0, '0'],
    [1, '0.000001'],
    [0.1, '0.0000001'],
    [0.000001, '0.000000000001'],
    [2_100, '0.0021'],
    [100_000.1 + 0.2, '0.1000003'],
    [noise, '0.000001'],
    [50_000_000, '50'],
    [123_456_789_000.00002, '123456.789'],
    [1_234_567_890_123, '1234567.890123'],
  ];
  for (const [micro, text] of texts)
    it(`are ${text} of ${String(micro)} millionths`, () => {
      expect([plainDollars(micro), toDollars(micro)]).to.deep.equal([text, Number(text)]);
    });

  it('are null where the price is unknown', () => {
    expect(toDollars(null)).to.equal(null);
  });

  it('are made of millionths in one place', () => {
    const others = readdirSync(service, { recursive: true, encoding: 'utf8' }).filter(
      (path) =>
        path.endsWith('.ts') &&
        path !== 'kit/dollars.ts' &&
        /\/ 1_?000_?000\b/.test(readFileSync(new URL(path, service), 'utf8')),
    );
    expect(others).to.deep.equal([]);
  });
});
