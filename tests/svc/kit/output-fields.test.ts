import { expect } from 'chai';
import { checkValue } from '#plugin-api';
import {
  dataSentence,
  dataTable,
  outputFieldErrors,
  outputFieldsSchema,
  outputOfFields,
} from '../../../plugins/svc/kit/output-fields.ts';

const fields = [
  'Title',
  'Price (€) | number | Without tax',
  'Sold out|yes/no',
  'Tags | list',
  'Mood | choice: good, bad',
];

describe('Fields of data', () => {
  it('are typed as lines, and described to the model by a schema', () => {
    const { schema } = outputOfFields(fields);
    expect(checkValue(outputFieldsSchema, fields).errors).to.deep.equal({});
    expect(schema.required).to.deep.equal(['title', 'price', 'sold_out', 'tags', 'mood']);
    expect(schema.properties?.['price']).to.deep.equal({
      anyOf: [{ type: 'number' }, { type: 'null' }],
      description: 'Price (€): Without tax',
    });
    const data = { title: 'Salt', price: null, sold_out: true, tags: [], mood: 'good' };
    expect(checkValue(schema, data).errors).to.deep.equal({});
    expect(Object.keys(checkValue(schema, { ...data, mood: 'dull', price: '7' }).errors)).to.have.members([
      'mood',
      'price',
    ]);
  });

  it('have names in any script', () => {
    expect(outputOfFields(['Größe', '价格']).schema.required).to.deep.equal(['grosse', 'field_2']);
  });

  it('say what is wrong with a line', () => {
    expect(outputFieldErrors(['A | date', 'B', 'b | number', 'C | choice: ,'], 'output')).to.deep.equal({
      'output[0]': 'output[0] must have the type text, number, yes/no, list, or choice: with its choices.',
      'output[2]': 'output[2] has the same name as another field.',
      'output[3]': 'output[3] must have the type text, number, yes/no, list, or choice: with its choices.',
    });
    expect(checkValue(outputFieldsSchema, [' | number']).errors).to.have.property('[0]');
  });

  it('are shown as a table, and in one line', () => {
    const data = { title: 'A | B\nC', price: 2.5, sold_out: false, tags: ['x', 'y'], mood: null };
    expect(dataTable(fields, data).split('\n')).to.deep.equal([
      '| Title | A \\| B C |',
      '| --- | --- |',
      '| **Price (€)** | 2.5 |',
      '| **Sold out** | ✗ |',
      '| **Tags** | x, y |',
      '| **Mood** |  |',
    ]);
    expect(dataSentence(fields.slice(3), data)).to.equal('Tags: x, y · Mood: –');
  });
});
