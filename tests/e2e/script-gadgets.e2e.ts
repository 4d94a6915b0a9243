import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import type { User } from '#plugin-api';
import { createTestHost, type TestHost } from '#testing';
import { ada, openAdmin, openBrowser, openPage } from './browser.ts';

/** A form of a post that would send what it says as the administrator who clicks it. */
const gadget = (editor: number): string => `
<form data-rest-trial="POST" data-url="http://x/wp-json/wp/v2/users/${String(editor)}" data-nonce="/admin/rest-nonce">
<textarea name="body" hidden>{"roles":["administrator"]}</textarea><span data-response hidden></span>
<button class="site-button">Read more</button></form>
<div id="content" data-load="/admin/users">Part of the admin</div>
<iframe src="/admin/users" title="The admin"></iframe>
<script type="module" src="/assets/admin/texts.js"></script><script type="module" src="/assets/admin/rest-trial.js"></script>
<script src="/assets/admin/admin.js" defer></script>`;

describe('a post that would use the scripts of the admin', () => {
  let folder = '';
  let host: TestHost;
  let browser: Browser;
  let editor: User;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-gadgets-'));
    host = await createTestHost({ database: folder });
    await host.users.create(ada);
    editor = await host.users.create({ ...ada, login: 'eve', email: 'eve@example.com', role: 'editor' });
    browser = await openBrowser();
  });
  after(async () => {
    await browser.close();
    await host.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Opens the post as an administrator and clicks; the requests that were sent meanwhile. */
  async function click(id: number): Promise<string[]> {
    const { page } = await openAdmin(browser, host);
    const sent: string[] = [];
    page.on('request', (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname}`));
    await page.goto(`${host.url}/?p=${String(id)}`);
    const button = page.getByRole('button', { name: 'Read more' });
    if ((await button.count()) > 0) {
      await button.click();
      await page.waitForLoadState('networkidle');
    }
    const framed = page.frames().find((frame) => frame !== page.mainFrame());
    expect((await framed?.content()) ?? '', 'the admin in a frame').not.to.contain('eve@example.com');
    expect(await page.content()).not.to.contain('eve@example.com');
    await page.context().close();
    return sent;
  }
  const refused = /rest-nonce|wp\/v2\/users/;

  it('of an editor loses its scripts and forms when it is saved', async () => {
    const post = await host.content.posts.create(
      { title: 'Trap', content: gadget(editor.id), status: 'publish' },
      { as: editor },
    );
    expect(post.content).not.to.match(/<script|<form|<iframe|data-/);
    expect((await click(post.id)).filter((request) => refused.test(request))).to.deep.equal([]);
    expect((await host.users.get(editor.id))?.roles).to.deep.equal(['editor']);
  });

  it('from before still shows its text, and its scripts do not run', async () => {
    const post = await host.content.posts.create({ title: 'Old', content: gadget(editor.id), status: 'publish' });
    expect((await click(post.id)).filter((request) => refused.test(request))).to.deep.equal([]);
    expect((await host.users.get(editor.id))?.roles).to.deep.equal(['editor']);
    const { page } = await openPage(browser);
    await page.goto(`${host.url}/?p=${String(post.id)}`);
    expect(await page.getByRole('button', { name: 'Read more' }).count()).to.equal(1);
    await page.context().close();
  });
});
