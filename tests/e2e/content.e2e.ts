import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { createTestHost, type TestHost } from '#testing';
import { accessibilityViolations, ada, expectLooks, openAdmin, openBrowser, until } from './browser.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const rich = `<h2>A heading</h2><p>Some text with a <a href="/">link</a>, <code>code</code> and averyveryveryveryveryverylongwordthatdoesnotfitintoanarrowwindowatall.</p>
<ul><li>One</li><li>Two</li></ul><blockquote><p>Said once.</p></blockquote><pre><code>const answer = 'a line of code that is rather longer than a narrow window is wide';</code></pre>
<table><thead><tr><th>Name</th><th>Value</th></tr></thead><tbody><tr><td>First</td><td>1</td></tr></tbody></table>`;

describe('content in a browser', () => {
  let folder = '';
  let host: TestHost;
  let browser: Browser;
  let page: Page;
  let problems: string[];
  const paths: Record<string, string> = {};

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-content-'));
    host = await createTestHost({ database: folder });
    const { content } = host;
    await host.users.create(ada);
    const image = await content.media.save({ bytes: png, name: 'dot.png', alt: 'A dot', authorId: 1 });
    const post = await content.posts.create({
      title: 'A post with a rather long title that goes over two lines',
      content: rich,
      status: 'publish',
      authorId: 1,
      featuredMediaId: image.id,
    });
    await content.posts.update(post.id, { content: `${rich}<p>More</p>` });
    const discussed = await content.posts.create({
      title: 'Discussed',
      content: '<p>What do you think?</p>',
      status: 'publish',
      commentStatus: 'open',
      authorId: 1,
      date: 2,
    });
    const comment = {
      ...{ post_id: discussed.id, author_email: 'grace@example.com', author_url: '', author_ip: '', author_agent: '' },
      ...{ author_name: 'Grace Hopper', user_id: 0, date: 3, status: 'approved', search_text: '' },
    };
    const said =
      '<blockquote>What do you think?</blockquote> averyveryveryveryveryverylongwordthatdoesnotfitintoanarrowwindowatall';
    for (let parent = 0; parent < 6; parent += 1)
      await host.database.knex('comments').insert({ ...comment, parent_id: parent, content: said });
    await host.database.knex('comments').insert({ ...comment, parent_id: 0, content: 'It waits.', status: 'hold' });
    const about = await content.posts.create({
      type: 'page',
      title: 'About us',
      content: '<p>We are.</p>',
      status: 'publish',
      authorId: 1,
    });
    for (let number = 1; number <= 11; number += 1)
      await content.posts.create({
        title: `Post ${number}`,
        content: '<p>Short.</p>',
        status: 'publish',
        authorId: 1,
        date: host.clock.now() - number * 3_600_000,
      });
    const secret = await content.posts.create({
      title: 'Secret',
      content: 'x',
      status: 'publish',
      password: 'x',
      date: 1,
    });
    const trashed = await content.posts.create({ title: 'In the trash', authorId: 1 });
    await content.posts.delete(trashed.id);
    Object.assign(paths, {
      'the home page': '/',
      'its second page': '/page/2/',
      'a post': `/?p=${post.id}`,
      'a post with a password': `/?p=${secret.id}`,
      'a post with comments': `/?p=${discussed.id}`,
      'a page': `/?p=${about.id}`,
      'a search': '/?s=post',
      'a search without results': '/?s=nothing',
      'a month': '/2026/01/',
      'what is not there': '/none/',
      'the list of posts': '/admin/posts',
      'the trash': '/admin/posts?status=trash',
      'the form of a new post': '/admin/posts/new',
      'the form of a post': `/admin/posts/edit?id=${post.id}`,
      'the list of pages': '/admin/pages',
      'the form of a page': `/admin/pages/edit?id=${about.id}`,
      'the media library': '/admin/media',
      'the comments': '/admin/comments',
      'the categories': '/admin/terms/category',
      'a file': `/admin/media/edit?id=${image.id}`,
    });
    browser = await openBrowser();
    ({ page, problems } = await openAdmin(browser, host));
  });
  after(async () => {
    await browser.close();
    await host.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const names = [
    'the home page',
    'its second page',
    'a post',
    'a post with a password',
    'a post with comments',
    'a page',
    'a search',
    'a search without results',
    'a month',
    'what is not there',
    'the list of posts',
    'the trash',
    'the form of a new post',
    'the form of a post',
    'the list of pages',
    'the form of a page',
    'the media library',
    'the comments',
    'the categories',
    'a file',
  ];
  for (const name of names) {
    it(`is accessible and fits narrow windows, light and dark: ${name}`, async () => {
      await expectLooks(page, { load: () => page.goto(host.url + (paths[name] ?? '')) });
      // The browser itself says of a page that is not there that it is not.
      expect(problems.splice(0).filter((problem) => !problem.includes('404'))).to.deep.equal([]);
    });
  }

  it('writes and publishes a post, which the site then shows', async () => {
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(`${host.url}/admin/posts`);
    await page.getByRole('link', { name: 'Add post' }).click();
    await page.getByLabel('Title').fill('Written by hand');
    await page.getByRole('textbox', { name: 'Content' }).click();
    await page.keyboard.type('Hello ');
    await page.getByRole('button', { name: 'Bold' }).hover();
    await page.mouse.down();
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).to.equal('Content');
    await page.mouse.up();
    await page.keyboard.type('there');
    expect(await page.locator('#post-content').inputValue()).to.equal('<p>Hello <strong>there</strong></p>');
    await page.getByLabel('Status').selectOption('publish');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Post published.', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'View' }).first().click();
    await page.getByRole('heading', { name: 'Written by hand' }).waitFor();
    expect(await page.locator('.prose').textContent()).to.contain('Hello there');
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.waitForURL('**/admin/posts/edit?id=*');
  });

  async function openEditor(content: string): Promise<void> {
    const { id } = await host.content.posts.create({ title: 'Edited', content, authorId: 1 });
    await page.goto(`${host.url}/admin/posts/edit?id=${id}`);
    await page.getByRole('button', { name: 'HTML', exact: true }).waitFor();
  }
  /** Types into the paragraph with the given text, and reads the field of the form. */
  async function typeInto(text: string, typed: string): Promise<string> {
    await page
      .locator('.editor-text')
      .getByText(text)
      .first()
      .click({ position: { x: 3, y: 3 } });
    await page.keyboard.press('End');
    await page.keyboard.type(typed);
    return page.locator('#post-content').inputValue();
  }

  it('stores clean HTML from the visual editor, and what it does not know as it was', async () => {
    await page.setViewportSize({ width: 1280, height: 900 });
    for (const [content, expected] of [
      [
        '<p><b>Bold</b> <a href="/x"><em>link</em></a> Here</p>',
        '<p><strong>Bold</strong> <a href="/x"><em>link</em></a> Here!</p>',
      ],
      [
        '<h2 class="wide" id="top">Title</h2>\n<ul><li>One<ul><li>Here</li></ul></li></ul>',
        '<h2 class="wide" id="top">Title</h2>\n<ul><li>One<ul><li>Here!</li></ul></li></ul>',
      ],
      ['First line.\n\nHere\nand [gallery ids="1,2"]', '<p>First line.</p>\n<p>Here!<br>and [gallery ids="1,2"]</p>'],
      [
        '<!-- wp:paragraph {"a":1} -->\n<p>Here</p>\n<!-- /wp:paragraph -->',
        '<!-- wp:paragraph {"a":1} -->\n<p>Here!</p>\n<!-- /wp:paragraph -->',
      ],
      [
        '<p>Here</p><iframe src="/?a=1&amp;b=2" allowfullscreen=""></iframe><div class="box"><p>In</p></div>',
        '<p>Here!</p>\n<iframe src="/?a=1&amp;b=2" allowfullscreen=""></iframe>\n<div class="box"><p>In</p></div>',
      ],
      [
        '<table><tr><td>1</td></tr></table>Here<p style="color: red">Red</p>',
        '<table><tbody><tr><td>1</td></tr></tbody></table>\n<p>Here!</p>\n<p style="color: red">Red</p>',
      ],
      [
        '<pre><code class="language-js">a  b\n c</code></pre><p><kbd class="x">K</kbd><sub>2</sub> Here</p>',
        '<pre><code class="language-js">a  b\n c</code></pre>\n<p><kbd class="x">K</kbd><sub>2</sub> Here!</p>',
      ],
    ] as const) {
      await openEditor(content);
      expect(await page.locator('#post-content').inputValue(), content).to.equal(content);
      expect(await typeInto('Here', '!')).to.equal(expected);
      await page.getByRole('button', { name: 'HTML', exact: true }).click();
      await page.getByRole('button', { name: 'Visual', exact: true }).click();
      expect(await page.locator('#post-content').inputValue()).to.equal(expected);
    }
    expect(problems.splice(0)).to.deep.equal([]);
  });

  it('shows HTML that the visual editor would change as HTML, with a reason', async () => {
    for (const [content, reason] of [
      ['<p>Not <b>closed</p><p>More</p>', 'missing or misplaced tags'],
      ['[table]<tr><td>1</td></tr>[/table]', 'missing or misplaced tags'],
      ['<div class="box"><p>All in one</p></div>', 'cannot change'],
    ] as const) {
      await openEditor(content);
      await page.locator('.editor-message').getByText(reason).waitFor();
      expect(await page.locator('#post-content').inputValue()).to.equal(content);
      await page.locator('#post-content').fill(`${content} `);
      await page.getByRole('button', { name: 'Visual', exact: true }).click();
      await page.locator('.editor-message').getByText(reason).waitFor();
      expect(await page.locator('#post-content').isVisible()).to.equal(true);
    }
  });

  it('sets links, refuses those that run scripts, and is usable by keyboard', async () => {
    await openEditor('<p>Here</p>');
    await page.locator('.editor-text').click();
    await page.keyboard.press('Control+A');
    await page.keyboard.press('Control+K');
    const dialog = page.getByRole('dialog', { name: 'Add link' });
    await dialog.getByLabel('Address').fill('java\tscript:alert(1)');
    await page.keyboard.press('Enter');
    await dialog.getByText('Use an address that begins with').waitFor();
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    await dialog.getByLabel('Address').fill('example.com/page');
    await dialog.getByLabel('Open in a new tab').check();
    await dialog.getByRole('button', { name: 'Save link' }).click();
    await dialog.waitFor({ state: 'detached' });
    const html = await page.locator('#post-content').inputValue();
    expect(html).to.match(/^<p><a (?=.*href="https:\/\/example\.com\/page")(?=.*rel="noopener").*>Here<\/a><\/p>$/);
    await page.getByLabel('Kind of block').focus();
    await page.keyboard.press('ArrowRight');
    const bold = page.getByRole('button', { name: 'Bold' });
    await until(page, `document.activeElement.getAttribute('aria-label') === 'Bold'`);
    await page.keyboard.press('Enter');
    await page.locator('button[aria-label="Bold"][aria-pressed="true"]').waitFor();
    expect(await page.locator('#post-content').inputValue()).to.contain('<strong>Here</strong>');
    await bold.click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.locator('button[aria-label="Bold"][aria-pressed="true"]').waitFor();
    expect(problems.splice(0)).to.deep.equal([]);
  });

  it('formats pasted Markdown and cleans pasted HTML', async () => {
    const paste = (type: string, text: string): Promise<unknown> =>
      page.evaluate(`{
        const clipboardData = new DataTransfer();
        clipboardData.setData(${JSON.stringify(type)}, ${JSON.stringify(text)});
        document.querySelector('.editor-text').dispatchEvent(
          new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
      }`);
    const stored = (expected: string): Promise<void> =>
      until(page, `document.getElementById('post-content').value === ${JSON.stringify(expected)}`);
    await openEditor('');
    await page.locator('.editor-text').click();
    await paste('text/plain', '## Plan\n\n- **One**\n- [Two](https://example.com)\n\n<script>alert(1)</script>');
    await stored('<h2>Plan</h2>\n<ul><li><strong>One</strong></li><li><a href="https://example.com">Two</a></li></ul>');
    await openEditor('');
    await page.locator('.editor-text').click();
    await paste(
      'text/html',
      `<b style="font-weight:normal"><p class="c1" style="margin:0"><span style="font-weight:700">Bold</span> and
       <a href="javascript:alert(1)" onclick="alert(2)">text</a></p></b>
       <table onclick="alert(3)"><tr><td style="x:y"><img src="x" onerror="alert(4)">1</td></tr></table>`,
    );
    await stored('<p><strong>Bold</strong> and text</p>\n<table><tbody><tr><td>1</td></tr></tbody></table>');
    expect(problems.splice(0)).to.deep.equal([]);
  });

  it('loads at most 150 kB of script, and works without any', async () => {
    await page.goto(`${host.url}/admin/posts/new`);
    const sources = await page.evaluate<string[]>('[...document.scripts].map(({ src }) => src)');
    const sizes = await Promise.all(
      sources.map(async (source) => gzipSync(Buffer.from(await (await fetch(source)).arrayBuffer())).length),
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).to.be.at.most(150_000);
    await page.goto(`${host.url}/admin/posts`);
    expect(await page.locator('script[src*="/editor/"]').count()).to.equal(0);
    const context = await browser.newContext({
      javaScriptEnabled: false,
      storageState: await page.context().storageState(),
    });
    const plain = await context.newPage();
    await plain.goto(`${host.url}/admin/posts/new`);
    await plain.getByLabel('Title').fill('Without scripts');
    await plain.getByLabel('Content').fill('<p>Plain</p>');
    await plain.getByRole('button', { name: 'Save' }).click();
    await plain.getByText('Post saved.').waitFor();
    expect(await plain.getByLabel('Content').inputValue()).to.equal('<p>Plain</p>');
    await context.close();
  });

  it('uploads a file, and refuses one that is not what it says', async () => {
    const file = join(folder, 'second dot.png');
    await writeFile(file, png);
    await page.goto(`${host.url}/admin/media`);
    await page.getByLabel('File', { exact: true }).setInputFiles(file);
    await page.getByRole('button', { name: 'Upload' }).click();
    await page.getByText('“second dot” uploaded.').waitFor();
    expect(
      await page
        .locator('.media-preview')
        .evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth),
    ).to.equal(1);
    await writeFile(file, '<script>alert(1)</script>');
    await page.goto(`${host.url}/admin/media`);
    await page.getByLabel('File', { exact: true }).setInputFiles(file);
    await page.getByRole('button', { name: 'Upload' }).click();
    await page.getByText('not allowed to upload this file type').waitFor();
  });

  it('shows rows of two lines on phones, with a menu that deletes and brings back', async () => {
    await host.content.posts.create({
      title: 'A title that is far too long for a single line of a phone, but it has to fit',
      status: 'publish',
      authorId: 1,
      date: host.clock.now(),
    });
    await page.setViewportSize({ width: 390, height: 900 });
    for (const path of ['/admin/posts', '/admin/comments', '/admin/terms/category']) {
      await page.goto(host.url + path);
      // Cells that are all below the ones before begin a line.
      const lines = await page.evaluate<number[]>(
        `[...document.querySelectorAll('.table-rows tbody tr')].map((row) => {
          let [lines, end] = [0, 0];
          for (const cell of [...row.cells].map((cell) => cell.getBoundingClientRect()).sort((a, b) => a.top - b.top)) {
            if (cell.height === 0) continue;
            if (cell.top >= end) lines += 1;
            end = Math.max(end, cell.bottom);
          }
          return lines;
        })`,
      );
      expect(Math.max(...lines), path).to.equal(2);
    }
    await page.goto(`${host.url}/admin/posts?s=phone`);
    const row = page.getByRole('row').filter({ hasText: 'far too long' });
    await row.getByRole('button', { name: 'Actions for' }).click();
    await page.getByRole('button', { name: /^Move A title .* to the trash$/ }).click();
    await page.getByText('moved to the trash.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('restored.').waitFor();
    await page.getByRole('link', { name: 'Remove the filter Search: phone' }).click();
    await page.locator('.chip').waitFor({ state: 'detached' });
  });
});
