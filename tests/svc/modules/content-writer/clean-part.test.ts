import { expect } from 'chai';
import {
  cleanContent,
  cleanKeyword,
  cleanMetaDescription,
  cleanTags,
  cleanTitle,
} from '../../../../plugins/svc/modules/content-writer/write/clean-part.ts';

describe('cleaning what a model answered', () => {
  for (const [said, title] of [
    ['"Coffee: up there"', 'Coffee: up there'],
    ['**Coffee**', 'Coffee'],
    ['# Coffee\nand more', 'Coffee'],
    ['Title: Coffee', 'Coffee'],
    ['“Coffee”', 'Coffee'],
    ['```\nCoffee\n```', 'Coffee'],
    ['He said "no" and "yes"', 'He said "no" and "yes"'],
    ['\n\n  Coffee  ', 'Coffee'],
    ['', ''],
  ] as const)
    it(`takes ${JSON.stringify(said)} for the title ${JSON.stringify(title)}`, () =>
      expect(cleanTitle(said)).to.equal(title));

  it('cuts what is too long at the end of a word', () => {
    const long = cleanMetaDescription('words and '.repeat(100));
    expect([...long].length).to.be.at.most(300);
    expect(long).to.match(/(words|and)…$/);
  });

  for (const said of [
    'coffee, Mountains, Coffee',
    '- coffee\n- Mountains\n',
    '1. coffee\n2. Mountains',
    '["coffee", "Mountains"]',
    'Tags: #coffee, #Mountains.',
    '```json\n["coffee","Mountains"]\n```',
  ]) {
    it(`reads tags out of ${JSON.stringify(said)}`, () =>
      expect(cleanTags(said)).to.deep.equal(['coffee', 'Mountains']));
  }

  it('takes a keyword without its full stop, and the fence and repeated title off a text', () => {
    expect(cleanKeyword('Focus keyword: mountain coffee.')).to.equal('mountain coffee');
    expect(cleanContent('```markdown\n# Coffee\n\nText\n```', 'Coffee')).to.equal('Text');
    expect(cleanContent('# Another\n\nText', 'Coffee')).to.equal('# Another\n\nText');
    expect(cleanContent('Text\n\n```js\nx\n```', 'Coffee')).to.equal('Text\n\n```js\nx\n```');
  });
});
