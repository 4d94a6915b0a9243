import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { createTestHost, type TestHost } from '#testing';
import { becomes } from '../helpers/until.ts';
import { ada, expectLooks, openAdmin, openBrowser } from './browser.ts';
import { describeEditor, png } from './editor-cases.ts';

const rich = `<h2>A heading</h2><p>Some text with a <a href="/">link</a>, <code>code</code> and averyveryveryveryveryverylongwordthatdoesnotfitintoanarrowwindowatall.</p>
<ul><li>One</li><li>Two</li></ul><blockquote><p>Said once.</p></blockquote><pre><code>const answer = 'a line of code that is rather longer than a narrow window is wide';</code></pre>
<table><thead><tr><th>Name</th><th>Temperature</th><th>Preparation</th><th>Difficulty</th></tr></thead><tbody><tr><td>First</td><td>1</td><td>2</td><td>3</td></tr></tbody></table>`;

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
      'the revisions of a post': `/admin/posts/revisions?id=${post.id}`,
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
    'the revisions of a post',
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
    await becomes(() => page.evaluate<string>("document.activeElement.getAttribute('aria-label')"), 'Content');
    await page.mouse.up();
    await page.keyboard.type('there');
    await becomes(() => page.locator('#post-content').inputValue(), '<p>Hello <strong>there</strong></p>');
    await page.getByLabel('Status').selectOption('publish');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Post published.', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'View' }).first().click();
    await page.getByRole('heading', { name: 'Written by hand' }).waitFor();
    expect(await page.locator('.prose').textContent()).to.contain('Hello there');
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.waitForURL('**/admin/posts/edit?id=*');
  });

  describeEditor(() => ({ host, browser, page, problems, folder }));

  it('uploads several files, each with its result, and shows them in the list', async () => {
    const [good, bad] = [join(folder, 'second dot.png'), join(folder, 'bad dot.png')];
    await Promise.all([writeFile(good, png), writeFile(bad, '<script>alert(1)</script>')]);
    await page.goto(`${host.url}/admin/media`);
    await page.getByLabel('Drop files here').setInputFiles([bad, good]);
    await page.getByText('1 uploaded, 1 failed.').waitFor();
    const [failed, uploaded] = await page.getByRole('list', { name: 'Uploads' }).getByRole('listitem').allInnerTexts();
    expect(failed)
      .to.match(/^bad dot\.png\s+Failed\b/)
      .and.contain('not allowed to upload this file type');
    expect(uploaded).to.match(/second dot\.png\s+Uploaded/);
    await page.locator('#library').getByRole('link', { name: 'second dot' }).waitFor();
    await page.evaluate(`(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['Tea'], 'dropped.txt'));
      document.querySelector('.dropzone').dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true }));
    })()`);
    await page.getByText('All files are uploaded.').waitFor();
    await page.getByRole('link', { name: 'dropped.txt' }).waitFor();
    await page.getByRole('link', { name: 'second dot.png' }).click();
    const preview = page.locator('.image-frame');
    await becomes(() => preview.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth), 1);
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
