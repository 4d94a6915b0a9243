import { fieldErrorsOf, type FieldErrors } from '#plugin-api';
import { expect } from 'chai';
import { readTransfer } from '../../../plugins/svc/kit/read-transfer.ts';

const kind = { format: 'acme-cups', version: 2, list: 'cups', noun: 'cups', title: 'cups of Acme' };

function refused(text: string): FieldErrors | null {
  try {
    readTransfer(text, kind);
  } catch (error) {
    return fieldErrorsOf(error);
  }
  throw new Error('It was read.');
}

describe('a file of settings from another site', () => {
  it('has a list of settings and may begin with a byte order mark', () => {
    expect(
      readTransfer('\ufeff{"format": "acme-cups", "version": 2, "cups": [{"size": 1}, null]}', kind),
    ).to.deep.equal([{ size: 1 }, null]);
  });

  const errors: Readonly<Record<string, [string, FieldErrors]>> = {
    'is no JSON': ['{', { file: 'The file is not JSON. Choose a file from an export.' }],
    'is a list': ['[]', { format: 'The file is not an export of cups of Acme. Its format must be acme-cups.' }],
    'is null': ['null', { format: 'The file is not an export of cups of Acme. Its format must be acme-cups.' }],
    'is of another kind': [
      '{"format": "acme-pots", "version": 2, "cups": [{}]}',
      { format: 'The file is not an export of cups of Acme. Its format must be acme-cups.' },
    ],
    'has another version': [
      '{"format": "acme-cups", "version": "2", "cups": [{}]}',
      { version: 'The file has version "2". Only version 2 can be imported.' },
    ],
    'has no version': [
      '{"format": "acme-cups", "cups": [{}]}',
      { version: 'The file has version null. Only version 2 can be imported.' },
    ],
    'holds no list': [
      '{"format": "acme-cups", "version": 2, "cups": {}}',
      { cups: 'cups must contain 1 to 200 cups.' },
    ],
    'holds none': ['{"format": "acme-cups", "version": 2, "cups": []}', { cups: 'cups must contain 1 to 200 cups.' }],
    'holds too many': [
      JSON.stringify({ format: 'acme-cups', version: 2, cups: Array(201).fill({}) }),
      { cups: 'cups must contain 1 to 200 cups.' },
    ],
  };
  for (const [what, [text, sentences]] of Object.entries(errors)) {
    it(`is rejected with a sentence if it ${what}`, () => expect(refused(text)).to.deep.equal(sentences));
  }
});
