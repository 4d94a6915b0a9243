import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import type { TestHost } from '#testing';
import { becomes, until as untilThat } from '../helpers/until.ts';
import { accessibilityViolations, until } from './browser.ts';

export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

interface EditorSite {
  readonly host: TestHost;
  readonly browser: Browser;
  /** Of an administrator. */
  readonly page: Page;
  /** Errors in the console of the page. */
  readonly problems: string[];
  readonly folder: string;
}

/** The editor of posts, in the browser and on the site of another suite. */
export function describeEditor(site: () => EditorSite): void {
  let page: Page;
  let problems: string[];
  before(() => {
    ({ page, problems } = site());
  });

  const stored = (): Promise<string> => page.locator('#post-content').inputValue();
  async function openEditor(content: string): Promise<void> {
    const { id } = await site().host.content.posts.create({ title: 'Edited', content, authorId: 1 });
    await page.goto(`${site().host.url}/admin/posts/edit?id=${id}`);
    await page.getByRole('button', { name: 'HTML', exact: true }).waitFor();
  }
  /** Types into the paragraph with the given text. */
  async function typeInto(text: string, typed: string): Promise<void> {
    await page
      .locator('.editor-text')
      .getByText(text)
      .first()
      .click({ position: { x: 3, y: 3 } });
    await page.keyboard.press('End');
    await page.keyboard.type(typed);
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
      await becomes(stored, content);
      await typeInto('Here', '!');
      await becomes(stored, expected);
      await page.getByRole('button', { name: 'HTML', exact: true }).click();
      await page.locator('#post-content').waitFor();
      await page.getByRole('button', { name: 'Visual', exact: true }).click();
      await page.locator('#post-content').waitFor({ state: 'hidden' });
      await becomes(stored, expected);
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
      await becomes(stored, content);
      await page.locator('#post-content').fill(`${content} `);
      await page.getByRole('button', { name: 'Visual', exact: true }).click();
      await page.locator('.editor-message').getByText(reason).waitFor();
      await page.locator('#post-content').waitFor();
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
    await becomes(async () => (await stored()).includes('<a '), true);
    expect(await stored()).to.match(
      /^<p><a (?=.*href="https:\/\/example\.com\/page")(?=.*rel="noopener").*>Here<\/a><\/p>$/,
    );
    await page.getByLabel('Kind of block').focus();
    await page.keyboard.press('ArrowRight');
    const bold = page.getByRole('button', { name: 'Bold' });
    await until(page, `document.activeElement.getAttribute('aria-label') === 'Bold'`);
    await page.keyboard.press('Enter');
    await page.locator('button[aria-label="Bold"][aria-pressed="true"]').waitFor();
    await becomes(async () => (await stored()).includes('<strong>Here</strong>'), true);
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
    await openEditor('');
    await page.locator('.editor-text').click();
    await paste('text/plain', '## Plan\n\n- **One**\n- [Two](https://example.com)\n\n<script>alert(1)</script>');
    await becomes(
      stored,
      '<h2>Plan</h2>\n<ul><li><strong>One</strong></li><li><a href="https://example.com">Two</a></li></ul>',
    );
    await openEditor('');
    await page.locator('.editor-text').click();
    await paste(
      'text/html',
      `<b style="font-weight:normal"><p class="c1" style="margin:0"><span style="font-weight:700">Bold</span> and
       <a href="javascript:alert(1)" onclick="alert(2)">text</a></p></b>
       <table onclick="alert(3)"><tr><td style="x:y"><img src="x" onerror="alert(4)">1</td></tr></table>`,
    );
    await becomes(stored, '<p><strong>Bold</strong> and text</p>\n<table><tbody><tr><td>1</td></tr></tbody></table>');
    expect(problems.splice(0)).to.deep.equal([]);
  });

  it('chooses the featured image and images of the text in the library, with uploads', async () => {
    const files = await Promise.all(
      ['one.png', "two's (2).png", 'broken.png'].map(async (name) => {
        const file = join(site().folder, name);
        await writeFile(file, name === 'broken.png' ? 'no image' : png);
        return file;
      }),
    );
    await openEditor('<p>Here</p>');
    await page.getByRole('button', { name: 'Choose image' }).click();
    const dialog = page.getByRole('dialog', { name: 'Featured image' });
    await dialog.getByText('dot', { exact: true }).waitFor();
    await dialog.getByLabel('Drop images here').setInputFiles(files);
    await dialog.getByText('one', { exact: true }).waitFor();
    await dialog.getByText("two's (2)", { exact: true }).waitFor();
    await dialog.getByText('not allowed to upload this file type').waitFor();
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    await dialog.getByLabel('Search').fill('nothing like it');
    await dialog.getByText('No images found.').waitFor();
    await dialog.getByLabel('Search').fill('one');
    await dialog.getByText('Page 1 of 1').waitFor();
    await dialog.getByRole('radio', { name: 'one' }).focus();
    await page.keyboard.press('Space');
    await dialog.getByLabel('Alternative text').fill('One dot');
    await dialog.getByRole('button', { name: 'Use image' }).click();
    await page.getByRole('button', { name: 'Replace image' }).waitFor();
    await page.locator('.editor-text').click();
    await page.keyboard.press('Control+End');
    await page.getByRole('button', { name: 'Image', exact: true }).click();
    const insert = page.getByRole('dialog', { name: 'Insert image' });
    await insert.getByText('one', { exact: true }).click();
    await until(page, `document.getElementById('media-alt').value === 'One dot'`);
    await insert.getByRole('button', { name: 'Use image' }).click();
    await until(page, `document.getElementById('post-content').value.includes('<img')`);
    expect(await stored()).to.match(
      /<img [^>]*src="[^"]+\/uploads\/[^"]+\/one[^"]*\.png" alt="One dot" width="1" height="1">/,
    );
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Post saved.').waitFor();
    await page.getByRole('button', { name: 'Remove image' }).waitFor();
    const preview = page.locator('.featured-image');
    expect(await preview.getAttribute('src')).to.match(/\/one[^/]*\.png$/);
    await page.getByRole('button', { name: 'Remove image' }).click();
    await page.getByRole('button', { name: 'Choose image' }).waitFor();
    await becomes(() => page.locator('#post-image').inputValue(), '0');
    // The refused upload.
    expect(problems.splice(0).filter((problem) => !problem.includes('Failed to load resource'))).to.deep.equal([]);
  });

  it('takes images that are dropped on the dialog', async () => {
    await openEditor('<p>Here</p>');
    await page.getByRole('button', { name: 'Choose image' }).click();
    await page.getByRole('dialog', { name: 'Featured image' }).getByText('dot', { exact: true }).waitFor();
    await page.evaluate(`{
      const dataTransfer = new DataTransfer();
      const bytes = Uint8Array.from(atob('${png.toString('base64')}'), (one) => one.charCodeAt(0));
      for (const name of ['dropped a.png', 'dropped b.png'])
        dataTransfer.items.add(new File([bytes], name, { type: 'image/png' }));
      document.querySelector('.dropzone').dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
    }`);
    for (const name of ['dropped a', 'dropped b']) await page.getByText(name, { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(problems.splice(0)).to.deep.equal([]);
  });

  it('keeps the buttons of the form and of dialogs in view, on phones, in low and in zoomed windows', async () => {
    await openEditor('<p>Here</p>');
    const isInView = (name: string): Promise<boolean> =>
      page.getByRole('button', { name, exact: true }).evaluate((button) => {
        const { top, bottom } = (
          button as unknown as { getBoundingClientRect(): { top: number; bottom: number } }
        ).getBoundingClientRect();
        return top >= 0 && bottom <= (globalThis as unknown as { innerHeight: number }).innerHeight;
      });
    await page.setViewportSize({ width: 390, height: 844 });
    await becomes(() => isInView('Save'), true);
    await page.setViewportSize({ width: 640, height: 450 });
    await becomes(() => isInView('Save'), true);
    await page.mouse.wheel(0, 300);
    await becomes(async () => ((await page.locator('.bar').boundingBox())?.y ?? 0) < 0, true);
    await page.setViewportSize({ width: 1280, height: 700 });
    await page.getByRole('button', { name: 'Image', exact: true }).click();
    await page.getByRole('dialog', { name: 'Insert image' }).getByRole('radio').first().waitFor();
    expect(await isInView('Use image')).to.equal(true);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.setViewportSize({ width: 1280, height: 900 });
    expect(problems.splice(0)).to.deep.equal([]);
  });

  it('is the page of the draft once a new post was saved by itself', async () => {
    await page.goto(`${site().host.url}/admin/posts/new`);
    await page.getByLabel('Title', { exact: true }).fill('Written in one go');
    await page.getByRole('heading', { name: 'Written in one go' }).waitFor();
    const preview = await page.getByRole('link', { name: 'Preview', exact: true }).getAttribute('href');
    await page.reload();
    expect(await page.getByRole('link', { name: 'Preview', exact: true }).getAttribute('href')).to.equal(preview);
    expect(await page.locator('h1').textContent()).to.equal('Written in one go');
  });

  const status = '.autosave-status';
  const shows = (text: string): Promise<void> =>
    until(page, `document.querySelector('${status}').textContent.includes(${JSON.stringify(text)})`);
  const postId = (): number => Number(new URL(page.url()).searchParams.get('id'));
  const unsavedText = async (id: number): Promise<string | undefined> => {
    const revisions = await site().host.content.revisions.list(id);
    return revisions.find(({ slug }) => slug.includes('autosave'))?.content;
  };

  it('saves unsaved text by itself, also when the page is left or the server was away, and brings it back', async () => {
    await openEditor('<p>Here</p>');
    const id = postId();
    const form = page.url();
    site().host.clock.jump(60_000);
    await page.route('**/*action=autosave', (route) => route.abort());
    await typeInto('Here', ' we are');
    await shows('Not saved: the server does not respond.');
    expect(await unsavedText(id)).to.equal(undefined);
    await page.unroute('**/*action=autosave');
    await shows('Saved ');
    expect(await unsavedText(id)).to.equal('<p>Here we are</p>');
    await typeInto('Here', ' now');
    await page.getByRole('link', { name: 'Posts', exact: true }).first().click();
    await page.waitForURL('**/admin/posts');
    await untilThat('the text was saved on leaving', async () => (await unsavedText(id)) === '<p>Here we are now</p>');
    expect((await site().host.content.posts.get(id))?.content).to.equal('<p>Here</p>');
    await page.goto(form);
    await page.getByText('You have unsaved text of').waitFor();
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    await page.getByRole('link', { name: 'Restore', exact: true }).click();
    await page.getByText('is in the form. Save to keep it.').waitFor();
    expect(await page.locator('#post-content').inputValue()).to.equal('<p>Here we are now</p>');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Post saved.').waitFor();
    expect(await unsavedText(id)).to.equal(undefined);
    expect(await page.getByText('You have unsaved text of').count()).to.equal(0);
    expect(problems.splice(0).filter((problem) => !problem.includes('ERR_FAILED'))).to.deep.equal([]);
  });

  it('makes one draft of a new post, also when it is saved meanwhile', async () => {
    const { posts } = site().host.content;
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/*action=autosave', async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(`${site().host.url}/admin/posts/new`);
    const isSent = page.waitForRequest('**/*action=autosave');
    await page.getByLabel('Title').fill('Written slowly');
    await isSent;
    await page.getByRole('button', { name: 'Save' }).click();
    release();
    await page.getByText('Post saved.').waitFor();
    await page.unroute('**/*action=autosave');
    expect(await posts.count({ status: 'any', search: 'slowly' })).to.equal(1);
    await page.goto(`${site().host.url}/admin/posts/new`);
    await page.getByLabel('Title').fill('Left alone');
    await shows('Saved ');
    await until(page, `location.pathname.endsWith('/posts/edit')`);
    await page.reload();
    expect(await page.getByLabel('Title').inputValue()).to.equal('Left alone');
    expect(problems.splice(0)).to.deep.equal([]);
  });

  it('says who changed a post that is saved over, and asks which version to keep', async () => {
    await openEditor('<p>Here</p>');
    const id = postId();
    await typeInto('Here', ' am I');
    await site().host.content.posts.update(id, { content: '<p>There</p>' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Nothing was saved.').waitFor();
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    expect(await page.locator('#post-content').inputValue()).to.equal('<p>Here am I</p>');
    await page.getByRole('button', { name: 'Overwrite the newer version' }).click();
    await page.getByText('Post saved.').waitFor();
    expect((await site().host.content.posts.get(id))?.content).to.equal('<p>Here am I</p>');
    // The refused save.
    expect(problems.splice(0).filter((problem) => !problem.includes('409'))).to.deep.equal([]);
  });

  it('loads at most 150 kB of script, and works without any', async () => {
    await page.goto(`${site().host.url}/admin/posts/new`);
    const sources = await page.evaluate<string[]>('[...document.scripts].map(({ src }) => src)');
    const sizes = await Promise.all(
      sources.map(async (source) => gzipSync(Buffer.from(await (await fetch(source)).arrayBuffer())).length),
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).to.be.at.most(150_000);
    await page.goto(`${site().host.url}/admin/posts`);
    expect(await page.locator('script[src*="/editor/"]').count()).to.equal(0);
    const context = await site().browser.newContext({
      javaScriptEnabled: false,
      storageState: await page.context().storageState(),
    });
    const plain = await context.newPage();
    await plain.goto(`${site().host.url}/admin/posts/new`);
    await plain.getByLabel('Title').fill('Without scripts');
    await plain.getByLabel('Content').fill('<p>Plain</p>');
    await plain.getByRole('button', { name: 'Save' }).click();
    await plain.getByText('Post saved.').waitFor();
    expect(await plain.getByLabel('Content').inputValue()).to.equal('<p>Plain</p>');
    await context.close();
  });
}
