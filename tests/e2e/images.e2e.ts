import { Ajv } from 'ajv';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { createSystemClock } from '../../host/clock.ts';
import { serviceEvents } from '../../plugins/svc/events.ts';
import type { TestHost } from '#testing';
import { startWebhookReceiver, type WebhookReceiver } from '../contract/webhook-receiver.ts';
import { becomes } from '../helpers/until.ts';
import { ada, confirmQuestion, expectLooks, openAdmin, openBrowser, openPage } from './browser.ts';
import type { Fields } from '../helpers/fields.ts';
import { createMigratedHost } from '../helpers/migrated.ts';

/** Colours change at once, so that they are judged as they stay. */
const still = { reducedMotion: 'reduce' } as const;
/** A folder for pictures of what was seen, when somebody wants to look. */
const pictures = process.env['IMAGES_PICTURES'];

describe('images in a browser', () => {
  let host: TestHost;
  let browser: Browser;
  let page: Page;
  let problems: string[];
  let receiver: WebhookReceiver;
  let publicPath = '';

  before(async () => {
    host = await createMigratedHost({ plugins: ['svc', 'sandbox'], clock: createSystemClock() });
    await host.users.create(ada);
    receiver = await startWebhookReceiver();
    await command('svc', 'sandbox', 'on');
    await command('svc', 'webhook', 'on');
    await command(
      'svc',
      'webhook',
      'add',
      '--json',
      JSON.stringify({ name: 'Shop', url: receiver.url, events: ['image.generated'] }),
    );
    const post = await host.content.posts.create({
      type: 'page',
      title: 'Draw something',
      content: '<p>Have a picture drawn.</p>[svc_images]',
      status: 'publish',
      authorId: 1,
    });
    publicPath = new URL(await host.content.permalink(post)).pathname;
    browser = await openBrowser();
    ({ page, problems } = await openAdmin(browser, host, still));
  });
  after(async () => {
    await browser.close();
    await host.stop();
    await receiver.stop();
  });

  async function command(...words: string[]): Promise<string> {
    const { code, out, err } = await host.cli(...words);
    if (code !== 0) throw new Error(err);
    return out;
  }
  const picture = async (name: string, of = page): Promise<void> => {
    if (pictures !== undefined) await of.screenshot({ path: `${pictures}/${name}.png`, fullPage: true });
  };
  const events = async (count: number): Promise<readonly Fields[]> =>
    (await receiver.first(count)).map(({ body }) => JSON.parse(body.toString()) as Fields);
  const fits = (of: Page, name: string): Promise<void> =>
    expectLooks(of, { picture: (look) => picture(`${name}-${look}`, of) });
  const check = ({ type, data }: Fields): void => {
    const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, strict: false });
    expect(
      ajv.validate(serviceEvents.find(({ name }) => name === type)?.schema ?? false, data),
      ajv.errorsText(),
    ).to.equal(true);
  };

  it('an administrator draws, looks, edits with a mask, describes and deletes; each request is one event', async () => {
    await page.goto(`${host.url}/admin/svc/images`);
    await page.getByText('No images yet').waitFor();
    await fits(page, 'empty');
    await page.getByRole('link', { name: 'Describe the first image' }).click();
    await page.getByLabel('Describe the image').fill('A lighthouse at dusk');
    await page.getByLabel('Model', { exact: true }).first().fill('gpt-image-1');
    await page.getByLabel('Images', { exact: true }).selectOption('2');
    await page.getByText('Sandbox mode is on').waitFor();
    await page.getByLabel('Style', { exact: true }).waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Generate', exact: true }).click();
    await page.getByText('2 images generated.').waitFor();
    await page.getByRole('list', { name: 'New images' }).getByRole('link').first().waitFor();
    await becomes(() => page.getByRole('list', { name: 'New images' }).locator('img').count(), 2);
    await page.getByRole('list', { name: 'History' }).getByRole('listitem').nth(1).waitFor();
    await fits(page, 'drawn');

    const [drawn] = await events(1);
    check(drawn!);
    expect([drawn!['source'], drawn!['data'].mode, drawn!['data'].output_count, drawn!['data'].actor]).to.deep.equal([
      { module: 'image_generator', origin: 'admin_image_generator' },
      'generate',
      2,
      { type: 'user', user_id: 1 },
    ]);
    expect(JSON.stringify(drawn)).not.to.contain('base64');

    await page.getByRole('list', { name: 'New images' }).getByRole('link').first().click();
    await page.getByRole('heading', { name: 'Prompt' }).waitFor();
    await page.getByLabel('Description of the image').fill('A lighthouse');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('Alternative text saved.').waitFor();
    await fits(page, 'one');

    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await page.getByLabel('Describe the change').fill('Make it night');
    const image = await host.content.media.read(drawn!['data'].outputs.images[0].media_id as number);
    await page
      .getByLabel('Mask (optional)')
      .setInputFiles({ name: 'mask.png', mimeType: 'image/png', buffer: Buffer.from(image!) });
    await fits(page, 'edit');
    await page.getByRole('button', { name: 'Generate version' }).click();
    await page.getByText('1 image generated.').waitFor();
    await page.getByRole('list', { name: 'New images' }).getByRole('link').first().click();
    await page.getByText('Version of').waitFor();
    const edited = (await events(2))[1]!;
    check(edited);
    expect([edited['data'].mode, edited['data'].prompt]).to.deep.equal(['edit', 'Make it night']);

    await page.getByRole('button', { name: 'Delete' }).click();
    await confirmQuestion(page);
    await page.getByText('Image deleted.').waitFor();
    expect(await host.content.media.get(edited['data'].outputs.images[0].media_id as number)).to.equal(null);
    await page.getByLabel('Search in prompts').fill('nothing like it');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.getByText('No matching images').waitFor();
    expect(receiver.received).to.have.length(2);
    expect(problems).to.deep.equal([]);
  });

  it('says what to do where a model edits nothing, and keeps what was typed', async () => {
    await page.goto(`${host.url}/admin/svc/images`);
    await page.getByRole('list', { name: 'History' }).getByRole('link').first().click();
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    // The model of this image cannot edit: the page starts with the saved one, without an error.
    await host.database.knex('svc_images').update({ model: 'dall-e-3' });
    await page.reload();
    expect(await page.getByText('This model cannot edit images.').isVisible()).to.equal(false);
    expect(await page.getByLabel('Model', { exact: true }).first().inputValue()).not.to.equal('dall-e-3');
    await page.getByLabel('Describe the change').fill('Make it day');
    await page.getByLabel('Model', { exact: true }).first().fill('dall-e-3');
    await page.getByRole('button', { name: 'Generate version' }).click();
    await page.getByText('dall-e-3 of OpenAI cannot edit images. Choose a model that can.').waitFor();
    expect(await page.getByLabel('Describe the change').inputValue()).to.equal('Make it day');
  });

  it('visitors see nothing until it is switched on; then they draw, up to their limit, and see their own alone', async () => {
    const first = await openPage(browser, still);
    await first.page.goto(host.url + publicPath);
    expect(await first.page.locator('form.svc-images-form').count()).to.equal(0);

    await page.goto(`${host.url}/admin/svc/images/visitors`);
    await page.getByLabel('Let visitors generate images').check();
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.locator('.field-error', { hasText: 'must contain at least one model' }).waitFor();
    await page.getByLabel('Add another model').fill('openai:gpt-image-1');
    await page.getByLabel('Google: gemini-2.5-flash-image').check();
    for (const size of ['1024 × 1024', '1536 × 1024']) await page.getByLabel(size, { exact: true }).check();
    await page.getByLabel('Images per day for a guest').fill('2');
    await page.getByLabel('Banned words').fill('weapon');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('Settings saved. Add [svc_images]').waitFor();
    // The default comes first.
    await page.getByLabel('Default model').selectOption('openai:gpt-image-1');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('Settings saved. Add [svc_images]').waitFor();
    expect(await page.locator('input[name="models[]"]:checked').first().getAttribute('value')).to.equal(
      'openai:gpt-image-1',
    );
    await fits(page, 'visitors');

    const before = receiver.received.length;
    await first.page.goto(host.url + publicPath);
    await first.page.getByLabel('Describe the image').fill('A weapon');
    await first.page.getByLabel('I agree').check();
    await first.page.getByRole('button', { name: 'Generate', exact: true }).click();
    await first.page.getByText('This description is not allowed.').waitFor();
    await first.page.getByLabel('Describe the image').fill('A red boat');
    await first.page.getByRole('button', { name: 'Generate', exact: true }).click();
    await first.page.getByText('Your image is ready. 1 image left today.').waitFor();
    await first.page.getByRole('img', { name: 'A red boat' }).waitFor();
    await fits(first.page, 'visitor');
    const event = (await events(before + 1)).at(-1)!;
    check(event);
    expect([event['source'].origin, event['data'].actor]).to.deep.equal([
      'frontend_image_generator',
      { type: 'guest' },
    ]);

    await first.page.reload();
    await first.page.getByRole('img', { name: 'A red boat' }).waitFor();
    const other = await openPage(browser);
    await other.page.goto(host.url + publicPath);
    await other.page.getByText('1 image left today.').waitFor();
    expect(await other.page.getByRole('img', { name: 'A red boat' }).count()).to.equal(0);
    await first.page.getByLabel('Describe the image').fill('A blue boat');
    await first.page.getByLabel('I agree').check();
    await first.page.getByRole('button', { name: 'Generate', exact: true }).click();
    await first.page.getByText('0 images left today.').waitFor();
    await first.page.getByRole('button', { name: 'Generate', exact: true }).click();
    await first.page.getByText('You have used today’s images. Try again tomorrow.').waitFor();
    // The two refusals, which the browser notes.
    expect(first.problems.filter((problem) => !/40[03]|429/.test(problem))).to.deep.equal([]);
    await receiver.first(before + 2);
    expect(receiver.received).to.have.length(before + 2);
  });

  it('works without JavaScript: the form leads to a page that looks again until the image is there', async () => {
    await command('svc', 'image', 'public', '--json', '{"guest_per_day": 20}');
    const { page: plain } = await openPage(browser, { javaScriptEnabled: false });
    await plain.goto(host.url + publicPath);
    await plain.getByLabel('Describe the image').fill('A green boat');
    await plain.getByLabel('I agree').check();
    await plain.getByRole('button', { name: 'Generate', exact: true }).click();
    await plain.getByRole('heading', { name: 'Your image', exact: true }).waitFor();
    const shown = plain.getByRole('img', { name: 'A green boat' });
    await shown.waitFor();
    await becomes(
      () => shown.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth > 0),
      true,
    );
    await picture('plain', plain);
    const address = plain.url();
    const stranger = await openPage(browser, { javaScriptEnabled: false });
    await stranger.page.goto(address);
    await stranger.page.getByText('Image not found.').waitFor();
    expect(await stranger.page.getByRole('img').count()).to.equal(0);
    await plain.getByRole('link', { name: 'Back' }).click();
    await plain.getByLabel('Describe the image').waitFor();
  });
});
