import { expect } from 'chai';
import fc from 'fast-check';
import { trimSlashes, trimTrailing, trimTrailingSlashes } from '#plugin-api';

const slashed = fc.string({ unit: fc.constantFrom('/', 'a', '-'), maxLength: 20 });

describe('trimming', () => {
  it('removes slashes from the end, and nothing else', () => {
    fc.assert(
      fc.property(slashed, (text) => {
        const trimmed = trimTrailingSlashes(text);
        expect(trimmed.endsWith('/')).to.equal(false);
        expect(trimmed + '/'.repeat(text.length - trimmed.length)).to.equal(text);
      }),
    );
  });

  it('removes slashes from both ends', () => {
    for (const text of ['a/b', '/a/b', 'a/b///', '//a/b/']) expect(trimSlashes(text)).to.equal('a/b');
    expect(trimSlashes('///')).to.equal('');
  });

  it('removes any of several characters from the end', () => {
    expect(trimTrailing('a-/b-/-', '-/')).to.equal('a-/b');
    expect(trimTrailing('--', '-')).to.equal('');
    expect(trimTrailing('', '-')).to.equal('');
  });
});
