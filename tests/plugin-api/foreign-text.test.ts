import { expect } from 'chai';
import { findHtmlParts, htmlComment, inTurn, insertAttributes, normalizeText } from '#plugin-api';
import { addParagraphs, unwrapShortcodes } from '../../host/content/html/paragraphs.ts';
import { foldText as foldContent, htmlToText } from '../../host/content/html/text.ts';
import { sanitizeComment, sanitizeHtml } from '../../host/content/html/sanitize.ts';
import { createScanner } from '../../host/content/shortcodes/scanner.ts';
import { foldText, hasBannedWord } from '../../plugins/svc/kit/fold-text.ts';
import { findPreservedMarkup } from '../../plugins/svc/kit/markdown-html.ts';
import { failureOf } from '../helpers/failure-of.ts';
import { toSearchText } from '../../plugins/svc/modules/chatbots/conversations/search/search-text.ts';

const scan = createScanner(['svc_form']);

/** What reads text of others in the process that answers requests. */
const readers: Readonly<Record<string, (text: string) => unknown>> = {
  insertAttributes: (text) => insertAttributes(text, 'table', () => 'tabindex="0"'),
  findHtmlParts: (text) => findHtmlParts(text, htmlComment),
  htmlToText,
  foldContent,
  sanitizeHtml: (text) => sanitizeHtml(text).catch(() => ''),
  sanitizeComment: (text) => sanitizeComment(text).catch(() => ''),
  addParagraphs: (text) => addParagraphs(text, scan),
  unwrapShortcodes: (text) => unwrapShortcodes(text, scan),
  scan,
  foldText,
  hasBannedWord: (text) => hasBannedWord(text, ['a']),
  findPreservedMarkup: (text) => findPreservedMarkup(text, () => true),
  toSearchText,
};

const attacks = [
  ...['<table "', '<style ', '<img/0', '<img src="', '<a>', '<!--', '<script>', '</script ', '<', '&', '<br ', '<p>'],
  ...['[svc_form ', '[svc_form a="', '[[', '[', '"', ' ', '\t\n', '\u0301\u0323', '\uff9e\u0301', 'a', '中'],
];

describe('text of others', () => {
  for (const [name, read] of Object.entries(readers))
    it(`takes ${name} time in proportion to its length, whatever it repeats`, async () => {
      for (const attack of attacks) {
        const text = attack.repeat(160_000 / attack.length) + '</b>'.repeat(1_000);
        const before = process.cpuUsage();
        await read(text);
        // Linear takes below 0.3 seconds; what took the square of 160 KB took 2 to 30 seconds.
        expect(process.cpuUsage(before).user / 1_000, `${name} of ${attack}`).to.be.below(1_500);
      }
    });

  it('gets attributes for the first 1,000 tags', async () => {
    const html = await insertAttributes('<td><table>'.repeat(1_001), 'table', () => 'tabindex="0"');
    expect(html.split('<table tabindex="0">').length - 1).to.equal(1_000);
    expect(html.endsWith('<table tabindex="0"><td><table>')).to.equal(true);
  });

  it('is read in turns where it is long, and other work goes on between', async () => {
    const order: string[] = [];
    const text = 'a'.repeat(50_000);
    const turns = [1, 2, 3].map((turn) => inTurn(text, () => void order.push(String(turn))));
    setImmediate(() => order.push('other'));
    await Promise.all([...turns, inTurn('short', () => order.push('short'))]);
    expect(order.filter((each) => each !== 'other')).to.deep.equal(['short', '1', '2', '3']);
    expect(order.indexOf('other')).to.be.below(order.indexOf('2'));
    expect(await failureOf(inTurn(text, () => JSON.parse(text) as unknown))).to.be.instanceOf(SyntaxError);
    expect(await inTurn(text, () => 'goes on')).to.equal('goes on');
  });

  it('is normalized as it was, but for runs of more than 30 combining marks', () => {
    for (const text of ['Café Ä\u0323\u0301 ﬁ 한국어 ｶﾞ', 'a\u0301\u0323'.repeat(50)])
      for (const form of ['NFC', 'NFD', 'NFKC', 'NFKD'] as const)
        expect(normalizeText(text, form)).to.equal(text.normalize(form));
    expect(normalizeText(`a${'\u0301'.repeat(1_000)}b`, 'NFD')).to.equal(`a${'\u0301'.repeat(30)}b`);
  });

  it('has the tags and comments that a browser finds', async () => {
    const html = '<p t="<img>">a<!-- <img> --><IMG data-x SRC="a>b" alt=\'q\' alt=2 /><script><img></script><img';
    const [tag, ...more] = await findHtmlParts(html, 'img');
    expect(more).to.deep.equal([]);
    expect(html.slice(tag?.start, tag?.end)).to.equal('<IMG data-x SRC="a>b" alt=\'q\' alt=2 />');
    expect({ ...tag?.attributes }).to.deep.equal({ 'data-x': '', src: 'a>b', alt: 'q' });
    const [comment] = await findHtmlParts(html, htmlComment);
    expect(html.slice(comment?.start, comment?.end)).to.equal('<!-- <img> -->');
  });
});
