import { fileURLToPath } from 'node:url';

import { expect } from 'chai';

import { schemaField } from '#plugin-api';
import { createViews } from '../../host/views/views.ts';

describe('schemaField', () => {
  it('takes label, help, limits and default from the schema', () => {
    const schema = {
      type: 'integer',
      title: 'Text timeout',
      description: 'Seconds.',
      minimum: 1,
      maximum: 600,
      default: 60,
    } as const;
    expect(schemaField('limits[text_timeout]', schema)).to.deep.equal({
      path: 'limits[text_timeout]',
      type: 'number',
      name: 'limits[text_timeout]',
      id: 'field-limits-text_timeout',
      label: 'Text timeout',
      help: 'Seconds.',
      value: 60,
      min: 1,
      max: 600,
      step: 1,
    });
  });

  it('prefers the stored value, and names a field without a title after itself', () => {
    expect(
      schemaField('openai[base_url]', { type: 'string', format: 'uri', default: 'x' }, { value: 'https://a' }),
    ).to.include({ type: 'url', value: 'https://a', label: 'Base url' });
  });

  const types: readonly (readonly [Parameters<typeof schemaField>[1], string])[] = [
    [{ type: 'boolean' }, 'switch'],
    [{ type: ['number', 'null'] }, 'number'],
    [{ type: 'string', enum: ['a'] }, 'select'],
    [{ type: 'string', format: 'email' }, 'email'],
    [{ type: 'string', format: 'textarea-field' }, 'textarea'],
    [{ type: 'array', items: { type: 'string' } }, 'textarea'],
    [{ type: 'string', writeOnly: true }, 'secret'],
    [{}, 'text'],
  ];
  for (const [schema, type] of types) {
    it(`makes a ${type} of ${JSON.stringify(schema)}`, () => expect(schemaField('a', schema).type).to.equal(type));
  }

  it('offers only the values of an enum with a default', () => {
    expect(schemaField('a', { enum: ['x', 'y'], default: 'x' }).options).to.deep.equal([
      { value: 'x', label: 'X' },
      { value: 'y', label: 'Y' },
    ]);
    expect(schemaField('a', { enum: ['x'] }).options).to.deep.equal([
      { value: '', label: 'Default' },
      { value: 'x', label: 'X' },
    ]);
  });

  it('never contains a secret, even when given one', () => {
    const field = schemaField(
      'key',
      { type: 'string', writeOnly: true, default: 'sk-default' },
      { value: 'sk-secret' },
    );
    expect(JSON.stringify(field)).not.to.contain('sk-');
    expect(
      schemaField('key', { writeOnly: true }, { value: { saved: true, ending: 'abcd', plain: 'sk-secret' } }),
    ).to.deep.include({ saved: true, ending: 'abcd' });
  });
});

describe('admin/field', () => {
  const views = createViews({ directories: [fileURLToPath(new URL('../../views', import.meta.url))] });
  const render = (field: object): Promise<string> => views.render('admin/field', field as Record<string, unknown>);

  it('ties label, help and error to the control', async () => {
    const html = await render({ id: 'f', name: 'n', label: 'L', value: '<v>', help: 'H', error: 'E' });
    expect(html).to.contain('<label class="field-label" for="f">L</label>').and.contain('value="&lt;v&gt;"');
    expect(html)
      .to.contain('aria-describedby="f-error f-help"')
      .and.contain('aria-invalid="true"')
      .and.contain('id="f-error">E<')
      .and.contain('id="f-help">H<');
  });

  it('keeps a limit of 0', async () => {
    expect(await render({ id: 'f', name: 'n', type: 'number', label: 'L', min: 0, value: 0 }))
      .to.contain('min="0"')
      .and.contain('value="0"');
  });

  it('selects the stored option whatever its type', async () => {
    const html = await render({
      id: 'f',
      name: 'n',
      type: 'select',
      label: 'L',
      value: 2,
      options: [
        { value: '1', label: 'one' },
        { value: '2', label: 'two' },
      ],
    });
    expect(html).to.contain('<option value="2" selected>two</option>').and.contain('<option value="1">one</option>');
  });

  it('posts 0 for a switch that is off', async () => {
    expect(await render({ id: 'f', name: 'n', type: 'switch', label: 'L', value: true })).to.match(
      /name="n" value="0">[^]*name="n" value="1" checked/,
    );
  });

  it('shows of a saved secret its ending alone, and offers to remove it', async () => {
    const html = await render({
      id: 'f',
      name: 'k[api]',
      type: 'secret',
      label: 'L',
      saved: true,
      ending: 'abcd',
      value: 'sk-secret',
    });
    expect(html)
      .to.contain('····abcd')
      .and.contain('name="_remove[]" value="k[api]"')
      .and.contain('type="password"')
      .and.contain('value=""')
      .and.not.contain('sk-secret');
    expect(await render({ id: 'f', name: 'k', type: 'secret', label: 'L' }))
      .to.contain('Not set')
      .and.not.contain('_remove');
  });
});
