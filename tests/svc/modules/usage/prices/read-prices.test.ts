import { expect } from 'chai';
import { defaultPrices } from '../../../../../plugins/svc/modules/usage/prices/default-prices.ts';
import { readPrices, writePrices } from '../../../../../plugins/svc/modules/usage/prices/read-prices.ts';

const errors = (text: string): [number, string][] => {
  const reading = readPrices(text);
  return 'errors' in reading ? reading.errors.map(({ line, sentence }) => [line, sentence]) : [];
};
const good = '{"provider": "acme", "model": "acme-1", "input": 1}';

describe('prices typed as JSON', () => {
  it('are read, and written so that they read the same, one a line', () => {
    const text = writePrices(defaultPrices);
    expect(text.split('\n').length).to.equal(defaultPrices.length + 2);
    expect(readPrices(text)).to.deep.equal({ prices: defaultPrices });
    expect(readPrices(' \n ')).to.deep.equal({ prices: [] });
    expect(writePrices([])).to.equal('');
  });

  for (const [what, text, line] of [
    ['a missing comma', `[\n${good}\n${good}\n]`, 3],
    ['an extra comma', `[\n${good},\n]`, 3],
    ['a missing bracket', `[\n${good}\n`, 3],
    ['a text that does not end', '[\n{"provider": "acme\n"}]', 2],
    ['single quotes', "[\n{'provider': 1}]", 2],
    ['a missing colon', '[\n\n{"provider" "acme"}]', 3],
    ['a second list', '[]\n[]', 2],
    ['a key without quotes', '[{\nprovider: 1}]', 2],
    ['a number that is none', '[{"input": 01}]', 1],
    ['a value in place of a key', '[{\n"a": 1,\n2: 3}]', 3],
    ['a value without a key', '[{"a": 1, "b"}]', 1],
    ['a missing value', '[{"a":\n}]', 2],
    ['words', 'prices', 1],
  ] as const) {
    it(`say in which line they are not JSON: ${what}`, () => {
      expect(errors(text)).to.deep.equal([
        [
          line,
          'The JSON is invalid from here. Look for a missing or extra comma, quote or bracket in this line or the one before.',
        ],
      ]);
    });
  }

  it('say what is wrong with each entry, at its line, all at once', () => {
    const found = errors(`[
  ${good},
  {"provider": "Open AI", "model": "x", "input": 1},
  {"provider": "acme",
   "model": "",
   "input": -1, "output": "2",
   "per_image": 3},
  {"provider": "acme", "model": "}, {\\"a\\":"},
  5,
  ${good}
]`);
    expect(found.map(([line]) => line)).to.deep.equal([3, 5, 6, 6, 7, 8, 9, 10]);
    const sentences = found.map(([, sentence]) => sentence);
    expect(sentences[0]).to.equal('"provider" must be an id of lower-case letters and digits, or "*", not "Open AI".');
    expect(sentences[2]).to.equal('"input" must be a number from 0 to 100000: US dollars per million input tokens.');
    expect(sentences[4]).to.equal(
      'Unknown member "per_image". Use provider, model, size, quality, min_input_tokens, from, until, input, output, cached_input, cache_write, ' +
        'cache_write_1h, image_input, audio_input, reasoning, image_output, audio_output, image, second.',
    );
    expect(sentences[5]).to.equal('Set at least one price, such as input, output, image or second. Use 0 for free.');
    expect(sentences[7]).to.equal(
      'Line 2 already has a price for this provider, model, size, quality, number of tokens and days. Keep one of them.',
    );
  });

  it('can be of images of one size and quality', () => {
    const entry = (members: object) => JSON.stringify([{ provider: 'openai', model: 'dall-e-3', ...members }]);
    expect(readPrices(entry({ size: '1024x1792', quality: 'hd', image: 1 }))).to.have.property('prices');
    expect(errors(entry({ size: 'big', quality: 'low', input: 1 })).map(([, sentence]) => sentence)).to.deep.equal([
      '"size" must be the width and height in pixels, such as "1024x1792".',
      '"quality" must be "standard" or "hd".',
      'A price by size or quality is one of images. Set "image".',
    ]);
    const two = `[{"provider": "a", "model": "b", "image": 1},\n{"provider": "a", "model": "b", "size": "1x1", "image": 2}]`;
    expect(errors(two)).to.deep.equal([]);
    expect(errors(two.replace('1}', '1, "size": "1x1"}'))[0]?.[0]).to.equal(2);
  });

  it('must be a list', () => {
    expect(errors('{"provider": "acme"}')[0]?.[1]).to.contain('Write a list');
    expect(errors('null')[0]?.[0]).to.equal(1);
  });
});
