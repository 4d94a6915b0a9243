import { expect } from 'chai';
import { optionLines, readOptions } from '../../../../../plugins/svc/admin-ui/element-drafts.ts';
import { describeBotsAdmin, errorsIn } from './bots-admin.ts';

const formsPage = '/admin/svc/bots/forms';
const formPage = '/admin/svc/bots/form';

const options = [
  { value: 'de', label: 'Germany' },
  { value: 'fr', label: 'fr' },
];
const types = ['text', 'textarea', 'email', 'phone', 'number', 'select', 'radio', 'checkbox', 'consent', 'hidden'];
const whole = {
  id: 'whole',
  name: 'Everything',
  intro: 'Please **fill in**\n<all>',
  submit_label: 'Go',
  thanks: 'Thanks "a lot"',
  elements: types.map((type, at) => ({
    id: `field-${String(at)}`,
    type,
    label: `Field of ${type}`,
    help: at % 2 === 0 ? 'Help' : '',
    placeholder: at % 3 === 0 ? 'Hint' : '',
    required: at % 2 === 1 && type !== 'hidden',
    options: ['select', 'radio', 'checkbox'].includes(type) ? options : [],
    source: type === 'hidden' ? 'query:utm_source' : '',
  })),
};
const showing = {
  id: 'show',
  name: 'Show it',
  event: 'message_received',
  conditions: [],
  action: { type: 'display_form', form_id: 'whole' },
};

describeBotsAdmin('the forms of a chatbot', (admin) => {
  it('stay unchanged when saved untouched, with elements of all types', async () => {
    const { browser, add, bots, fieldsOf } = admin();
    const before = await add({ forms: [whole] });
    const path = `${formPage}?bot=${String(before.id)}&form=whole`;
    expect((await browser.submit(path, 'save', await fieldsOf(path))).text)
      .to.contain('Everything saved.')
      .and.contain('10 fields');
    expect((await bots())[0]?.forms).to.deep.equal(before.forms);
  });

  it('are created from the typed fields: ids from labels, blank fields left out', async () => {
    const { browser, add, bots } = admin();
    const { id } = await add({ forms: [{ ...whole, id: 'call-me-back' }] });
    const made = await browser.submit(`${formPage}?bot=${String(id)}`, 'save', {
      bot: String(id),
      form: '',
      id: '',
      name: 'Call me back!',
      intro: '',
      submit_label: '',
      thanks: '',
      'elements[0][label]': 'Größe & Farbe',
      'elements[0][type]': 'radio',
      'elements[0][options]': ' s | Small \r\n\r\nred|Red|ish\r\nplain',
      'elements[0][required]': '1',
      'elements[1][label]': '',
      'elements[1][type]': 'text',
      'elements[2][label]': 'Mail',
      'elements[2][type]': 'email',
      'elements[2][id]': 'email',
      'elements[2][options]': 'ignored',
    });
    expect(made.text).to.contain('Call me back! saved.').and.contain('No rule shows this form yet.');
    expect((await bots())[0]?.forms[1]).to.deep.equal({
      id: 'call-me-back-2',
      name: 'Call me back!',
      intro: '',
      submit_label: '',
      thanks: '',
      elements: [
        {
          id: 'grosse-farbe',
          type: 'radio',
          label: 'Größe & Farbe',
          help: '',
          placeholder: '',
          required: true,
          options: [
            { value: 's', label: 'Small' },
            { value: 'red', label: 'Red|ish' },
            { value: 'plain', label: 'plain' },
          ],
          source: '',
        },
        {
          id: 'email',
          type: 'email',
          label: 'Mail',
          help: '',
          placeholder: '',
          required: false,
          options: [],
          source: '',
        },
      ],
    });
  });

  it('let fields be added, moved and removed without saving', async () => {
    const { browser, add, bots, fieldsOf } = admin();
    const { id } = await add({ forms: [whole] });
    const path = `${formPage}?bot=${String(id)}&form=whole`;
    const fields = await fieldsOf(path);
    const nonce =
      /name="_nonce" value="([^"]+)"/.exec((await browser.get(path)).html.split('id="bot-form"')[1] ?? '')?.[1] ?? '';
    const labels = async (asked: string, extra = {}): Promise<string[]> => {
      const { html } = await browser.post(`${formPage}?action=arrange`, {
        ...fields,
        ...extra,
        _do: asked,
        _nonce: nonce,
      });
      return [...html.matchAll(/name="elements\[\d+\]\[label\]" value="([^"]*)"/g)].map(([, label = '']) =>
        label.replace('Field of ', ''),
      );
    };
    expect(await labels('down:0')).to.deep.equal(['textarea', 'text', ...types.slice(2)]);
    expect(await labels('up:8')).to.deep.equal([...types.slice(0, 7), 'consent', 'checkbox', 'hidden']);
    expect(await labels('up:0')).to.deep.equal(types);
    expect(await labels('down:9')).to.deep.equal(types);
    expect(await labels('remove:3')).to.deep.equal(types.filter((type) => type !== 'phone'));
    expect(await labels('add', { add_type: 'radio' })).to.deep.equal([...types, '']);
    expect((await bots())[0]?.forms[0]?.elements).to.have.length(10);
  });

  it('are rejected with an error at each invalid field', async () => {
    const { browser, add, bots } = admin();
    const { id } = await add({ forms: [whole] });
    const path = `${formPage}?bot=${String(id)}`;
    const fields = {
      bot: String(id),
      form: '',
      id: 'whole',
      name: 'Second',
      thanks: '',
      'elements[0][id]': 'same',
      'elements[0][label]': 'One',
      'elements[0][type]': 'select',
      'elements[0][options]': 'a | A\nb | B\na | Again',
      'elements[1][id]': 'same',
      'elements[1][label]': 'Two',
      'elements[1][type]': 'radio',
      'elements[1][options]': '',
    };
    const refused = await browser.submit(path, 'save', fields);
    expect([refused.status, errorsIn(refused.html)]).to.deep.equal([
      400,
      {
        'form-id': 'Id is used by another form.',
        'element-0-options': 'Line 3 has a value that another line has.',
        'element-1-id': 'Id is used by another field.',
        'element-1-options': 'Options must hold at least one option.',
      },
    ]);
    expect(refused.html).to.contain('a | A\nb | B\na | Again');
    const shape = await browser.submit(path, 'save', {
      ...fields,
      id: 'no blanks',
      name: '',
      'elements[1][type]': 'colour',
    });
    expect(Object.keys(errorsIn(shape.html))).to.have.members(['form-name', 'form-id', 'element-1-type']);
    expect((await browser.submit(path, 'save', { bot: String(id), form: '', id: '', name: 'Empty' })).text).to.contain(
      'A form needs at least one field.',
    );
    const hidden = { ...fields, id: 'second', 'elements[0][options]': 'a', 'elements[1][id]': 'other' };
    for (const [source, parameter, field] of [
      ['query', 'utm source', 'element-1-parameter'],
      ['password', '', 'element-1-source'],
    ] as const) {
      const wrong = await browser.submit(path, 'save', {
        ...hidden,
        'elements[1][type]': 'hidden',
        'elements[1][source]': source,
        'elements[1][parameter]': parameter,
      });
      expect(Object.keys(errorsIn(wrong.html))).to.deep.equal([field]);
    }
    expect((await bots())[0]?.forms).to.have.length(1);
    expect((await browser.get(`${formPage}?bot=${String(id)}&form=gone`)).status).to.equal(404);
  });

  it('update the rules that show them, and cannot be deleted while a rule does', async () => {
    const { browser, add, bots, fieldsOf } = admin();
    const { id } = await add({ forms: [whole], rules: [showing] });
    const list = `${formsPage}?bot=${String(id)}`;
    expect((await browser.submit(list, 'delete', { bot: String(id), form: 'whole' })).text).to.contain(
      'Nothing was deleted: the rule "Show it" shows this form.',
    );
    const path = `${formPage}?bot=${String(id)}&form=whole`;
    await browser.submit(path, 'save', { ...(await fieldsOf(path)), id: 'renamed' });
    expect((await bots())[0]?.rules[0]?.action).to.deep.equal({ type: 'display_form', form_id: 'renamed' });
    expect((await browser.submit(list, 'duplicate', { bot: String(id), form: 'renamed' })).text).to.contain(
      '"Everything (copy)" created.',
    );
    expect((await browser.submit(list, 'delete', { bot: String(id), form: 'everything-copy' })).text).to.contain(
      'Everything (copy) deleted.',
    );
    expect((await bots())[0]?.forms.map((form) => form.id)).to.deep.equal(['renamed']);
  });
});

describe('options, one per line', () => {
  it('are parsed as they are formatted', () => {
    const list = [
      { value: 'a', label: 'A' },
      { value: 'b', label: 'b' },
      { value: 'c', label: 'With | bar' },
    ];
    expect(readOptions(optionLines(list))).to.deep.equal(list);
    expect(readOptions(' | \n|label\nvalue|\n')).to.deep.equal([
      { value: '', label: '' },
      { value: '', label: 'label' },
      { value: 'value', label: 'value' },
    ]);
  });
});
