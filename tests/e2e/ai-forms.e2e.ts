import { createServer, type Server } from 'node:http';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import type { TestHost } from '#testing';
import { createSystemClock } from '../../host/clock.ts';
import { formSubmittedEvent } from '../../plugins/svc/modules/ai-forms/form-submitted.event.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../contract/webhook-receiver.ts';
import { accessibilityViolations, ada, expectLooks, openAdmin, openBrowser, openDetails, openPage } from './browser.ts';
import { createMigratedHost } from '../helpers/migrated.ts';
import { becomes } from '../helpers/until.ts';

/** PICTURES=<folder> takes pictures of the pages. */
const pictures = process.env['PICTURES'];

describe('AI forms in a browser', function () {
  this.timeout(120_000);
  let host: TestHost;
  let browser: Browser;
  let page: Page;
  let problems: string[];
  let receiver: WebhookReceiver;

  before(async () => {
    host = await createMigratedHost({ plugins: ['svc', 'sandbox'], clock: createSystemClock() });
    await host.users.create(ada);
    await host.cli('svc', 'sandbox', 'on');
    await host.cli('svc', 'webhook', 'on');
    receiver = await startWebhookReceiver();
    await host.cli(
      'svc',
      'webhook',
      'add',
      '--json',
      JSON.stringify({ name: 'Shop', url: receiver.url, events: ['form.submitted'] }),
    );
    browser = await openBrowser();
    ({ page, problems } = await openAdmin(browser, host));
  });
  after(async () => {
    await browser.close();
    await receiver.stop();
    await host.stop();
  });

  const picture = async (name: string, of: Page = page): Promise<void> => {
    if (pictures !== undefined) await of.screenshot({ path: `${pictures}/ai-forms-${name}.png`, fullPage: true });
  };
  const form = async (settings: object): Promise<number> => {
    const { code, out, err } = await host.cli('svc', 'form', 'create', '--json', JSON.stringify(settings));
    if (code !== 0) throw new Error(err);
    return (JSON.parse(out) as { id: number }).id;
  };
  const publish = async (content: string, slug: string): Promise<string> => {
    const post = await host.content.posts.create({ type: 'page', title: 'A page', content, slug, status: 'publish' });
    return host.content.permalink(post);
  };
  const topic = { id: 'topic', type: 'text', label: 'Topic', required: true };
  const echo = {
    name: 'Echo',
    elements: [
      topic,
      { id: 'notes', type: 'file', label: 'Notes' },
      {
        id: 'tone',
        type: 'radio',
        label: 'Tone',
        options: [
          { value: 'f', label: 'Friendly' },
          { value: 's', label: 'Strict' },
        ],
      },
    ],
    prompt: 'echo: # About {topic}\n\n**Bold** <img src=x onerror=alert(1)> {notes} {tone}',
  };

  it('go the whole way: starter, builder, page, answer, draft, event, submissions', async () => {
    await page.goto(`${host.url}/admin/svc/ai-forms`);
    await page.getByText('Visitors fill in fields and get a generated text').waitFor();
    await picture('list-empty');
    await page.getByRole('button', { name: 'Create: Product text' }).click();
    await page.getByRole('heading', { name: 'Product text', level: 1 }).waitFor();
    // The prompt is checked: an unknown field, and a required one that is not used.
    const prompt = page.getByRole('textbox', { name: 'Prompt', exact: true });
    await prompt.fill('echo: # {product}\n\nFor {who}.');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('uses {who}, but no field has that id').first().waitFor();
    await page.getByText('does not use the required field “Features”').first().waitFor();
    await picture('edit-refused');
    // A field more, by keyboard, moved up.
    await page.getByLabel('Type of the new field').selectOption('textarea');
    await page.getByRole('button', { name: 'Add field' }).press('Enter');
    await page.locator('[data-row]').nth(4).getByLabel('Label', { exact: true }).fill('Who');
    await page.getByRole('button', { name: 'Move up: Field 5' }).press('Enter');
    await page
      .locator('[data-row]')
      .nth(3)
      .getByLabel('Label', { exact: true })
      .and(page.locator('[value="Who"]'))
      .waitFor();
    // The same by dragging, to the top, and by the arrow keys, back down.
    const labels = (): Promise<string[]> =>
      page.evaluate(`[...document.querySelectorAll('[data-row] input[name$="[label]"]')].map((input) => input.value)`);
    const before = await labels();
    const grip = (at: number) => page.locator('[data-row-grip]').nth(at);
    await grip(3).hover();
    await page.mouse.down();
    await page
      .locator('[data-row]')
      .first()
      .hover({ position: { x: 30, y: 4 }, force: true });
    await page.locator('[data-row][data-drop="before"]').first().waitFor();
    await picture('edit-dragging');
    await page.mouse.up();
    await becomes(labels, ['Who', ...before.filter((label) => label !== 'Who')]);
    for (let step = 1; step <= 3; step += 1) {
      await page.keyboard.press('ArrowDown');
      await becomes(async () => (await labels()).indexOf('Who'), step);
    }
    expect(await labels()).to.deep.equal(before);
    await page
      .getByRole('textbox', { name: 'Prompt', exact: true })
      .fill('echo: # {product}\n\nFor {who}: {features} {length}');
    await page.locator('[data-form-preview]').getByLabel('Who', { exact: true }).waitFor();
    await picture('edit');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('Product text saved.').waitFor();

    const address = await publish('[svc_form id=1]', 'product');
    await page.goto(address);
    await page.getByLabel('Product (required)').fill('Salad servers');
    await page.getByLabel('Features (required)').fill('Oak\nOiled');
    await page.getByLabel('Who', { exact: true }).fill('cooks');
    await page.getByLabel('Length (required)').selectOption({ label: 'Short' });
    await page.getByRole('button', { name: 'Write the text' }).click();
    await page.getByRole('button', { name: 'Save as post' }).waitFor();
    const answer = page.locator('.svcf-answer');
    expect(await answer.getByRole('heading').first().innerText()).to.equal('Salad servers');
    expect(await answer.innerText()).to.contain('For cooks: Oak');
    await picture('answered');
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download as Markdown' }).click();
    expect((await download).suggestedFilename()).to.equal('answer.md');
    await page.getByRole('button', { name: 'Save as post' }).click();
    const draft = page.getByRole('link', { name: 'Edit the draft' });
    await draft.click();
    expect(await page.getByLabel('Title', { exact: true }).inputValue()).to.equal('Salad servers');

    const [received] = await receiver.first(1);
    const event = JSON.parse(received?.body.toString() ?? '{}') as {
      type: string;
      data: { submission: { count: number }; inputs: Record<string, unknown>; actor: object };
    };
    const ajv = addFormats.default(new Ajv({ allErrors: true, allowUnionTypes: true }));
    expect(ajv.validate(formSubmittedEvent.schema, event.data), ajv.errorsText()).to.equal(true);
    expect([event.type, event.data.submission.count, event.data.inputs['product'], event.data.actor]).to.deep.equal([
      'form.submitted',
      1,
      'Salad servers',
      { type: 'user', user_id: 1 },
    ]);

    await page.goto(`${host.url}/admin/svc/ai-forms/submissions`);
    await page.getByText('Product text 1 · Salad servers').click();
    await page.getByRole('region', { name: 'Response: Product text' }).getByText('For cooks').waitFor();
    await picture('submissions');
    await page.getByRole('link', { name: 'Form submissions' }).last().click();
    const csv = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export CSV' }).click();
    expect((await csv).suggestedFilename()).to.equal('form-submissions.csv');
    expect(receiver.received).to.have.length(1);
    // The refused form is answered with 400, which browsers note.
    expect(problems.filter((problem) => !problem.includes('400 (Bad Request)'))).to.deep.equal([]);
  });

  it('work without JavaScript: the form is sent, and the answer is a page', async () => {
    const id = await form(echo);
    const address = await publish(`[svc_form ${String(id)}]`, 'plain');
    const { page: plain } = await openPage(browser, { javaScriptEnabled: false });
    await plain.goto(address);
    await plain.getByLabel('Topic (required)').fill('the sea');
    await plain
      .getByLabel('Notes')
      .setInputFiles({ name: 'notes.md', mimeType: 'text/markdown', buffer: Buffer.from('Waves.') });
    await plain.getByLabel('Friendly').check();
    await plain.getByRole('button', { name: 'Generate' }).click();
    await plain.getByRole('heading', { name: 'About the sea' }).waitFor();
    expect(await plain.locator('.svcf-answer').innerText())
      .to.contain('Bold')
      .and.to.contain('Waves. Friendly');
    expect(await plain.locator('.svcf-answer img').count()).to.equal(0);
    await picture('plain-answer', plain);
    const download = plain.waitForEvent('download');
    await plain.getByRole('link', { name: 'Text', exact: true }).click();
    expect((await download).suggestedFilename()).to.equal('echo.txt');
    // What is wrong comes back at its field, with what was filled in.
    await plain.goto(address);
    await plain.getByLabel('Topic (required)').fill('the lake');
    await plain
      .getByLabel('Notes')
      .setInputFiles({ name: 'notes.exe', mimeType: 'application/octet-stream', buffer: Buffer.from('x') });
    await plain.getByRole('button', { name: 'Generate' }).click();
    await plain.getByText('Notes must be a .txt, .md or .pdf file.').waitFor();
    expect(await plain.getByLabel('Topic (required)').inputValue()).to.equal('the lake');
    await picture('plain-refused', plain);
    // The builder too: rows are arranged by the server.
    const { page: admin } = await openAdmin(browser, host, { javaScriptEnabled: false });
    await admin.goto(`${host.url}/admin/svc/ai-forms/edit?id=${String(id)}`);
    await admin.getByRole('button', { name: 'Move up: Notes' }).click();
    await admin.getByRole('button', { name: 'Remove: Tone' }).click();
    await admin.getByRole('textbox', { name: 'Prompt', exact: true }).fill('echo: {topic} {notes}');
    await admin.getByRole('button', { name: 'Save changes' }).click();
    await admin.getByText('Echo saved.').waitFor();
    const saved = JSON.parse((await host.cli('svc', 'form', 'get', String(id), '--json')).out) as {
      elements: { id: string }[];
    };
    expect(saved.elements.map((element) => element.id)).to.deep.equal(['notes', 'topic']);
  });

  it('are arranged by a page of their own where the rows cannot be fetched, and what was typed is not lost', async () => {
    await page.goto(`${host.url}/admin/svc/ai-forms/edit?id=${String(await form(echo))}`);
    problems.length = 0;
    await page.getByRole('textbox', { name: 'Prompt', exact: true }).fill('echo: {topic}, typed');
    // The server responds otherwise: what is sent as a whole page is asked for first.
    await page.route('**/*', (route) =>
      route.request().resourceType() === 'fetch' && !route.request().url().endsWith('/rest-nonce')
        ? route.abort()
        : route.continue(),
    );
    const arranged = page.waitForNavigation();
    await page.getByRole('button', { name: 'Move up: Notes' }).click();
    await arranged;
    await page.unroute('**/*');
    expect(await page.locator('[data-row]').first().getByLabel('Label', { exact: true }).inputValue()).to.equal(
      'Notes',
    );
    expect(await page.getByRole('textbox', { name: 'Prompt', exact: true }).inputValue()).to.equal(
      'echo: {topic}, typed',
    );
    expect(problems.filter((problem) => !problem.includes('net::ERR_FAILED'))).to.deep.equal([]);
  });

  it('stand on other sites by one script tag, under a strict policy, and nowhere that is not allowed', async () => {
    const shop = await startShop();
    const { port } = new URL(shop.url);
    const id = await form({
      ...echo,
      embed: { enabled: true, allowed_domains: [`localhost:${port}`] },
      limits: { guest: { amount: 1, per: 'day' }, message: 'Enough for today.' },
    });
    shop.body = `<h1>Shop</h1><script src="${host.url}/wp-json/svc-widget/v1/widget.js" data-form="${String(id)}" async></script>`;
    shop.policy = `default-src 'none'; script-src ${host.url}; connect-src ${host.url}; require-trusted-types-for 'script'`;
    try {
      const opened = await openPage(browser);
      await opened.page.goto(shop.url.replace('127.0.0.1', 'localhost'));
      const element = opened.page.locator('svc-form');
      await element.getByLabel('Topic (required)').fill('shops');
      await element.getByRole('button', { name: 'Generate' }).click();
      await element.getByRole('button', { name: 'Copy' }).waitFor();
      expect(await element.locator('.svcf-answer').innerText())
        .to.contain('About shops')
        .and.to.contain('<img src=x');
      expect(await element.getByRole('button', { name: 'Save as post' }).count()).to.equal(0);
      await picture('embedded', opened.page);
      expect(await accessibilityViolations(await withoutPolicy(shop, opened.page))).to.deep.equal([]);
      await element.getByRole('button', { name: 'Generate' }).click();
      await element.getByLabel('Topic (required)').fill('more');
      await element.getByRole('button', { name: 'Generate' }).click();
      await element.getByText('Enough for today.').waitFor();
      const other = await openPage(browser);
      await other.page.goto(shop.url);
      await other.page.locator('svc-form').waitFor({ state: 'attached' });
      expect(await other.page.locator('svc-form').innerText()).to.equal('');
    } finally {
      await shop.stop();
    }
  });

  it('are shown once wherever their shortcode stands', async () => {
    const shortcode = `[svc_form ${String(await form(echo))}]`;
    const contents = [
      `<p>${shortcode}</p>`,
      `<p class="wide">${shortcode}</p>`,
      `<p>Fill in ${shortcode} and wait.</p>`,
      `Above.\n\n${shortcode}\n\nBelow.`,
      `Above.\n${shortcode}`,
    ];
    for (const javaScriptEnabled of [true, false]) {
      const opened = await openPage(browser, { javaScriptEnabled });
      for (const [index, content] of contents.entries()) {
        await opened.page.goto(await publish(content, `once-${String(javaScriptEnabled)}-${String(index)}`));
        await opened.page.getByRole('button', { name: 'Generate' }).first().waitFor();
        if (javaScriptEnabled) await opened.page.waitForFunction(`customElements.get('svc-form') !== undefined`);
        expect(await opened.page.getByLabel('Topic (required)').count(), content).to.equal(1);
      }
      await opened.page.context().close();
    }
  });

  it('have the colours of the system, or of the theme they are given', async () => {
    const address = await publish(`[svc_form ${String(await form(echo))}]`, 'themes');
    const [white, dark] = ['rgb(255, 255, 255)', 'rgb(23, 25, 30)'];
    for (const [colorScheme, automatic] of [
      ['light', white],
      ['dark', dark],
    ] as const) {
      const opened = await openPage(browser, { colorScheme });
      await opened.page.goto(address);
      const grounds = await opened.page.evaluate<string[]>(`['auto', 'light', 'dark'].map((theme) => {
        document.querySelector('.svcf').dataset.theme = theme;
        return getComputedStyle(document.querySelector('.svcf-input')).backgroundColor;
      })`);
      expect(grounds, colorScheme).to.deep.equal([automatic, white, dark]);
      await opened.page.context().close();
    }
  });

  it('show what is refused at its field, and fit narrow windows, light and dark', async () => {
    const id = await form({
      ...echo,
      name: 'Every kind',
      consent: { required: true, text: 'I agree.' },
      intro: 'Some words.\n\nAnd more.',
      elements: [
        ...echo.elements,
        { id: 'area', type: 'textarea', label: 'Area', help: 'Help.' },
        { id: 'count', type: 'number', label: 'Count', max: 3 },
        { id: 'pick', type: 'select', label: 'Pick', options: [{ value: 'a', label: 'A' }] },
        { id: 'ticks', type: 'checkbox', label: 'Ticks', required: true, options: [{ value: 'a', label: 'A tick' }] },
      ],
      prompt: 'echo: {topic} {ticks}',
    });
    const address = await publish(`[svc_form ${String(id)}]`, 'kinds');
    const visitor = await openPage(browser);
    await visitor.page.goto(address);
    await visitor.page.getByLabel('Topic (required)').fill('Hello');
    await visitor.page.getByLabel('I agree.').check();
    await visitor.page.getByRole('button', { name: 'Generate' }).click();
    await visitor.page.getByText('Ticks is required.').waitFor();
    await expectLooks(visitor.page);
    await visitor.page.getByLabel('A tick').check();
    await visitor.page.getByRole('button', { name: 'Generate' }).click();
    await visitor.page.getByRole('button', { name: 'Copy' }).waitFor();
    await expectLooks(visitor.page, { picture: (look) => picture(`kinds-${look}`, visitor.page) });
    await visitor.page.context().close();
    for (const path of ['', '/submissions', `/edit?id=${String(id)}`]) {
      await expectLooks(page, {
        load: async () => {
          await page.goto(`${host.url}/admin/svc/ai-forms${path}`);
          await openDetails(page);
        },
        picture: (look) => picture(`admin${path.replace(/\W+/g, '-')}-${look}`),
      });
    }
  });
});

interface Shop {
  readonly url: string;
  body: string;
  policy: string;
  stop(): Promise<void>;
}

/** A page of another site. */
async function startShop(): Promise<Shop> {
  const server: Server = createServer((_request, response) => {
    response.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      ...(shop.policy !== '' && { 'content-security-policy': shop.policy }),
    });
    response.end(
      `<!doctype html><html lang="en"><head><title>Shop</title></head><body><main>${shop.body}</main></body></html>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as { port: number };
  const shop: Shop = {
    url: `http://127.0.0.1:${String(port)}/`,
    body: '',
    policy: '',
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return shop;
}

/** The same page once more, as axe-core needs it. */
async function withoutPolicy(shop: Shop, page: Page): Promise<Page> {
  shop.policy = '';
  await page.reload();
  await page.locator('svc-form').getByLabel('Topic (required)').waitFor();
  return page;
}
