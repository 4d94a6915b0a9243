import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { createTestHost, type TestHost } from '#testing';
import { accessibilityViolations, ada, openAdmin, openBrowser, overflow } from './browser.ts';

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
    'a file',
  ];
  for (const name of names) {
    it(`is accessible and fits narrow windows, light and dark: ${name}`, async () => {
      for (const colorScheme of ['light', 'dark'] as const) {
        for (const width of [1280, 390]) {
          await page.setViewportSize({ width, height: 900 });
          await page.emulateMedia({ colorScheme });
          await page.goto(host.url + (paths[name] ?? ''));
          expect(await accessibilityViolations(page), `${width} ${colorScheme}`).to.deep.equal([]);
          expect(await overflow(page), `${width} ${colorScheme}`).to.equal(0);
        }
      }
      // The browser itself says of a page that is not there that it is not.
      expect(problems.splice(0).filter((problem) => !problem.includes('404'))).to.deep.equal([]);
    });
  }

  it('writes and publishes a post, which the site then shows', async () => {
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(`${host.url}/admin/posts`);
    await page.getByRole('link', { name: 'Add post' }).click();
    await page.getByLabel('Title').fill('Written by hand');
    await page.getByLabel('Content').fill('<p>Hello there</p>');
    await page.getByLabel('Status').selectOption('publish');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Post published.', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'View' }).first().click();
    await page.getByRole('heading', { name: 'Written by hand' }).waitFor();
    expect(await page.locator('.prose').textContent()).to.contain('Hello there');
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.waitForURL('**/admin/posts/edit?id=*');
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
});
