import { expect } from 'chai';
import { leastProcessorTime } from '../../helpers/processor-time.ts';
import { markdownToHtml, findPreservedMarkup } from '../../../plugins/svc/kit/markdown-html.ts';

describe('HTML of the Markdown of a model', () => {
  it('is converted from Markdown', async () => {
    expect(await markdownToHtml('# One\n\n- a\n- **b**\n\n| x | y |\n|---|---|\n| 1 | 2 |')).to.equal(
      '<h2>One</h2>\n<ul>\n<li>a</li>\n<li><strong>b</strong></li>\n</ul>\n<table>\n<thead>\n<tr>\n<th>x</th>\n<th>y</th>\n</tr>\n</thead>\n<tbody><tr>\n<td>1</td>\n<td>2</td>\n</tr>\n</tbody></table>',
    );
  });

  for (const hostile of [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '![x](https://tracker.example/x.png)',
    '[x](javascript:alert(1))',
    '<a href="javascript:alert(1)">x</a>',
    '<iframe src="https://e.example"></iframe>',
    '<svg onload=alert(1)>',
    '<p style="position:fixed">x</p>',
    '<form action="/x"><input name=a></form>',
    '<a href="//e.example">x</a>',
    '<div onclick="x()">x</div>',
    '<style>*{}</style>',
    '<math><mi xlink:href="javascript:x"></math>',
  ]) {
    it(`removes active content: ${hostile}`, async () => {
      expect(await markdownToHtml(`Text ${hostile} end`)).to.not.match(
        /script|onerror|onload|onclick|<img|<iframe|<svg|style=|<form|<input|href="(javascript|\/\/)|<style|<math/i,
      );
    });
  }

  for (const [name, mark] of Object.entries({ opened: '*a_', nested: '_a*b', double: '**a' }))
    it(`takes linear time for 60,000 characters of ${name} emphasis that nothing closes`, async () => {
      const text = mark.repeat(Math.ceil(60_000 / mark.length));
      expect(await leastProcessorTime(() => markdownToHtml(text))).to.be.below(1_000);
      expect((await markdownToHtml(text)).length).to.be.at.least(text.length);
    });

  it('nests quotes and lists 30 times; the marks beyond stay text', async () => {
    const count = (html: string, tag: string): number => html.split(`<${tag}>`).length - 1;
    expect(count(await markdownToHtml(`${'> '.repeat(30)}a`), 'blockquote')).to.equal(30);
    const deep = await markdownToHtml(`${'> '.repeat(20_000)}<script>`);
    expect(count(deep, 'blockquote')).to.equal(30);
    expect(deep.match(/&gt;/g)).to.have.length(19_970);
    expect(count(await markdownToHtml('1. '.repeat(40)), 'ol')).to.equal(30);
    const mixed = Array.from({ length: 100 }, (_, level) => `${'  '.repeat(level)}- > 1. a`).join('\n');
    expect(await markdownToHtml(mixed))
      .to.include('&gt;')
      .and.not.include('<pre>');
  });

  for (const mark of [
    '> ',
    '>',
    '- ',
    '1. ',
    '* > ',
    '[',
    '![',
    '<b>',
    '<div>',
    '~~',
    '`',
    '(',
    '|',
    '[a](',
    '\n> ',
    '--\n',
    'a|b\n:-\n',
  ])
    it(`takes time in proportion to 60,000 characters of ${JSON.stringify(mark)}`, async () => {
      const text = mark.repeat(Math.ceil(60_000 / mark.length));
      expect(await leastProcessorTime(() => markdownToHtml(text))).to.be.below(1_000);
    });

  it('keeps every emphasis of a long article', async () => {
    const article = Array.from({ length: 3_000 }, (_, n) => `- **Point ${String(n)}**: an *important* text.`).join(
      '\n',
    );
    expect((await markdownToHtml(article)).match(/<(?:strong|em)>/g)).to.have.length(6_000);
  });

  it('keeps words in angle brackets that are no tags', async () => {
    expect(await markdownToHtml('Use Vec<String> or Map<K, List<int>>.')).to.equal(
      '<p>Use Vec&lt;String&gt; or Map&lt;K, List&lt;int&gt;&gt;.</p>',
    );
    expect(await markdownToHtml('<T>\n\n**a** <b>bold</b> <my-tag onclick=x>c</my-tag>')).to.equal(
      '<p>&lt;T&gt;</p>\n<p><strong>a</strong> <b>bold</b> &lt;my-tag onclick=x&gt;c&lt;/my-tag&gt;</p>',
    );
  });

  it('turns shortcodes into text', async () =>
    expect(await markdownToHtml('[svc_form id=3] `[gallery]`')).to.equal(
      '<p>&#91;svc_form id=3] <code>&#91;gallery]</code></p>',
    ));

  it('keeps images and shortcodes of a post that is rewritten, and no others', async () => {
    const preserved = findPreservedMarkup(
      '<p>[gallery ids="1"] [unknown]</p><img alt="a" src="/cat.png?a=1&amp;b=2">',
      (tag) => tag === 'gallery',
    );
    expect(
      await markdownToHtml(
        '[gallery ids="1"] [gallery ids="2"] [unknown]\n\n![a](/cat.png?a=1&b=2) ![a](/dog.png)',
        preserved,
      ),
    ).to.equal(
      '<p>[gallery ids="1"] &#91;gallery ids="2"] &#91;unknown]</p>\n<p><img src="/cat.png?a=1&amp;b=2" alt="a" /> </p>',
    );
  });
});
