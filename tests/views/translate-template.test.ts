import { expect } from 'chai';
import Handlebars from 'handlebars';
import { translateTemplate } from '../../host/views/translate-template.ts';

/** What a template renders in a language, and the texts that were looked up. */
function render(source: string, catalog: Readonly<Record<string, string>>, data: object = {}) {
  const program = Handlebars.parse(source);
  const keys: string[] = [];
  translateTemplate(program, (text) => {
    keys.push(text);
    return catalog[text];
  });
  const helpers = {
    __: (text: string) => catalog[text] ?? text,
    data: (value: unknown) => value,
    concat: (...parts: unknown[]) => parts.slice(0, -1).join(''),
    icon: (name: string) => `*${name}*`,
  };
  return {
    keys,
    html: Handlebars.compile(program, { preventIndent: true })(data, { helpers, partials: { p: '{{label}}' } }),
  };
}

describe('the translation of a template', () => {
  const cases: readonly [name: string, source: string, catalog: Record<string, string>, html: string][] = [
    [
      'text between tags, with its spaces',
      '<p>\n  Save\n  it </p>',
      { 'Save it': 'Speichern' },
      '<p>\n  Speichern </p>',
    ],
    [
      'values in another order',
      '<b>Edit {{title}}</b>',
      { 'Edit {title}': '{title} bearbeiten' },
      '<b>T bearbeiten</b>',
    ],
    [
      'links within a sentence',
      '<p>Read <a href="{{title}}">the manual</a> first.</p>',
      { 'Read <1>the manual</1> first.': 'Zuerst <1>das Handbuch</1> lesen.' },
      '<p>Zuerst <a href="T">das Handbuch</a> lesen.</p>',
    ],
    [
      'code as a value',
      '<p>Set <code>A</code>.</p>',
      { 'Set {code}.': '{code} setzen.' },
      '<p><code>A</code> setzen.</p>',
    ],
    ['an icon before the text', '<a>{{icon "x"}} Close</a>', { Close: 'Zu' }, '<a>*x* Zu</a>'],
    [
      'attributes',
      '<i title="Edit {{title}}" class="Close">',
      { 'Edit {title}': 'Ändern: {title}', Close: '!' },
      '<i title="Ändern: T" class="Close">',
    ],
    ['attributes in a block', '<i{{#if title}} title="Close"{{/if}}>', { Close: 'Zu' }, '<i title="Zu">'],
    [
      'a block within a sentence',
      '<p>On{{#if title}} since {{title}}{{/if}}</p>',
      { On: 'An', 'since {title}': 'seit {title}' },
      '<p>An seit T</p>',
    ],
    ['literals passed to partials', '{{> p label="Close"}}', { Close: 'Zu' }, 'Zu'],
    ['a partial that is alone in a block', '{{#if label}}\n  {{> p}}\n{{/if}}', {}, '  L'],
    ['values that are texts', '<i>{{label}}</i> <i>{{title}}</i>', { L: 'Text', T: 'never' }, '<i>Text</i> <i>T</i>'],
    [
      'parts of a concatenation',
      '{{> p label=(concat "Edit " title)}}',
      { 'Edit {title}': '{title} ändern' },
      'T ändern',
    ],
    [
      'paragraphs of a mail',
      'Hello {{title}},\n\nBye',
      { 'Hello {title},': 'Hallo {title},', Bye: 'Tschüss' },
      'Hallo T,\n\nTschüss',
    ],
    [
      'two links side by side',
      '<a>Close</a> <a>Save</a>',
      { Close: 'Zu', Save: 'Sichern' },
      '<a>Zu</a> <a>Sichern</a>',
    ],
    ['quotation marks of a translation', '<i title="Close">', { Close: '"Zu"' }, '<i title="&quot;Zu&quot;">'],
    [
      'nothing in code',
      '<pre>Close</pre><script>Close</script>',
      { Close: 'Zu' },
      '<pre>Close</pre><script>Close</script>',
    ],
  ];
  for (const [name, source, catalog, html] of cases)
    it(`has ${name}`, () => expect(render(source, catalog, { title: 'T', label: 'L' }).html).to.equal(html));

  it('leaves what has no translation as it is', () => {
    const source = '<p class="a">Read <a href="/">it</a> {{title}}</p>';
    expect(render(source, {}, { title: 'T' }).html).to.equal('<p class="a">Read <a href="/">it</a> T</p>');
  });
});
