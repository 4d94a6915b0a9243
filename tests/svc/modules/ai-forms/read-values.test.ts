import { expect } from 'chai';
import type { RestError } from '#plugin-api';
import { failureOf } from '../../../helpers/failure-of.ts';
import { documents } from '../../../helpers/documents.ts';
import type { FormElement } from '../../../../plugins/svc/modules/ai-forms/forms/form.ts';
import { readValue, readValues } from '../../../../plugins/svc/modules/ai-forms/submit/read-values.ts';

const element = (type: FormElement['type'], init: Partial<FormElement> = {}): FormElement => ({
  id: 'x',
  type,
  label: 'X',
  help: '',
  placeholder: '',
  required: false,
  options: [],
  min: null,
  max: null,
  ...init,
});
const options = [
  { value: 'a', label: 'Alpha' },
  { value: 'b', label: 'Beta' },
];

describe('what visitors fill in', () => {
  for (const [name, one, given, value, display] of [
    ['a text is trimmed', element('text'), '  sea ', 'sea', 'sea'],
    ['lines of several keep their breaks', element('textarea'), 'a\r\nb', 'a\nb', 'a\nb'],
    ['NUL goes', element('text'), 'a\u0000b', 'ab', 'ab'],
    ['a number may have a comma', element('number'), '1,5', 1.5, '1.5'],
    ['nothing is no number', element('number'), '', null, ''],
    ['a choice shows its label', element('select', { options }), 'b', 'b', 'Beta'],
    ['a single tick comes as a text', element('checkbox', { options }), 'b', ['b'], 'Beta'],
    ['ticks come in the order of the form', element('checkbox', { options }), ['b', 'a'], ['a', 'b'], 'Alpha, Beta'],
  ] as const) {
    it(`is read: ${name}`, () => {
      expect(readValue(one, given)).to.deep.equal({ value, display });
    });
  }

  for (const [one, given, sentence] of [
    [element('text', { required: true }), ' ', 'X is required.'],
    [element('text'), 'a\nb', 'X must be a single line.'],
    [element('text'), { a: 1 }, 'X must be text.'],
    [element('text', { min: 3 }), 'ab', 'X must have at least 3 characters, not 2.'],
    [element('text', { max: 2 }), '🙂🙂🙂', 'X must have at most 2 characters, not 3.'],
    [element('number'), 'Infinity', 'X must be a number.'],
    [element('number', { max: 3 }), 4, 'X must be 3 or less.'],
    [element('radio', { options }), 'c', 'X must be one of: Alpha, Beta.'],
    [element('checkbox', { options, min: 2 }), ['a'], 'X: select at least 2.'],
    [element('checkbox', { options, max: 1 }), ['a', 'b'], 'X: select at most 1.'],
    [element('checkbox', { options, required: true }), [], 'X is required.'],
    [element('file'), 'text', 'X must be a file.'],
  ] as const) {
    it(`is refused: ${sentence}`, () => {
      expect(readValue(one, given)).to.deep.equal({ error: sentence });
    });
  }

  it('holds the text of a file for the prompt alone, cut at 100,000 characters', async () => {
    const read = await readValues(
      [element('file')],
      { values: {}, files: { x: { name: 'long.txt', bytes: Buffer.from('x'.repeat(200_000)) } } },
      { host: { documents } },
    );
    expect(read.inputs).to.deep.equal({ x: { name: 'long.txt', size: 200_000 } });
    expect(read.promptValues['x']).to.have.length(100_000);
    expect(read.display_values).to.deep.equal({ x: 'long.txt' });
  });

  it('is an image by its bytes, and stays in memory but for name and size', async () => {
    const png = Buffer.from('\x89PNG\r\n\x1a\n and more', 'latin1');
    const read = (bytes: Uint8Array, init: Partial<FormElement> = {}, name = 'a\0b.txt') =>
      readValues(
        [element('image', init)],
        { values: { x: 'y' }, files: { x: { name, bytes } } },
        { host: { documents } },
      );
    const { inputs, display_values, promptValues, images } = await read(png);
    expect([inputs, display_values, promptValues]).to.deep.equal([
      { x: { name: 'ab.txt', size: png.length } },
      { x: 'ab.txt' },
      { x: 'ab.txt' },
    ]);
    expect(images).to.deep.equal([{ bytes: png, mimeType: 'image/png' }]);
    expect((await read(Buffer.from('\xff\xd8\xff\xe0', 'latin1'))).images[0]?.mimeType).to.equal('image/jpeg');
    expect((await read(Buffer.from('RIFF0000WEBPVP8 ', 'latin1'))).images[0]?.mimeType).to.equal('image/webp');
    const sentence = async (...given: Parameters<typeof read>): Promise<unknown> =>
      ((await failureOf(read(...given))) as RestError & { data: { params: unknown } }).data.params;
    const wrong = { x: 'X must be a PNG, JPEG, WebP or GIF image.' };
    for (const bytes of ['<svg onload=alert(1)>', '%PDF-1.7', 'x', '    ftypavif']) {
      expect(await sentence(Buffer.from(bytes), {}, 'a.png'), bytes).to.deep.equal(wrong);
    }
    expect(await sentence(Buffer.concat([png, Buffer.alloc(5 * 1_048_576)]))).to.deep.equal({
      x: 'X must not be larger than 5 MB.',
    });
    expect(await sentence(png, { max: 0.00001 })).to.deep.equal({ x: 'X must not be larger than 0.00001 MB.' });
    expect(await sentence(Buffer.alloc(0), { required: true })).to.deep.equal({ x: 'X is required.' });
    expect((await read(Buffer.alloc(0))).images).to.deep.equal([]);
    expect(readValue(element('image'), 'text')).to.deep.equal({ error: 'X must be a file.' });
  });
});
