import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Browser, Locator, Page } from 'playwright-core';
import { createSystemClock } from '../../host/clock.ts';
import { createTestHost, type TestHost } from '#testing';
import { accessibilityFaults, openBrowser, openPage, overflow } from './browser.ts';

const password = 'correct horse battery';

describe('chatbots in the admin', () => {
  let host: TestHost;
  let browser: Browser;
  let page: Page;
  let problems: string[];

  const signIn = async (options = {}): Promise<{ page: Page; problems: string[] }> => {
    const opened = await openPage(browser, options);
    await opened.page.goto(`${host.url}/admin/login`);
    await opened.page.getByLabel('User name or e-mail').fill('ada');
    await opened.page.getByLabel('Password').fill(password);
    await opened.page.getByRole('button', { name: 'Sign in' }).click();
    await opened.page.waitForURL('**/admin/');
    return opened;
  };
  const bot = async (id: number): Promise<Record<string, never> & { readonly name: string }> => JSON.parse((await host.cli('svc', 'bot', 'get', String(id), '--json')).out) as never;
  const preview = (): Locator => page.locator('svc-chatbot');
  const save = async (): Promise<void> => {
    await page.locator('.bot-save').getByRole('button', { name: /^Save/ }).click();
  };
  const section = (name: string): Promise<void> => page.getByRole('navigation', { name: 'Settings of the chatbot' }).getByRole('link', { name, exact: true }).click();
  const say = async (text: string): Promise<void> => {
    await preview().getByRole('textbox').first().fill(text);
    await preview().getByRole('button', { name: 'Send' }).click();
  };

  before(async () => {
    host = await createTestHost({ plugins: ['svc', 'sandbox'], clock: createSystemClock() });
    await host.users.create({ login: 'ada', displayName: 'Ada Lovelace', email: 'ada@example.com', password, role: 'administrator' });
    browser = await openBrowser();
    ({ page, problems } = await signIn());
  });
  after(async () => {
    await browser.close();
    await host.stop();
  });

  it('make the first one by a click, which answers in the preview', async () => {
    await page.goto(`${host.url}/admin/svc/bots`);
    await page.getByRole('button', { name: 'Make your first chatbot with the sandbox' }).click();
    await page.getByText('Assistant is ready. Ask it something in the preview.').waitFor();
    await preview().getByText('Hello! How can I help you?').waitFor();
    await say('What do you know?');
    await preview().getByText('What do you know?', { exact: true }).waitFor();
    await preview().getByRole('button', { name: 'Good answer' }).waitFor();
    await page.goto(`${host.url}/admin/svc/bots`);
    await page.locator('.bot-facts').getByText('on this site').waitFor();
    expect(await page.locator('.bot-facts').textContent()).to.match(/Conversations\s*1/);
    expect(problems).to.deep.equal([]);
  });

  it('show looks and texts in the preview before they are saved', async () => {
    await page.goto(`${host.url}/admin/svc/bots/edit?id=1`);
    await preview().getByRole('heading', { name: 'Chat with us' }).waitFor();
    await section('Texts');
    await page.getByLabel('Title', { exact: true }).fill('Ask our elephant');
    await preview().getByRole('heading', { name: 'Ask our elephant' }).waitFor();
    await section('Look');
    await page.getByLabel('Theme', { exact: true }).selectOption('dark');
    await page.locator('svc-chatbot [data-scheme="dark"]').waitFor();
    await page.getByLabel('Main colour', { exact: true }).fill('#aa0044');
    expect(await page.getByLabel('Main colour: picker').inputValue()).to.equal('#aa0044');
    await page.waitForFunction(`getComputedStyle(document.querySelector('svc-chatbot').shadowRoot.querySelector('header')).backgroundColor === 'rgb(170, 0, 68)'`);
    await page.getByRole('button', { name: 'Reset: Main colour' }).click();
    expect(await page.getByLabel('Main colour', { exact: true }).inputValue()).to.equal('');
    await section('Basics');
    await page.getByLabel('Greeting').fill('Welcome to the zoo');
    await preview().getByText('Welcome to the zoo').waitFor();
    await page.getByText('Not saved yet').waitFor();
    expect(await bot(1)).to.have.nested.property('texts.title', 'Chat with us');
    expect(problems).to.deep.equal([]);
  });

  it('ask before changes are lost', async () => {
    const asked = new Promise<string>((resolve) => {
      page.once('dialog', (dialog) => {
        resolve(dialog.type());
        void dialog.dismiss();
      });
    });
    await page.getByRole('link', { name: 'All chatbots' }).click({ noWaitAfter: true });
    expect(await asked).to.equal('beforeunload');
    expect(await page.getByLabel('Greeting').inputValue()).to.equal('Welcome to the zoo');
  });

  it('save every section, and stay at it', async () => {
    await section('Knowledge');
    await page.getByLabel('Most texts per question').fill('7');
    await section('Limits');
    await page.getByLabel('Guests: how many').fill('25');
    await page.getByLabel('Guests: in which time').selectOption('week');
    await page.getByLabel('Role editor: how many').fill('100');
    await section('Privacy and safety');
    await page.getByLabel('Days until they are deleted').fill('30');
    await page.getByLabel('Banned words').fill('spam\nfree money');
    await section('Embedding');
    await page.getByLabel('Allowed domains').fill('shop.example.com\n*.example.org');
    await save();
    await page.getByText('Assistant is saved.').waitFor();
    expect(page.url()).to.match(/edit\?id=1#embed$/);
    await page.getByLabel('Allowed domains').waitFor();
    expect(await page.getByText('Not saved yet').isVisible()).to.equal(false);
    expect(await page.evaluate('window.scrollY')).to.equal(0);
    const saved = await bot(1);
    expect(saved).to.deep.include({ greeting: 'Welcome to the zoo' });
    expect(saved).to.have.nested.property('texts.title', 'Ask our elephant');
    expect(saved).to.have.nested.property('look.theme', 'dark');
    expect(saved).to.have.nested.property('knowledge.top_k', 7);
    expect(saved).to.have.nested.property('limits.guest').that.deep.equals({ amount: 25, unit: 'messages', per: 'week' });
    expect(saved).to.have.nested.property('limits.roles').that.deep.equals({ editor: { amount: 100, unit: 'messages', per: 'day' } });
    expect(saved).to.have.nested.property('privacy.retention_days', 30);
    expect(saved).to.have.nested.property('embed.allowed_domains').that.deep.equals(['shop.example.com', '*.example.org']);
    expect(problems).to.deep.equal([]);
  });

  it('copy what puts one on a page', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await section('Embedding');
    await page.getByRole('button', { name: 'Copy script tag' }).click();
    await page.getByRole('button', { name: 'Copy script tag' }).getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(`<script src="${host.url}/wp-json/svc-widget/v1/widget.js" data-bot="1" async></script>`);
    await page.getByRole('button', { name: 'Copy shortcode' }).click();
    await page.waitForFunction(`navigator.clipboard.readText().then((text) => text === '[svc_chatbot id=1]')`);
  });

  it('mark what is wrong, in the section where it is, and keep the rest', async () => {
    await section('Basics');
    await page.getByLabel('Temperature').fill('9');
    await section('Embedding');
    await page.getByLabel('Allowed domains').fill('shop.example.com\nno domain at all');
    await section('Texts');
    await page.getByLabel('Title', { exact: true }).fill('Typed before');
    await save();
    await page.getByText('Nothing was saved yet.').waitFor();
    expect(await page.locator('#bot-temperature-error').textContent()).to.equal('Temperature must be from 0 to 2.');
    await section('Texts');
    expect(await page.getByLabel('Title', { exact: true }).inputValue()).to.equal('Typed before');
    await page.locator('#faults').getByRole('link', { name: /Temperature/ }).click();
    expect(await page.evaluate('document.activeElement.id')).to.equal('bot-temperature');
    expect(await accessibilityFaultsOfPage(page)).to.deep.equal([]);
    await page.getByLabel('Temperature').fill('0.3');
    await save();
    await page.locator('#bot-embed-allowed_domains-error').waitFor();
    expect(await page.locator('#bot-embed-allowed_domains-error').textContent()).to.contain('Line 2 must be a domain');
    await page.getByLabel('Allowed domains').fill('');
    await save();
    await page.getByText('Assistant is saved.').waitFor();
    expect(await bot(1)).to.have.nested.property('texts.title', 'Typed before');
    problems.length = 0;
  });

  it('make a form and a rule that shows it, and see both work in the preview', async () => {
    await section('Forms');
    await page.getByRole('link', { name: 'Add a form' }).click();
    await page.getByLabel('Name', { exact: true }).first().fill('Call me back');
    await page.getByLabel('Kind of the new field').selectOption('select');
    await page.getByRole('button', { name: 'Add a field' }).click();
    const third = page.locator('[data-row="element"]').nth(2);
    await third.getByLabel('Options').waitFor();
    expect(await page.getByLabel('Name', { exact: true }).first().inputValue()).to.equal('Call me back');
    expect(await page.locator('[data-row="element"]').first().getByLabel('Options').isVisible()).to.equal(false);
    await third.getByLabel('Label').fill('When?');
    await third.getByLabel('Options').fill('am | In the morning\npm | In the afternoon');
    await third.getByRole('button', { name: /^Move up/ }).click();
    await page.locator('[data-row="element"]').nth(1).getByLabel('Options').waitFor();
    await save();
    await page.getByText('Call me back is saved.').waitFor();
    await page.getByRole('link', { name: 'Add a rule that shows it' }).click();
    await page.locator('#rule-name').fill('Wants a call');
    expect(await page.getByLabel('Form', { exact: true }).inputValue()).to.equal('call-me-back');
    await page.getByLabel('Condition 1: value').fill('call me\nphone');
    await page.getByRole('button', { name: 'Add a condition' }).click();
    await page.getByLabel('Condition 2: what').selectOption('field');
    await page.getByLabel('Condition 2: name of the variable, or id of the field').waitFor();
    await page.getByRole('button', { name: 'Remove condition 2' }).click();
    await page.getByLabel('Condition 2: what').waitFor({ state: 'detached' });
    await save();
    await page.getByText('Wants a call is saved.').waitFor();
    await page.getByText('The message contains “call me” or “phone”').waitFor();
    await say('Please CALL ME tomorrow');
    const form = preview().getByRole('form', { name: 'Call me back' });
    await form.getByLabel('Name').fill('Grace Hopper');
    await form.getByLabel('When?').selectOption('pm');
    await form.getByLabel('E-mail').fill('grace@example.com');
    await form.getByRole('button', { name: 'Submit' }).click();
    await preview().getByText('Thank you. We have received your details.').waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('order, switch and delete rules, and refuse one that cannot be', async () => {
    await page.goto(`${host.url}/admin/svc/bots/rule?bot=1`);
    await page.locator('#rule-name').fill('Closed');
    await save();
    await page.locator('#action-text-error').waitFor();
    expect(await page.locator('#action-text-error').textContent()).to.equal('Text must not be empty.');
    problems.length = 0;
    await page.getByLabel('Text', { exact: true }).fill('We are closed today.');
    await page.getByRole('button', { name: 'Remove condition 1' }).click();
    await page.getByLabel('Condition 1: what').waitFor({ state: 'detached' });
    expect(await page.getByLabel('Text', { exact: true }).inputValue()).to.equal('We are closed today.');
    await save();
    await page.getByText('Closed is saved.').waitFor();
    await page.getByRole('button', { name: 'Move up: Closed' }).click();
    await page.getByText('The order is changed.').waitFor();
    expect(await page.locator('.bot-rule h3').allTextContents()).to.deep.equal(['Closed', 'Wants a call']);
    await say('Anybody there?');
    await preview().getByText('We are closed today.').waitFor();
    await page.getByRole('button', { name: 'Switch off: Closed' }).click();
    await page.getByText('Closed is off.').waitFor();
    page.once('dialog', (dialog) => void dialog.accept());
    await page.getByRole('button', { name: 'Delete: Closed' }).click();
    await page.getByText('Closed is deleted.').waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('duplicate, export, import and delete', async () => {
    await page.goto(`${host.url}/admin/svc/bots`);
    await page.getByRole('button', { name: 'Duplicate Assistant' }).click();
    await page.getByText('Assistant (copy) is there.').waitFor();
    await page.goto(`${host.url}/admin/svc/bots`);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export Assistant', exact: true }).click();
    const file = await download;
    expect(file.suggestedFilename()).to.equal('chatbot-1.json');
    const path = await file.path();
    expect(JSON.parse(await readFile(path, 'utf8'))).to.have.property('format', 'svc-chatbots');
    await page.getByText('Import chatbots').click();
    await page.getByLabel('File of an export').setInputFiles(path);
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByText('Assistant is imported.').waitFor();
    expect((await bot(3)).name).to.equal('Assistant');
    await page.goto(`${host.url}/admin/svc/bots`);
    await page.locator('#bot-3').getByText('Delete', { exact: true }).click();
    await page.locator('#bot-3').getByLabel(/Yes, delete Assistant/).check();
    await page.locator('#bot-3').getByRole('button', { name: 'Delete for good' }).click();
    await page.getByText('Assistant is deleted.').waitFor();
    expect(await page.locator('.bot-card').count()).to.equal(2);
    problems.length = 0;
  });

  it('work without JavaScript', async () => {
    const { page: plain } = await signIn({ javaScriptEnabled: false });
    await plain.goto(`${host.url}/admin/svc/bots/new`);
    await plain.getByLabel('Customer support').check();
    await plain.getByLabel('Name', { exact: true }).fill('Plain');
    await plain.getByRole('button', { name: 'Create chatbot' }).click();
    await plain.getByText('Plain is there.').waitFor();
    const at = plain.url();
    await plain.getByLabel('Title', { exact: true }).fill('By hand');
    await plain.getByLabel('Main colour', { exact: true }).fill('no colour');
    await plain.getByRole('button', { name: 'Save', exact: true }).last().click();
    await plain.getByText('Nothing was saved yet.').waitFor();
    expect(await plain.locator('#bot-look-primary_color-error').textContent()).to.contain('Main colour must be a colour');
    await plain.getByLabel('Main colour', { exact: true }).fill('#00aa44');
    await plain.getByRole('button', { name: 'Save', exact: true }).last().click();
    await plain.getByText('Plain is saved.').waitFor();
    expect(plain.url().split('#')[0]).to.equal(at.split('#')[0]);
    await plain.getByRole('link', { name: /^Rules/ }).click();
    await plain.getByRole('link', { name: 'Add a rule', exact: true }).click();
    await plain.getByLabel('Condition 1: value').fill('price');
    await plain.getByRole('button', { name: 'Add a condition' }).click();
    await plain.getByLabel('Condition 2: what').selectOption('message_count');
    await plain.getByLabel('Condition 2: comparison').selectOption('greater_than');
    await plain.getByLabel('Condition 2: value').fill('3');
    expect(await plain.getByLabel('Condition 1: value').inputValue()).to.equal('price');
    await plain.getByLabel('Text', { exact: true }).fill('Ask our sales team.');
    await plain.getByRole('button', { name: 'Save rule' }).click();
    await plain.getByText('Number of messages is greater than “3”').waitFor();
    await plain.getByRole('link', { name: /^Forms/ }).click();
    await plain.getByRole('link', { name: 'Edit Contact' }).click();
    await plain.getByRole('button', { name: 'Move down: Name' }).click();
    await plain.getByRole('button', { name: 'Remove: What is it about?' }).click();
    await plain.getByRole('button', { name: 'Save form' }).click();
    await plain.getByText('2 fields: E-mail, Name').waitFor();
  });

  it('tell what there is to do after the setup', async () => {
    await page.goto(`${host.url}/admin/`);
    await page.locator('#next-steps').getByText('Make your first chatbot.').waitFor();
    expect(await page.locator('#next-steps .done', { hasText: 'Make your first chatbot.' }).count()).to.equal(1);
  });

  for (const path of ['', '/new', '/edit?id=1#basics', '/edit?id=1#knowledge', '/edit?id=1#look', '/edit?id=1#texts', '/edit?id=1#limits', '/edit?id=1#safety', '/edit?id=1#embed', '/rules?bot=4', '/rule?bot=4&rule=show-contact', '/forms?bot=4', '/form?bot=4&form=contact', '/rules?bot=2', '/edit?id=99']) {
    it(`are accessible and fit narrow windows, light and dark: svc/bots${path}`, async () => {
      for (const colorScheme of ['light', 'dark'] as const) {
        for (const width of [1280, 390]) {
          await page.setViewportSize({ width, height: 900 });
          await page.emulateMedia({ colorScheme });
          // A change of the fragment alone would not load the page anew.
          await page.goto('about:blank');
          await page.goto(`${host.url}/admin/svc/bots${path}`);
          await page.evaluate('for (const details of document.querySelectorAll("main details")) details.open = true');
          expect(await accessibilityFaultsOfPage(page), `${String(width)} ${colorScheme}`).to.deep.equal([]);
          expect(await overflow(page), `${String(width)} ${colorScheme}`).to.equal(0);
        }
      }
    });
  }
});

/** Of the page itself; what is inside the widget is looked at where the widget is tested. */
async function accessibilityFaultsOfPage(page: Page): Promise<string[]> {
  return (await accessibilityFaults(page)).filter((fault) => !fault.includes('svc-chatbot,'));
}
