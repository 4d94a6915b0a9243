import { expect } from 'chai';
import type { JsonSchema } from '#plugin-api';
import { readSettings, settingsFields } from '../../../../plugins/svc/modules/automations/pages/settings-fields.ts';
import { fillDefaults, schemaErrors } from '../../../../plugins/svc/modules/automations/tasks/settings-schema.ts';

const schema: JsonSchema = {
  type: 'object',
  properties: {
    tone: { type: 'string', title: 'Tone', enum: ['dry', 'warm'], default: 'dry' },
    base: {
      type: 'integer',
      oneOf: [
        { const: 1, title: 'Manuals' },
        { const: 2, title: 'Answers' },
      ],
    },
    words: { type: 'integer', minimum: 10, maximum: 100, default: 50, required: true },
    prompt: { type: 'string', format: 'textarea-field', minLength: 1 },
    live: { type: 'boolean', default: true },
    tags: { type: 'array', items: { type: 'string' } },
    image: { type: 'object', properties: { size: { type: 'string', default: '' }, extra: { type: 'object' } } },
    temperature: { type: ['number', 'null'], minimum: 0, exclusiveMinimum: true },
  },
  required: ['prompt'],
};

describe('the form of a task type', () => {
  it('has a field for every member, with nested objects flattened', () => {
    const fields = settingsFields(schema, {
      settings: { tone: 'warm', tags: ['a', 'b'], image: { extra: { x: 1 } } },
      errors: { 'settings.words': 'Words must be from 10 to 100.' },
    });
    expect(fields.map(({ name, type, value }) => [name, type, value])).to.deep.equal([
      ['settings[tone]', 'select', 'warm'],
      ['settings[base]', 'select', ''],
      ['settings[words]', 'number', 50],
      ['settings[prompt]', 'textarea', ''],
      ['settings[live]', 'switch', true],
      ['settings[tags]', 'textarea', 'a\nb'],
      ['settings[image][size]', 'text', ''],
      ['settings[image][extra]', 'textarea', '{\n  "x": 1\n}'],
      ['settings[temperature]', 'number', ''],
    ]);
    expect(fields[1]?.options).to.deep.equal([
      { value: '', label: 'Default' },
      { value: '1', label: 'Manuals' },
      { value: '2', label: 'Answers' },
    ]);
    expect(fields[2]).to.deep.include({ error: 'Words must be from 10 to 100.', required: true, min: 10, max: 100 });
    expect(fields[3]).to.deep.include({ required: true });
  });

  it('reads typed values in the types of the schema', () => {
    const form = {
      settings: {
        tone: 'warm',
        base: '2',
        words: '70',
        prompt: 'One\r\nTwo',
        live: '0',
        tags: ' a \r\n\r\nb',
        image: { size: ' 10x10 ', extra: '{"x":2}' },
        temperature: '',
      },
    };
    expect(readSettings(schema, form)).to.deep.equal({
      tone: 'warm',
      base: 2,
      words: 70,
      prompt: 'One\nTwo',
      live: false,
      tags: ['a', 'b'],
      image: { size: '10x10', extra: { x: 2 } },
      temperature: null,
    });
    expect(readSettings(schema, { settings: { base: '', words: 'many', temperature: '0.5' } })).to.deep.equal({
      words: 'many',
      temperature: 0.5,
    });
  });

  it('validates by the schema, including draft 4 syntax', () => {
    expect(schemaErrors(schema, fillDefaults(schema, { prompt: 'x' }))).to.deep.equal({});
    expect(schemaErrors(schema, { tone: 'loud', words: 'many', prompt: '', tags: [1], temperature: 0 })).to.deep.equal({
      'settings.tone': 'Tone must be one of dry, warm.',
      'settings.words': 'Words must be a whole number.',
      'settings.prompt': 'Prompt must not be empty.',
      'settings.tags.0': 'Tags must be text.',
      'settings.temperature': 'Temperature must be more than 0.',
    });
    expect(Object.keys(schemaErrors(schema, {}))).to.have.members(['settings.words', 'settings.prompt']);
  });
});
