import { expect } from 'chai';
import fc from 'fast-check';
import {
  messageSeparator,
  toNeedle,
  toSearchText,
} from '../../../../../../plugins/svc/modules/chatbots/conversations/search/search-text.ts';

const fold = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll('ς', 'σ');

describe('the search text', () => {
  it('has letters and digits only, and is another one for every folded character', () => {
    const folded = new Map<string, string>();
    for (let code = 0; code <= 0x10ffff; code += 1) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const character = String.fromCodePoint(code);
      // Nine in ten are not assigned, and alike: some of them do.
      if (code % 64 !== 0 && /[\p{Cn}\p{Co}]/u.test(character)) continue;
      for (const part of fold(character)) {
        const text = toSearchText(part);
        if (!/^[\p{L}0-9]+$/u.test(text) || text.includes(messageSeparator) || (folded.get(text) ?? part) !== part)
          expect.fail(`U+${code.toString(16)} becomes ${text}.`);
        folded.set(text, part);
      }
    }
    // No character's text begins or ends within that of another, so parts of texts are parts of search texts.
    for (const text of folded.keys())
      if (text.length > 1 && Array.from(text).length > 1)
        for (const letter of text)
          if (folded.has(letter)) expect.fail(`${text} contains the text of another character.`);
  }).timeout(60_000);

  it('ignores case, accents and white space at the ends of what is searched', () => {
    expect(toNeedle('  ΟΔΟΣ Crème\n')).to.equal(toSearchText('οδός CREME'));
    expect(toNeedle(' \n ')).to.equal('');
    expect(toSearchText('50%_\\"')).not.to.match(/[%_\\"]/);
  });

  it('has in the place of a space a letter for the characters beside it, and contains what the text contains', () => {
    const spaceOf = (text: string): string => toSearchText(text)[text.indexOf(' ')] ?? '';
    expect(spaceOf('please how')).to.equal(spaceOf('the house'));
    expect(new Set(['e h', 'e t', 'o h'].map(spaceOf)).size).to.equal(3);
    const text = fc
      .array(fc.constantFrom(' ', ' ', 'a', 'B', 'é', '7', '.', ',', 'ж', '订', '😀', '\n', '\u00a0'), { maxLength: 9 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, text, (whole, part) => {
        const isPart = fold(whole).includes(fold(part).trim());
        expect(toSearchText(whole).includes(toNeedle(part))).to.equal(isPart);
        expect(toSearchText(`a${whole}${part}b`).includes(toNeedle(part))).to.equal(true);
      }),
      { numRuns: 3_000 },
    );
  });
});
