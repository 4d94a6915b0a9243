import { expect } from 'chai';
import { compareTexts, type ComparedLine, type TextPart } from '../../host/content/admin/compare-texts.ts';

/** A side as text, changed parts in brackets. */
function show(parts: readonly TextPart[] | null): string | null {
  return parts && parts.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join('');
}
const rows = (lines: readonly ComparedLine[]) => lines.map(({ before, after }) => [show(before), show(after)]);

describe('compared texts', () => {
  it('have changed lines beside each other, with their changed words and the lines around them', () => {
    const around = ['1', '2', '3', '4', '5', '6', '7'];
    const before = ['gone', ...around, 'Green tea is hot', 'end'].join('\n');
    const after = [...around, 'Black tea is hot', 'more', 'end'].join('\n');
    expect(rows(compareTexts(before, after).lines)).to.deep.equal([
      ['[gone]', null],
      ['1', '1'],
      ['2', '2'],
      ['… 3 more lines …', '… 3 more lines …'],
      ['6', '6'],
      ['7', '7'],
      ['[Green] tea is hot', '[Black] tea is hot'],
      [null, '[more]'],
      ['end', 'end'],
    ]);
    expect(compareTexts('same', 'same')).to.deep.equal({ lines: [], isCut: false });
  });

  it('are compared more coarsely when they differ much, and cut when they are long', () => {
    const words = (name: string): string => Array.from({ length: 400 }, (_, index) => `${name}${index}`).join(' ');
    expect(rows(compareTexts(words('a'), words('b')).lines)).to.deep.equal([[`[${words('a')}]`, `[${words('b')}]`]]);
    const lines = (name: string): string => words(name).repeat(5).replaceAll(' ', '\n');
    const { lines: shown, isCut } = compareTexts(lines('a'), lines('b'));
    expect([shown.length, isCut]).to.deep.equal([500, true]);
    const [line] = compareTexts('a'.repeat(1_000_000), 'b'.repeat(1_000_000)).lines;
    expect(line?.before?.[0]?.text).to.have.length(20_001);
  });
});
