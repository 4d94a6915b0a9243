import { expect } from 'chai';
import { isUrl } from '#plugin-api';

describe('isUrl', () => {
  it('knows addresses from other texts', () => {
    for (const text of [
      'https://example.com',
      'http://127.0.0.1:3000/a?b#c',
      'https://bücher.test/',
      'https://①②⑦.⓪.⓪.①/',
      'mailto:a@example.com',
    ])
      expect(isUrl(text), text).to.equal(true);
    for (const text of ['', 'example.com', '/path', 'https://', 'https://a b/', 'http://127.0.0.1:99999/'])
      expect(isUrl(text), text).to.equal(false);
  });

  it('takes what is relative to an address', () => {
    expect(isUrl('/path', 'https://example.com')).to.equal(true);
    expect(isUrl('/path', new URL('https://example.com'))).to.equal(true);
    expect(isUrl('http://[', 'https://example.com')).to.equal(false);
  });

  it('knows letters of every language however often it was called', () => {
    const known = Array.from({ length: 50_000 }, (_, turn) => isUrl(`https://example.com/${String(turn % 7)}`));
    expect(known).to.not.include(false);
    expect(isUrl('https://bücher.test')).to.equal(true);
  });
});
