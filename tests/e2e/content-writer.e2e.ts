import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { startWebhookReceiver, type WebhookReceiver } from '../contract/webhook-receiver.ts';
import { checkEvent, type Event } from '../contract/content-site.ts';
import { becomes } from '../helpers/until.ts';
import { confirmQuestion, expectLooks, openDetails } from './browser.ts';
import { openBotsSite, type BotsSite } from './bots-site.ts';

describe('the content writer in a browser', () => {
  let site: BotsSite;
  let page: Page;
  let receiver: WebhookReceiver;
  before(async () => {
    site = await openBotsSite();
    ({ page } = site);
    receiver = await startWebhookReceiver();
    await site.host.cli('svc', 'webhook', 'on');
    await site.host.cli(
      'svc',
      'webhook',
      'add',
      '--json',
      JSON.stringify({ name: 'All', url: receiver.url, events: ['content.generated'] }),
    );
  });
  beforeEach(async () => {
    // What an earlier test brought about may still be on its way.
    const ended = ['delivered', 'failed'];
    await becomes(
      () => site.host.database.knex('svc_webhook_deliveries').whereNotIn('state', ended).pluck('state'),
      [],
    );
    receiver.forget();
  });
  after(async () => {
    await site.stop();
    await receiver.stop();
  });

  const at = (path: string): string => `${site.host.url}/admin/svc/content${path}`;
  const events = async (count: number): Promise<readonly Event[]> =>
    (await receiver.first(count)).map(({ body }) => JSON.parse(body.toString()) as Event);
  /** Prompts that the sandbox's model repeats. */
  async function echoes(): Promise<void> {
    const part = (prompt: string): object => ({ enabled: true, prompt });
    await site.host.cli(
      'svc',
      'content',
      'templates',
      'set',
      '--json',
      JSON.stringify({
        name: 'Echo',
        parts: {
          title: part('echo: About {topic}'),
          content: part(`echo: ## Of {topic}\n\n${'word '.repeat(40)}\n\n- **one**\n- two`),
          meta_description: part('echo: All of {topic}'),
          tags: part('echo: a, b'),
        },
      }),
    );
  }
  async function fault(name: string, pace = 20): Promise<void> {
    await site.host.options.update('sandbox_dial', { fault: name, rate: 1, delay_ms: 0, seed: 1, pace_ms: pace });
  }

  it('offers the sandbox if no provider is connected', async () => {
    await page.goto(at(''));
    await page.getByRole('button', { name: 'Use the sandbox' }).click();
    await page.getByText('The sandbox is on').waitFor();
    await page.goto(at('/runs'));
    await page.getByText('Nothing written yet').waitFor();
    await page.getByRole('link', { name: 'Write your first text' }).click();
    await page.waitForURL(at(''));
    await echoes();
  });

  it('streams a text and saves it as edited', async () => {
    await page.goto(at(''));
    await page.getByLabel('Template', { exact: true }).selectOption({ label: 'Echo' });
    await page.getByText('Template').first().waitFor();
    await page.getByLabel('Topic', { exact: true }).fill('mountain coffee');
    await page.getByLabel('Topic', { exact: true }).press('Tab');
    await page.getByText(/^Estimate: About [\d,]+ tokens/).waitFor();
    await page.getByRole('button', { name: 'Write now' }).click();
    await page.getByText('Writing: Text').waitFor();
    await page.getByText(/^Finished: [\d,]+ tokens/).waitFor();
    await becomes(() => page.getByLabel('Title', { exact: true }).inputValue(), 'About mountain coffee');
    await page.locator('[data-preview] li', { hasText: 'two' }).waitFor();
    await page.waitForURL(/\?text=/);
    await page.reload();
    await becomes(() => page.getByLabel('Meta description', { exact: true }).inputValue(), 'All of mountain coffee');
    await page.getByLabel('Title', { exact: true }).fill('My coffee');
    await page.getByLabel('Text (Markdown)').fill('Mine, and **bold**.');
    await page.locator('[data-preview] strong', { hasText: 'bold' }).waitFor();
    await page.getByLabel('Save as', { exact: true }).selectOption('publish');
    await page.getByRole('button', { name: 'Save post' }).click();
    await page.getByText('Post published.').waitFor();
    const [event] = (await events(1)) as [Event];
    checkEvent(event);
    expect([event.source.origin, event.data.title]).to.deep.equal(['direct_stream', 'About mountain coffee']);
    await page.goto(`${site.host.url}/?p=1`);
    expect(await page.locator('meta[name="description"]').getAttribute('content')).to.equal('All of mountain coffee');
    await page.getByRole('heading', { name: 'My coffee' }).waitFor();
    expect(receiver.received).to.have.length(1);
  });

  it('keeps the partial text when stopped', async () => {
    await fault('none', 150);
    await page.goto(at('?template=Echo'));
    await page.getByLabel('Topic', { exact: true }).fill('a very long story');
    await page.getByRole('button', { name: 'Write now' }).click();
    await page.getByText('Writing: Text').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped. The text so far is below').waitFor();
    await fault('none');
    await becomes(() => page.getByLabel('Title', { exact: true }).inputValue(), 'About a very long story');
    await page.getByLabel('Text (Markdown)').fill('I ended it myself.');
    await page.getByRole('button', { name: 'Save post' }).click();
    await page.getByText('Post saved.').waitFor();
    const [event] = (await events(1)) as [Event];
    expect([event.source.origin, event.resource?.type, event.data.content]).to.deep.equal([
      'manual_content_writer',
      'post',
      '<p>I ended it myself.</p>',
    ]);
  });

  it('generates the featured image of a post; in automations only together with the post', async () => {
    const { host } = site;
    await page.goto(at('?template=Echo'));
    await page.getByLabel('Topic', { exact: true }).fill('a red cup');
    await page.locator('[data-part="image"] summary').click();
    await page.locator('#content-part-image').check();
    await page.locator('#content-parts-image-prompt').fill('A cup: {title}');
    await page.getByRole('button', { name: 'Write now' }).click();
    await page.getByText(/^Finished: /).waitFor();
    await page.locator('[data-image] img').waitFor();
    await page.getByRole('button', { name: 'Save post' }).click();
    await page.getByText('Post saved.').waitFor();
    const [newest] = await host.content.posts.find({ status: 'any', orderBy: 'id', limit: 1 });
    expect((await host.content.media.get(newest!.featuredMediaId))?.alt).to.not.equal(undefined);
    const media = (): Promise<number> => host.content.posts.count({ type: 'attachment', status: 'inherit' });
    const before = await media();
    await host.cli(
      'svc',
      'content',
      'templates',
      'set',
      '--json',
      JSON.stringify({
        name: 'With image',
        parts: { title: { enabled: true, prompt: 'echo: T' }, image: { enabled: true, prompt: 'A cup' } },
      }),
    );
    const type = (await host.hooks.applyFiltersAsync('svc_automation_task_types', [], {} as never)).find(
      ({ id }) => id === 'content_writing',
    )!;
    const result = await type.run({
      key: 'k',
      id: 1,
      target: 'x',
      input: {},
      settings: { template: 'With image' },
      attempt: 1,
      signal: new AbortController().signal,
      task: { id: 1, name: 'T', type: 'content_writing', authorId: newest!.authorId },
      origin: { module: 'automations', route: null, botId: null },
    });
    expect(await media()).to.equal(before);
    const done = await host.database.transaction(async (transaction) => result.commit?.(transaction));
    expect(await media()).to.equal(before + 1);
    expect((await host.content.posts.get(done?.postId ?? 0))?.featuredMediaId).to.be.above(0);
  });

  it('shows an error at the field of an invalid prompt', async () => {
    await page.goto(at('?template=Echo'));
    await page.getByLabel('Topic', { exact: true }).fill('x');
    await page.locator('[data-part="title"] summary').click();
    await page.locator('#content-parts-title-prompt').fill('About {subject}');
    await page.getByRole('button', { name: 'Write now' }).click();
    await page.getByText('uses {subject}, which does not exist').first().waitFor();
  });

  it('writes a list in the background, shows why texts failed and retries them', async () => {
    await page.goto(at('?template=Echo'));
    await page.getByLabel('List of topics').check();
    await page.getByLabel('Topics (one per line)').fill('tea\ncocoa\nwater');
    await page.getByRole('button', { name: 'Review batch' }).click();
    await page.getByRole('heading', { name: 'Write 3 texts' }).waitFor();
    await page.getByText(/^About [\d,]+ tokens, \$0\.$/).waitFor();
    await fault('garbage');
    await page.getByRole('button', { name: 'Start writing' }).click();
    await page.getByText('Retrying.').first().waitFor({ timeout: 30_000 });
    await page.getByRole('button', { name: 'Cancel remaining' }).isVisible();
    await page.getByRole('button', { name: 'Cancel remaining' }).click();
    await confirmQuestion(page);
    await page.getByText('3 cancelled').first().waitFor();
    await fault('none');
    await page.getByRole('button', { name: 'Retry failed texts' }).click();
    await page.getByText('3 of 3 finished', { exact: true }).waitFor({ timeout: 30_000 });
    await becomes(() => page.getByRole('link', { name: /^Edit post: / }).count(), 3);
    const arrived = await events(3);
    for (const event of arrived) checkEvent(event);
    expect(arrived.map(({ source, resource }) => `${source.origin} ${String(resource?.type)}`)).to.deep.equal(
      Array(3).fill('manual_content_writer post'),
    );
  });

  it('reads a CSV file and asks for its columns', async () => {
    await page.goto(at('?template=Echo'));
    await page.getByLabel('CSV', { exact: true }).check();
    await page.getByLabel('CSV file').setInputFiles({
      name: 'drinks.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('Nr;Drink\r\n1;Milk\r\n2;Juice\r\n'),
    });
    await page.getByRole('button', { name: 'Review batch' }).click();
    await page.getByRole('heading', { name: 'drinks.csv' }).waitFor();
    await page.getByLabel('Topic', { exact: true }).selectOption('Drink');
    await page.getByRole('button', { name: 'Apply columns' }).click();
    await page.getByRole('cell', { name: 'Juice' }).waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByText('Batch discarded.').waitFor();
  });

  it('saves prompts as a template and deletes it', async () => {
    await page.goto(at('/templates'));
    await page.getByRole('link', { name: 'Copy News from a source' }).click();
    await page.getByLabel('Name').fill('My news');
    await page.getByRole('button', { name: 'Save template' }).click();
    await page.getByText('My news saved.').waitFor();
    await page.getByRole('button', { name: 'Delete My news' }).click();
    await confirmQuestion(page);
    await page.getByText('Template deleted.').waitFor();
  });

  it('works without scripts, in the background', async () => {
    const plain = await site.signIn({ javaScriptEnabled: false });
    await plain.page.goto(at('?template=Echo'));
    await plain.page.getByLabel('Topic', { exact: true }).fill('plain water');
    await plain.page.getByRole('button', { name: 'Review batch' }).click();
    await plain.page.getByRole('button', { name: 'Start writing' }).click();
    await plain.page.getByText('You can close this page.').waitFor();
    await events(1);
    await becomes(async () => {
      await plain.page.reload();
      return plain.page.getByText('1 of 1 finished').count();
    }, 1);
    await plain.page.context().close();
  });

  for (const path of ['', '?template=news', '/runs', '/templates', '/template?copy=rewrite', '/batch?id=1']) {
    it(`is accessible and fits narrow windows, light and dark: svc/content${path}`, async () => {
      await expectLooks(page, {
        load: async () => {
          await page.goto(at(path));
          await openDetails(page);
          await page.evaluate('document.querySelector("[data-result-area]")?.removeAttribute("hidden")');
        },
      });
    });
  }

  it('left no errors in the console', () =>
    expect(site.problems.filter((problem) => !problem.includes('400 (Bad Request)'))).to.deep.equal([]));
});
