import { expect } from 'chai';
import {
  checkValue,
  fieldError,
  fillDefaults,
  formFields,
  formSections,
  linkErrors,
  mergeChanges,
  readForm,
  readValue,
  sectionPaths,
  type JsonSchema,
} from '#plugin-api';

const schema: JsonSchema = {
  type: 'object',
  properties: {
    tone: { type: 'string', title: 'Tone', enum: ['dry', 'warm'], default: 'dry', ui: { labels: { dry: 'Very dry' } } },
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
    tags: { type: 'array', items: { type: 'string', pattern: '^[a-z]+$', rule: 'must be letters' } },
    image: { type: 'object', properties: { size: { type: 'string', default: '' }, extra: { type: 'object' } } },
    temperature: { type: ['number', 'null'], minimum: 0, exclusiveMinimum: true },
    key: { type: 'string', writeOnly: true },
    made: { type: 'string', readOnly: true },
  },
  required: ['prompt'],
};

describe('the form of a schema', () => {
  const fields = formFields(schema, {
    values: { tone: 'warm', tags: ['a', 'b'], image: { extra: { x: 1 } }, key: 'sk-secret' },
    errors: { words: 'words must be from 10 to 100.', 'tags[1]': 'tags[1] must be letters.' },
    group: 'settings',
    id: 'task',
  });

  it('has a field for every member that can be edited, with nested objects flattened', () => {
    expect(fields.map(({ name, type, value }) => [name, type, value])).to.deep.equal([
      ['settings[tone]', 'select', 'warm'],
      ['settings[base]', 'select', undefined],
      ['settings[words]', 'number', 50],
      ['settings[prompt]', 'textarea', undefined],
      ['settings[live]', 'switch', true],
      ['settings[tags]', 'textarea', 'a\nb'],
      ['settings[image][size]', 'text', ''],
      ['settings[image][extra]', 'textarea', '{\n  "x": 1\n}'],
      ['settings[temperature]', 'number', undefined],
      ['settings[key]', 'secret', undefined],
    ]);
    expect(fields[6]?.id).to.equal('task-image-size');
    expect(fields[0]?.options?.map(({ label }) => label)).to.deep.equal(['Very dry', 'Warm']);
    expect(fields[1]?.options?.map(({ label }) => label)).to.deep.equal(['Default', 'Manuals', 'Answers']);
    expect(fields[3]).to.include({ required: true });
    expect(JSON.stringify(fields)).not.to.contain('sk-secret');
  });

  it('shows an error with the label, and of a list with the line', () => {
    expect(fields[2]).to.include({ error: 'Words must be from 10 to 100.', required: true, min: 10, max: 100 });
    expect(fields[5]).to.include({ error: 'Line 2 must be letters.' });
    expect(fieldError({ a: 'This is wrong.' }, 'a', 'A')).to.equal('This is wrong.');
    expect(
      linkErrors({ words: 'words must be from 10 to 100.', 'tags[1]': 'tags[1] must be letters.', x: 'x.' }, fields),
    )
      .to.deep.include({ path: 'tags[1]', href: '#task-tags', sentence: 'Tags: Line 2 must be letters.' })
      .and.deep.include({ path: 'x', href: '', sentence: 'x.' });
  });

  it('keeps a stored choice that is gone, and takes hints of the page', () => {
    const [field] = formFields(schema, {
      values: { prompt: 'old' },
      paths: ['prompt'],
      hints: { prompt: { choices: [{ value: 'new', label: 'New' }], help: 'Choose.', label: 'Which' } },
    });
    expect(field).to.deep.include({
      type: 'select',
      id: 'field-prompt',
      name: 'prompt',
      help: 'Choose.',
      label: 'Which',
      options: [
        { value: 'new', label: 'New' },
        { value: 'old', label: 'old (not available)' },
      ],
    });
  });

  it('is laid out in sections that count their errors', () => {
    const sections = [{ id: 'a', title: 'A', groups: [{ wide: true, fields: ['image', 'words'] }] }];
    const [shown] = formSections(schema, sections, { values: {}, errors: { 'image.size': 'image.size is wrong.' } });
    expect(shown?.errors).to.equal(1);
    expect(shown?.groups[0]?.fields.map(({ path }) => path)).to.deep.equal(['image.size', 'image.extra', 'words']);
    expect(sectionPaths(sections)).to.deep.equal(['image', 'words']);
  });
});

describe('the checkboxes of a list of choices', () => {
  it('have the labels that the list gives, or its items', () => {
    const items = { type: 'string', enum: ['openai', 'mcp'], ui: { labels: { mcp: 'MCP server' } } } as const;
    const optionsOf = (routes: JsonSchema): unknown =>
      formFields({ type: 'object', properties: { routes } }, { values: {} })[0]?.options?.map(({ label }) => label);
    expect(optionsOf({ type: 'array', items })).to.deep.equal(['Openai', 'MCP server']);
    expect(optionsOf({ type: 'array', items, ui: { labels: { openai: 'OpenAI' } } })).to.deep.equal(['OpenAI', 'Mcp']);
  });

  it('are those that only the page knows, with the stored ones that are gone', () => {
    const texts = { type: 'object', properties: { sizes: { type: 'array', items: { type: 'string' } } } } as const;
    const [field] = formFields(texts, {
      values: { sizes: ['8x8', '1x1'] },
      hints: { sizes: { choices: [{ value: '1x1', label: '1 × 1' }] } },
    });
    expect(field).to.deep.include({
      type: 'checkboxes',
      value: ['8x8', '1x1'],
      options: [
        { value: '1x1', label: '1 × 1' },
        { value: '8x8', label: '8x8' },
      ],
    });
    expect(readForm(texts, { sizes: ['', '1x1'] })).to.deep.equal({ sizes: ['1x1'] });
  });
});

describe('readForm', () => {
  it('reads typed values in the types of the schema', () => {
    const settings = {
      tone: 'warm',
      base: '2',
      words: '70',
      prompt: 'One\r\nTwo',
      live: '0',
      tags: ' a \r\n\r\nb',
      image: { size: ' 10x10 ', extra: '{"x":2}' },
      temperature: '',
      made: 'up',
    };
    expect(readForm(schema, { settings }, { group: 'settings' })).to.deep.equal({
      tone: 'warm',
      base: 2,
      words: 70,
      prompt: 'One\nTwo',
      live: false,
      tags: ['a', 'b'],
      image: { size: '10x10', extra: { x: 2 } },
      temperature: null,
    });
  });

  it('leaves out what is not posted, keeps what is no number, and resets what is emptied', () => {
    expect(readForm(schema, { base: '', words: 'many', temperature: '0.5', image: { extra: '{' } })).to.deep.equal({
      words: 'many',
      temperature: 0.5,
      image: { extra: '{' },
    });
    expect(readForm(schema, { words: '', tone: '', live: '1' }, { paths: ['words', 'tone'] })).to.deep.equal({
      words: 50,
      tone: 'dry',
    });
  });

  it('reads checkboxes, and one text or several', () => {
    expect(readValue({ type: 'array', items: { enum: ['a', 'b'] } }, ['', 'b'])).to.deep.equal(['b']);
    const stop = { anyOf: [{ type: 'string' }, { type: 'array' }] } as const;
    expect([readValue(stop, ' x'), readValue(stop, 'x\ny'), readValue(stop, '')]).to.deep.equal([
      ' x',
      ['x', 'y'],
      undefined,
    ]);
  });
});

describe('checkValue', () => {
  const errorsOf = (value: unknown, init?: Parameters<typeof checkValue>[2]): object =>
    checkValue(schema, value, init).errors;

  it('says what is wrong with each member, in either draft', () => {
    expect(errorsOf(fillDefaults(schema, { prompt: 'x' }))).to.deep.equal({});
    expect(errorsOf({ tone: 'loud', words: 'many', prompt: '', tags: [1], temperature: 0, base: 3 })).to.deep.equal({
      tone: 'tone must be one of dry, warm.',
      words: 'words must be a whole number from 10 to 100.',
      prompt: 'prompt must not be empty.',
      'tags[0]': 'tags[0] must be text.',
      temperature: 'temperature must be more than 0.',
      base: 'base must be one of 1 (Manuals), 2 (Answers).',
    });
    expect(errorsOf({})).to.deep.equal({ words: 'words is missing.', prompt: 'prompt is missing.' });
    expect(errorsOf('x', { path: 'shop' })).to.deep.equal({ shop: 'shop must be an object.' });
  });

  it('begins with the label where that is asked for', () => {
    expect(errorsOf({ words: 5, prompt: 'x', tags: ['1'] }, { path: 'settings', subject: 'label' })).to.deep.equal({
      'settings.words': 'Words must be from 10 to 100.',
      'settings.tags[0]': 'Tags must be letters.',
    });
  });

  const rules: readonly (readonly [JsonSchema, unknown, string])[] = [
    [{ type: 'integer', minimum: 3 }, 'x', 'must be a whole number, 3 or more'],
    [{ type: 'number', maximum: 3 }, 4, 'must be 3 or less'],
    [{ type: 'integer', minimum: Number.MIN_SAFE_INTEGER }, 1.5, 'must be a whole number'],
    [{ type: 'string', maxLength: 2 }, 'abc', 'may have at most 2 characters; it has 3'],
    [{ type: 'string', minLength: 2 }, 'a', 'must have at least 2 characters'],
    [{ type: 'string', pattern: '^a$', examples: ['a'] }, 'b', 'does not have the expected form, such as a'],
    [{ type: 'string', format: 'uri' }, 'b', 'must be a URL, such as https://example.com'],
    [{ type: 'array', maxItems: 1 }, [1, 2], 'may have at most 1 entries'],
    [{ type: 'array', minItems: 1 }, [], 'must have at least one entry'],
    [{ type: 'array', uniqueItems: true }, [1, 1], 'must not have an entry twice'],
    [{ type: 'number', multipleOf: 2 }, 3, 'must be a multiple of 2'],
    [{ const: 1 }, 2, 'must be 1'],
    [{ type: 'number', maximum: 3, exclusiveMaximum: true }, 3, 'must be less than 3'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 3, 'must be text'],
  ];
  for (const [rule, value, sentence] of rules)
    it(`says that ${JSON.stringify(value)} ${sentence}`, () =>
      expect(checkValue(rule, value, { path: 'it' }).errors['it']).to.equal(`it ${sentence}.`));

  it('names the members and the variants that there are', () => {
    const variants: JsonSchema = {
      type: 'object',
      discriminator: { propertyName: 'type' },
      required: ['type'],
      oneOf: [{ properties: { type: { const: 'a' } } }, { properties: { type: { const: 'b' } } }],
    };
    expect(checkValue(variants, { type: 'c' }).errors).to.deep.equal({ type: 'type must be one of a, b.' });
    const closed: JsonSchema = { type: 'object', title: 'Shop', properties: { a: {} }, additionalProperties: false };
    expect(checkValue(closed, { b: 1 }).errors).to.deep.equal({ b: 'b is unknown. Use one of a.' });
    expect(checkValue(closed, 1).errors).to.deep.equal({ '': 'The shop must be an object.' });
  });

  it('converts the text of command lines where that is asked for', () => {
    const given = { words: '70', prompt: 'x' };
    expect(checkValue(schema, given, { coerce: true })).to.deep.equal({
      value: { words: 70, prompt: 'x' },
      errors: {},
    });
    expect(given.words).to.equal('70');
  });
});

describe('defaults and changes', () => {
  const members: JsonSchema = {
    type: 'object',
    properties: {
      a: { type: 'object', properties: { x: { default: 1 }, y: { default: 2 } } },
      list: { type: 'array', items: { type: 'object', properties: { z: { default: 3 } } } },
      map: { type: 'object', additionalProperties: { type: 'object', properties: { z: { default: 3 } } } },
    },
  };

  it('fill in what is missing at every level, and drop what is unknown where that is asked for', () => {
    expect(fillDefaults(members, { a: { x: 5 }, list: [{}], map: { k: {} }, other: 1 })).to.deep.equal({
      a: { x: 5, y: 2 },
      list: [{ z: 3 }],
      map: { k: { z: 3 } },
      other: 1,
    });
    expect(fillDefaults(members, { other: 1 }, 'drop')).to.deep.equal({ a: { x: 1, y: 2 } });
  });

  it('merge objects and replace lists and maps', () => {
    const before = { a: { x: 1, y: 2 }, list: [1, 2], map: { k: 1 } };
    expect(mergeChanges(members, before, { a: { y: 9 }, list: [3], map: { l: 2 } })).to.deep.equal({
      a: { x: 1, y: 9 },
      list: [3],
      map: { l: 2 },
    });
  });
});
