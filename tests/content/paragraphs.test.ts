import { expect } from 'chai';
import { addParagraphs, unwrapShortcodes } from '../../host/content/html/paragraphs.ts';
import { createScanner } from '../../host/content/shortcodes/scanner.ts';

const scan = createScanner(['form', 'box', 'year']);

describe('paragraphs of plain text', () => {
  const cases: readonly (readonly [title: string, text: string, html: string])[] = [
    ['are separated by blank lines', 'One\n\nTwo\n \t\n\n\nThree', '<p>One</p>\n<p>Two</p>\n<p>Three</p>\n'],
    ['have breaks where lines end', 'One\ntwo\r\nthree', '<p>One<br />\ntwo<br />\nthree</p>\n'],
    ['have one break where the author wrote one', 'One<br>\ntwo<br />\nthree', '<p>One<br>\ntwo<br />\nthree</p>\n'],
    [
      'may contain inline tags',
      '<b>One</b> <a\nhref="/">x</a>\n\nTwo',
      '<p><b>One</b> <a\nhref="/">x</a></p>\n<p>Two</p>\n',
    ],
    ['do not split shortcodes', 'A [box\nid=1]a\n\nb[/box]\n\nC', '<p>A [box\nid=1]a\n\nb[/box]</p>\n<p>C</p>\n'],
    ['keep a smaller-than sign', 'a < b\nc', '<p>a < b<br />\nc</p>\n'],
    ['are not made of white space', ' \n\n ', ' \n\n '],
  ];
  for (const [title, text, html] of cases)
    it(title, () => {
      expect(addParagraphs(text, scan)).to.equal(html);
    });

  it('are not made in HTML', () => {
    for (const html of [
      '<p>One</p>\n\ntext\n\n<p>Two</p>',
      'Text\n\n<h2>Title</h2>\n\nmore',
      '<div>a\n\nb</div>',
      '<pre>a\n\nb</pre>',
      '<!-- wp:paragraph -->\n\ntext',
      '<UL><li>a</li></UL>\n\nb',
      '',
    ])
      expect(addParagraphs(html, scan), html).to.equal(html);
  });

  it('are not made of more than 50,000 lines', () => {
    expect(addParagraphs('a\n'.repeat(49_999), scan)).to.match(/^<p>a<br \/>\n/);
    const long = 'a\n'.repeat(50_000);
    expect(addParagraphs(long, scan)).to.equal(long);
  });

  it('take linear time', () => {
    for (const part of ['\n', '<', '<a ', '<p ', '[form', '[form]', '\n \n', '<br'])
      expect(unwrapShortcodes(addParagraphs(part.repeat(100_000), scan), scan)).to.be.a('string');
  }).timeout(5_000);
});

describe('paragraphs around shortcodes', () => {
  const cases: readonly (readonly [title: string, html: string, unwrapped: string])[] = [
    ['go', '<p>a</p>\n<p> [form id=1]\n</p>\n<p>b</p>', '<p>a</p>\n[form id=1]\n<p>b</p>'],
    ['go around one with content', '<p>[box]<b>x</b>[/box]</p>', '[box]<b>x</b>[/box]'],
    ['go around several', '<p>[form id=1]<br />\n[form id=2]</p>', '[form id=1]<br />\n[form id=2]'],
    ['keep their attributes in a div', '<P class="wide">[form id=1]</P>', '<div class="wide">[form id=1]</div>'],
    ['stay where there is text', '<p>In [year]</p><p>[year] was</p>', '<p>In [year]</p><p>[year] was</p>'],
    ['stay around what is no shortcode', '<p>[[form]]</p><p>[other]</p>', '<p>[[form]]</p><p>[other]</p>'],
    ['stay for other tags', '<pre>[form]</pre><li>[form]</li>', '<pre>[form]</pre><li>[form]</li>'],
    ['go one by one', '<p>[form id=1]</p><p>[form id=2]</p>', '[form id=1][form id=2]'],
  ];
  for (const [title, html, unwrapped] of cases)
    it(title, () => {
      expect(unwrapShortcodes(html, scan)).to.equal(unwrapped);
    });
});
