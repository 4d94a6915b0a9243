import { expect } from 'chai';
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
});
