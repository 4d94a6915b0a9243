import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import type { TestHost } from '#testing';
import { createSystemClock } from '../../host/clock.ts';
import { accessibilityViolations, ada, openAdmin, openBrowser, openPage, overflow } from './browser.ts';
import { createMigratedHost } from '../helpers/migrated.ts';

describe('image fields of forms in a browser', function () {
  this.timeout(120_000);
  let host: TestHost;
  let browser: Browser;
  before(async () => {
    host = await createMigratedHost({ plugins: ['svc', 'sandbox'], clock: createSystemClock() });
    await host.users.create(ada);
    browser = await openBrowser();
  });
  after(async () => {
    await browser.close();
    await host.stop();
  });
  const topic = { id: 'topic', type: 'text', label: 'Topic', required: true };
  const create = async (settings: object): Promise<number> => {
    const { code, out, err } = await host.cli('svc', 'form', 'create', '--json', JSON.stringify(settings));
    if (code !== 0) throw new Error(err);
    return (JSON.parse(out) as { id: number }).id;
  };

  it('send an image to the model, with JavaScript and without, chosen in the builder', async () => {
    await host.cli('svc', 'sandbox', 'on');
    const { page: admin } = await openAdmin(browser, host);
    const id = await create({ name: 'Look', elements: [topic], prompt: 'echo: Seen by {topic}:', model: 'gpt-4o' });
    await admin.goto(`${host.url}/admin/svc/ai-forms/edit?id=${String(id)}`);
    expect(await admin.locator('option', { hasText: 'Image (for models that read images)' }).count()).to.be.above(0);
    const photo = { id: 'photo', type: 'image', label: 'Photo', required: true };
    const changes = JSON.stringify({ id, elements: [topic, photo] });
    expect((await host.cli('svc', 'form', 'update', '--json', changes)).code).to.equal(0);
    const post = await host.content.posts.create({
      type: 'page',
      title: 'Look',
      content: `[svc_form ${String(id)}]`,
      status: 'publish',
    });
    const address = await host.content.permalink(post);
    const dot = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    for (const javaScriptEnabled of [true, false]) {
      const { page: visitor } = await openPage(browser, { javaScriptEnabled, viewport: { width: 390, height: 844 } });
      await visitor.goto(address);
      await visitor.getByLabel('Topic (required)').fill('me');
      await visitor.getByText('PNG, JPEG, WebP or GIF, at most 5 MB').waitFor();
      const chooser = visitor.getByLabel('Photo (required)');
      expect(await chooser.getAttribute('accept')).to.contain('image/png');
      await chooser.setInputFiles({ name: 'a.txt', mimeType: 'image/png', buffer: Buffer.from('no image') });
      await visitor.getByRole('button', { name: 'Generate' }).click();
      await visitor.getByText('Photo must be a PNG, JPEG, WebP or GIF image.').waitFor();
      await visitor
        .getByLabel('Photo (required)')
        .setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: dot });
      await visitor.getByRole('button', { name: 'Generate' }).click();
      await visitor
        .getByText(`Seen by me: [image/png, ${String(dot.length)} bytes]`)
        .first()
        .waitFor();
      if (!javaScriptEnabled) continue;
      expect(await overflow(visitor)).to.equal(0);
      expect(await accessibilityViolations(visitor)).to.deep.equal([]);
    }
  });
});
