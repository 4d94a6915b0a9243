import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { becomes } from '../helpers/until.ts';
import { accessibilityViolations, confirmQuestion, until } from './browser.ts';
import { isOfPage, openBotsSite, type BotsSite } from './bots-site.ts';

describe('chatbots in the admin', () => {
  let site: BotsSite;
  before(async () => {
    site = await openBotsSite();
  });
  after(() => site.stop());

  it('create the first one by a click, with a working preview', async () => {
    const { host, page, problems, preview, say } = site;
    await page.goto(`${host.url}/admin/svc/bots`);
    await page.getByRole('button', { name: 'Create your first chatbot with the sandbox' }).click();
    await page.getByText('Assistant is ready. Ask it something in the preview.').waitFor();
    await preview.getByText('Hello! How can I help you?').waitFor();
    await say('What do you know?');
    await preview.getByText('What do you know?', { exact: true }).waitFor();
    await preview.getByRole('button', { name: 'Good answer' }).waitFor();
    await page.goto(`${host.url}/admin/svc/bots`);
    await page.getByRole('cell', { name: 'on this site' }).waitFor();
    expect(await page.locator('tbody .number').first().textContent()).to.match(/^1 /);
    expect(problems).to.deep.equal([]);
  });

  it('show looks and texts in the preview before they are saved', async () => {
    const { page, problems, preview, open, bot, save, section } = site;
    const id = await open();
    await preview.getByRole('heading', { name: 'Chat with us' }).waitFor();
    await section('Texts');
    await page.getByLabel('Title', { exact: true }).fill('Ask our elephant');
    await preview.getByRole('heading', { name: 'Ask our elephant' }).waitFor();
    await section('Look');
    // What is not chosen is shown as it is, not as a color of its own.
    const shown = (name: string): Promise<string> => page.getByLabel(`${name}: picker`).inputValue();
    expect([await shown('Main color'), await shown('Background')]).to.deep.equal(['#3d4fd1', '#ffffff']);
    await page.getByLabel('Theme', { exact: true }).selectOption('dark');
    await page.locator('svc-chatbot [data-scheme="dark"]').waitFor();
    await page.getByLabel('Main color', { exact: true }).fill('#aa0044');
    await becomes(() => page.getByLabel('Main color: picker').inputValue(), '#aa0044');
    await until(
      page,
      `getComputedStyle(document.querySelector('svc-chatbot').shadowRoot.querySelector('.head')).backgroundColor === 'rgb(170, 0, 68)'`,
    );
    await page.getByRole('button', { name: 'Reset: Main color' }).click();
    await becomes(() => page.getByLabel('Main color', { exact: true }).inputValue(), '');
    expect(await shown('Main color')).to.equal('#3d4fd1');
    await section('Basics');
    await page.getByLabel('Greeting').fill('Welcome to the zoo');
    await preview.getByText('Welcome to the zoo').waitFor();
    await page.getByText('Not saved yet').waitFor();
    expect(await bot(id)).to.have.nested.property('texts.title', 'Chat with us');
    // And nothing of it is lost without a question.
    const asked = new Promise<string>((resolve) => {
      page.once('dialog', (dialog) => {
        resolve(dialog.type());
        void dialog.dismiss();
      });
    });
    await page.getByLabel('Breadcrumbs').getByRole('link', { name: 'Chatbots' }).click({ noWaitAfter: true });
    expect(await asked).to.equal('beforeunload');
    expect(await page.getByLabel('Greeting').inputValue()).to.equal('Welcome to the zoo');
    expect(problems).to.deep.equal([]);
    await save();
    await page.getByText('Assistant saved.').waitFor();
  });

  it('save every section, and stay at it', async () => {
    const { host, page, problems, open, bot, save, section } = site;
    const id = await open();
    await page.getByLabel('Greeting').fill('Welcome to the zoo');
    await section('Texts');
    await page.getByLabel('Title', { exact: true }).fill('Ask our elephant');
    await section('Look');
    await page.getByLabel('Theme', { exact: true }).selectOption('dark');
    await section('Knowledge');
    await page.getByLabel('Passages per question').fill('7');
    await section('Limits');
    await page.getByLabel('Guests: amount').fill('25');
    await page.getByLabel('Guests: period').selectOption('week');
    await page.getByLabel('Editor role: amount').fill('100');
    await section('Privacy and safety');
    await page.getByLabel('Delete after (days)').fill('30');
    await page.getByLabel('Banned words').fill('spam\nfree money');
    await section('Embedding');
    await page.getByLabel('Allowed domains').fill('shop.example.com\n*.example.org');
    await save();
    await page.getByText('Assistant saved.').waitFor();
    await becomes(() => page.url(), `${host.url}/admin/svc/bots/edit?id=${String(id)}#embed`);
    await page.getByLabel('Allowed domains').waitFor();
    await becomes(() => page.getByText('Not saved yet').isVisible(), false);
    await becomes(() => page.evaluate<number>('window.scrollY'), 0);
    const saved = await bot(id);
    expect(saved).to.deep.include({ greeting: 'Welcome to the zoo' });
    expect(saved).to.have.nested.property('texts.title', 'Ask our elephant');
    expect(saved).to.have.nested.property('look.theme', 'dark');
    expect(saved).to.have.nested.property('knowledge.top_k', 7);
    expect(saved)
      .to.have.nested.property('limits.guest')
      .that.deep.equals({ amount: 25, unit: 'messages', per: 'week' });
    expect(saved)
      .to.have.nested.property('limits.roles')
      .that.deep.equals({ editor: { amount: 100, unit: 'messages', per: 'day' } });
    expect(saved).to.have.nested.property('privacy.retention_days', 30);
    expect(saved)
      .to.have.nested.property('embed.allowed_domains')
      .that.deep.equals(['shop.example.com', '*.example.org']);
    expect(problems).to.deep.equal([]);
  });

  it('copy the embed code', async () => {
    const { host, page, open, section } = site;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const id = await open();
    await section('Embedding');
    await page.getByRole('button', { name: 'Copy script tag' }).click();
    await page.getByRole('button', { name: 'Copy script tag' }).getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(
      `<script src="${host.url}/wp-json/svc-widget/v1/widget.js" data-bot="${String(id)}" async></script>`,
    );
    await page.getByRole('button', { name: 'Copy shortcode' }).click();
    await until(page, `navigator.clipboard.readText().then((text) => text === '[svc_chatbot id=${String(id)}]')`);
  });

  it('mark errors in their section, and keep the rest', async () => {
    const { page, problems, open, bot, save, section } = site;
    const id = await open();
    await page.getByLabel('Temperature').fill('9');
    await section('Embedding');
    await page.getByLabel('Allowed domains').fill('shop.example.com\nno domain at all');
    await section('Texts');
    await page.getByLabel('Title', { exact: true }).fill('Typed before');
    await save();
    await page.getByText('Nothing was saved.').waitFor();
    expect(await page.locator('#bot-temperature-error').textContent()).to.equal('Temperature must be from 0 to 2.');
    await section('Texts');
    expect(await page.getByLabel('Title', { exact: true }).inputValue()).to.equal('Typed before');
    await page
      .locator('#errors')
      .getByRole('link', { name: /Temperature/ })
      .click();
    await becomes(() => page.evaluate<string>('document.activeElement.id'), 'bot-temperature');
    expect((await accessibilityViolations(page)).filter(isOfPage)).to.deep.equal([]);
    await page.getByLabel('Temperature').fill('0.3');
    await save();
    await page.locator('#bot-embed-allowed_domains-error').waitFor();
    expect(await page.locator('#bot-embed-allowed_domains-error').textContent()).to.contain('Line 2 must be a domain');
    await page.getByLabel('Allowed domains').fill('');
    await save();
    await page.getByText('Assistant saved.').waitFor();
    expect(await bot(id)).to.have.nested.property('texts.title', 'Typed before');
    problems.length = 0;
  });

  it('duplicate, export, import and delete', async () => {
    const { host, page, problems, open, bot } = site;
    const id = await open({ name: 'Traveller' });
    const copied = async (text: string): Promise<number> => {
      await page.getByText(text).waitFor();
      return Number(new URL(page.url()).searchParams.get('id'));
    };
    await page.goto(`${host.url}/admin/svc/bots`);
    await page.getByRole('button', { name: 'Actions for Traveller' }).click();
    await page.getByRole('button', { name: 'Duplicate Traveller' }).click();
    const copy = await copied('"Traveller (copy)" created.');
    expect(await bot(copy)).to.include({ name: 'Traveller (copy)', status: 'inactive' });
    await page.goto(`${host.url}/admin/svc/bots`);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Actions for Traveller', exact: true }).click();
    await page.getByRole('button', { name: 'Export Traveller', exact: true }).click();
    const file = await download;
    expect(file.suggestedFilename()).to.equal(`chatbot-${String(id)}.json`);
    const path = await file.path();
    expect(JSON.parse(await readFile(path, 'utf8'))).to.have.property('format', 'svc-chatbots');
    await page.getByText('Import chatbots').click();
    const data = await page.evaluateHandle(`(() => {
      const data = new DataTransfer();
      data.items.add(new File([${JSON.stringify(await readFile(path, 'utf8'))}], 'chatbot.json'));
      return data;
    })()`);
    await page.locator('.dropzone').dispatchEvent('drop', { dataTransfer: data });
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    const imported = await copied('Traveller imported.');
    expect((await bot(imported)).name).to.equal('Traveller');
    await page.goto(`${host.url}/admin/svc/bots`);
    const card = page.locator(`#bot-${String(imported)}`);
    await card.getByRole('button', { name: 'Actions for Traveller' }).click();
    await card.getByRole('button', { name: 'Delete Traveller' }).click();
    expect(await confirmQuestion(page)).to.contain('Delete “Traveller”?');
    await page.getByText('Traveller deleted.').waitFor();
    await becomes(() => page.locator(`#bot-${String(copy)}`).count(), 1);
    expect(await card.count()).to.equal(0);
    problems.length = 0;
  });

  it('show the next step after the setup', async () => {
    const { host, page, open } = site;
    await open();
    await page.goto(`${host.url}/admin/`);
    await page.locator('#next-steps').getByText('Create your first chatbot.').waitFor();
    await becomes(() => page.locator('#next-steps .done', { hasText: 'Create your first chatbot.' }).count(), 1);
    await page.getByRole('button', { name: 'Hide these steps' }).click();
    await page.getByText('First steps hidden.').waitFor();
    await page.reload();
    await page.getByText(/^First steps: \d of \d+ done\.$/).waitFor();
    expect(await page.locator('#next-steps').count()).to.equal(0);
    await page.getByRole('button', { name: 'Show first steps' }).click();
    await page.locator('#next-steps').getByText('Create your first chatbot.').waitFor();
  });
});
