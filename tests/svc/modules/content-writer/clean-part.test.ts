import { expect } from 'chai';
import { cleanContent, cleanLine, cleanTags } from '../../../../plugins/svc/modules/content-writer/write/clean-part.ts';

describe('Cleaning what a model returned', () => {
  for (const [said, title] of [
    ['"Coffee: up there"', 'Coffee: up there'],
    ['**Coffee**', 'Coffee'],
    ['# Coffee\nand more', 'Coffee and more'],
    ['“Coffee”', 'Coffee'],
    ['He said "no" and "yes"', 'He said "no" and "yes"'],
    ['\n\n  Coffee  ', 'Coffee'],
    ['', ''],
  ] as const)
    it(`takes ${JSON.stringify(said)} for the title ${JSON.stringify(title)}`, () =>
      expect(cleanLine('title', said)).to.equal(title));

  it('cuts what is too long at the end of a word', () => {
    const long = cleanLine('meta_description', 'words and '.repeat(100));
    expect([...long].length).to.be.at.most(300);
    expect(long).to.match(/(words|and)…$/);
  });

  it('takes each tag once, without its number sign, and no blank one', () => {
    expect(cleanTags(['coffee', ' #Mountains ', '', '"Coffee"'])).to.deep.equal(['coffee', 'Mountains']);
    expect(cleanTags(Array.from({ length: 30 }, (_, index) => `tag ${String(index)}`))).to.have.length(20);
  });

  it('takes a keyword without its full stop, and the fence and repeated title off a text', () => {
    expect(cleanLine('focus_keyword', 'mountain coffee.')).to.equal('mountain coffee');
    expect(cleanContent('```markdown\n# Coffee\n\nText\n```', 'Coffee')).to.equal('Text');
    expect(cleanContent('# Another\n\nText', 'Coffee')).to.equal('# Another\n\nText');
    expect(cleanContent('Text\n\n```js\nx\n```', 'Coffee')).to.equal('Text\n\n```js\nx\n```');
  });
});
