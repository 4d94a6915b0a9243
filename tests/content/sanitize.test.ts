import { expect } from 'chai';
import { escapeHtml } from '#plugin-api';
import { sanitizeComment, sanitizeHtml } from '../../host/content/html/sanitize.ts';
import { failureOf } from '../helpers/failure-of.ts';
import { foldText, htmlToText } from '../../host/content/html/text.ts';

describe('HTML of users who may not write any', () => {
  it('keeps what text needs', async () => {
    for (const html of [
      '<p>One <b>two</b> <a href="https://a.example/?b=1&amp;c=2">x</a></p>',
      '<img src="/a.png" alt="A" width="1" />',
      '<table><tr><td colspan="2">1</td></tr></table>',
      'plain [shortcode a="b"] text',
      '2 &gt; 1 &amp; 0',
    ]) {
      expect(await sanitizeHtml(html)).to.equal(html);
    }
  });

  it('loses everything that runs or frames', async () => {
    const attacks = [
      '<script>alert(1)</script>',
      '<img src=x onerror=alert(1)>',
      '<a href="java\nscript:alert(1)">x</a>',
      '<a href="&#106;avascript:alert(1)">x</a>',
      '<svg onload=alert(1)>',
      '<iframe src="https://x"></iframe>',
      '<form action="https://x"><input></form>',
      '<style>*{}</style>',
      '<p style="background:url(x)">',
      '<object data="x"></object>',
      '<math><mtext><script>alert(1)</script></mtext></math>',
      '<a href="data:text/html,<script>alert(1)</script>">x</a>',
      '<!--><img src=x onerror=alert(1)>-->',
      '<video><source onerror=alert(1)></video>',
      '<base href="https://x">',
      '<meta http-equiv=refresh content=0>',
      '<p id=x onclick=alert(1)>',
    ];
    for (const html of attacks)
      expect(await sanitizeHtml(html), html).not.to.match(
        /<(?:script|svg|iframe|form|style|object|math|noscript|base|meta)|on\w+\s*=|javascript:|data:|style=/i,
      );
    expect(await sanitizeHtml('<noscript><p title="</noscript><img src=x onerror=alert(1)>">')).to.equal(
      '<p title="&lt;/noscript&gt;&lt;img src=x onerror=alert(1)&gt;"></p>',
    );
    expect(await sanitizeHtml('<a href="https://x" target="_blank">x</a>')).to.contain('rel="noopener"');
  });
});

describe('HTML that nests too deep', () => {
  it('keeps comments of the block editor, divisions and harmless styles of authors', async () => {
    for (const kept of [
      '<!-- wp:paragraph --><p style="text-align:center">a</p><!-- /wp:paragraph --><!--more-->b',
      '<!-- wp:my/block {"id":1,"text":"a \\u003c b"} /-->\n<!--nextpage--><!--more Read on-->',
      '<p style="color:#333;background-color:rgb(1, 2, 3)">a</p>',
    ])
      expect(await sanitizeHtml(kept)).to.equal(kept);
    for (const [given, clean] of [
      ['<!-- note --><!-- wp:a {"x":"<b>"} --><!--[if IE]>x<![endif]-->a<!-- wp:b -- -->', 'a'],
      ['<b title="<!-- wp:a -->">b</b>', '<b title="&lt;!-- wp:a --&gt;">b</b>'],
      ['<script><!-- wp:a --></script>c', 'c'],
      [
        '<p style="position:fixed;margin-left:-9px;background-color:url(x);color:red">d</p>',
        '<p style="color:red">d</p>',
      ],
      ['<p style="width:expression(alert(1))">e</p>', '<p>e</p>'],
    ] as const)
      expect(await sanitizeHtml(given)).to.equal(clean);
    expect(await sanitizeComment('<!--more--><p style="color:red">a</p>')).to.equal('<p>a</p>');
  });

  it('is refused before it takes the square of its length', async () => {
    for (const sanitize of [sanitizeHtml, sanitizeComment])
      for (const html of ['<i>'.repeat(50_000) + '</b>'.repeat(50_000), '<b>'.repeat(600), '<div>'.repeat(600)])
        expect(await failureOf(sanitize(html))).to.deep.include({ code: 'html_too_deep', status: 400 });
    for (const html of ['<'.repeat(100_001), '<p></p>'.repeat(50_001)]) {
      const refusal = await failureOf(sanitizeHtml(html));
      expect(refusal).to.deep.include({ code: 'html_too_many_tags', status: 400 });
    }
    expect(await sanitizeHtml('<'.repeat(100_000))).to.equal('&lt;'.repeat(100_000));
    expect(await sanitizeComment('<p>one<br>'.repeat(2_000))).to.contain('one');
    expect(await sanitizeHtml('<blockquote>'.repeat(400))).to.contain('</blockquote>');
  });
});

describe('text of HTML', () => {
  it('is what a reader sees, on one line', () => {
    expect(
      htmlToText(
        '<h2>A</h2><p>b<b>c</b> &amp; &#233;&#x1F600;&hellip;</p><!-- no --><script>no</script><style>no</style>d<br>e',
      ),
    ).to.equal('A bc & é😀… d e');
    expect(htmlToText('1 < 2 <unclosed')).to.equal('1 < 2');
    expect(escapeHtml(`<a b='c' d="e">&`)).to.equal('&lt;a b=&#039;c&#039; d=&quot;e&quot;&gt;&amp;');
    expect(foldText('ÀÉÎ Straße ﬁ')).to.equal('aei straße fi');
  });
});
