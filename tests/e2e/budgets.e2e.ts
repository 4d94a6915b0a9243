import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { createTestHost, type TestHost } from '#testing';
import { becomes } from '../helpers/until.ts';
import { ada, confirmQuestion, expectLooks, openAdmin, openBrowser } from './browser.ts';

describe('budgets and failover in a browser', () => {
  let folder = '';
  let host: TestHost;
  let browser: Browser;
  let page: Page;
  let problems: string[];
  let key = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-budgets-'));
    host = await createTestHost({ plugins: ['svc', 'sandbox'], database: folder });
    await host.users.create(ada);
    await host.cli('svc', 'sandbox', 'on');
    ({ key } = JSON.parse((await host.cli('svc', 'key', 'generate', '--json')).out) as { key: string });
    browser = await openBrowser();
    ({ page, problems } = await openAdmin(browser, host));
  });
  after(async () => {
    await browser.close();
    await host.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const generate = (provider = 'openai') =>
    host.fetch('/wp-json/svc/v1/generate', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ provider, model: 'gpt-5.6-terra', messages: [{ role: 'user', content: 'echo: Hello' }] }),
    });

  async function check(path: string): Promise<void> {
    await expectLooks(page, { load: () => page.goto(`${host.url}/admin/${path}`) });
  }

  it('begin with a form, which says what is missing', async () => {
    await check('svc/budgets');
    await page.getByLabel('Name', { exact: true }).fill('Three calls');
    await page.getByLabel('Amount').fill('2.5');
    await page.getByLabel('Unit', { exact: true }).selectOption('calls');
    await page.getByRole('button', { name: 'Add budget' }).click();
    await page.getByText('Enter a whole number of calls.').first().waitFor();
    await page.getByLabel('Amount').fill('3');
    await page.getByLabel('Period').selectOption('day');
    await page.getByLabel('Calls', { exact: true }).selectOption('rest');
    await page.getByRole('button', { name: 'Add budget' }).click();
    await page.getByRole('heading', { name: 'Three calls' }).waitFor();
    expect(await page.locator('#budget-three-calls').innerText())
      .to.include('calls of the REST API')
      .and.include('Within budget');
  });

  it('let as many calls through as they say, refuse the next, and show it', async () => {
    for (let count = 0; count < 3; count += 1) expect((await generate()).status).to.equal(200);
    const refused = await generate();
    expect(refused.status).to.equal(429);
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 24 * 3600);
    expect(await refused.json()).to.deep.include({ code: 'rest_svc_budget_exhausted' });
    await page.goto(`${host.url}/admin/svc/budgets`);
    const card = page.locator('#budget-three-calls');
    expect(await card.innerText())
      .to.include('Used up')
      .and.include('3 calls (100%)')
      .and.include('1 call in this period');
    await page.getByRole('link', { name: 'BUDGET USED UP' }).waitFor();
    await check('svc/budgets?edit=three-calls');
  });

  it('are set for the users of a role together', async () => {
    await page.goto(`${host.url}/admin/svc/budgets?new=1`);
    await page.getByLabel('Name', { exact: true }).fill('Editors');
    await page.getByLabel('Amount').fill('5');
    await page.getByLabel('Calls', { exact: true }).selectOption('role');
    await page.getByRole('button', { name: 'Add budget' }).click();
    await page.getByText('Choose the role to limit.').first().waitFor();
    await page.getByLabel('Role', { exact: true }).selectOption({ label: 'Editor' });
    await page.getByRole('button', { name: 'Add budget' }).click();
    await page.getByText('for all users with the role editor together').waitFor();
    expect((await host.cli('svc', 'budget', 'delete', 'editors')).code).to.equal(0);
  });

  it('are set for a chatbot or a user, with only the field that the choice needs', async () => {
    expect((await host.cli('svc', 'bot', 'create', '--json', '{"name": "Shop helper"}')).code).to.equal(0);
    await page.goto(`${host.url}/admin/svc/budgets?new=1`);
    await page.getByLabel('Name', { exact: true }).fill('Shop');
    await page.getByLabel('Amount').fill('5');
    const scope = page.getByRole('group', { name: 'Scope' });
    const shown = () => scope.locator('.field:visible .field-label').allTextContents();
    await becomes(shown, ['Calls']);
    await page.getByLabel('Calls', { exact: true }).selectOption('user');
    await becomes(shown, ['Calls', 'User']);
    await page.getByLabel('User', { exact: true }).fill('nobody');
    await page.getByRole('button', { name: 'Add budget' }).click();
    await page.getByText('No user has the user name, email address or ID “nobody”.').first().waitFor();
    await page.getByLabel('User', { exact: true }).fill(ada.email);
    await page.getByRole('button', { name: 'Add budget' }).click();
    await page.getByText('for user “ada”').waitFor();
    await page.getByRole('link', { name: 'Edit Shop' }).click();
    await page.getByLabel('Calls', { exact: true }).selectOption('bot');
    await becomes(shown, ['Calls', 'Chatbot']);
    await page.getByLabel('Chatbot', { exact: true }).selectOption({ label: 'Shop helper' });
    await page.getByRole('button', { name: 'Save budget' }).click();
    await page.getByText('for chatbot “Shop helper”').waitFor();
    await check('svc/budgets?edit=shop');
    expect((await host.cli('svc', 'budget', 'delete', 'shop')).code).to.equal(0);
  });

  it('are changed, switched off and deleted', async () => {
    await page.goto(`${host.url}/admin/svc/budgets`);
    await page.getByRole('link', { name: 'Edit Three calls' }).click();
    await page.getByLabel('Amount').fill('5');
    await page.getByLabel('At the limit').selectOption('fallback');
    await page.getByRole('button', { name: 'Save budget' }).click();
    await page.getByText('Choose a fallback provider.').waitFor();
    await page.getByLabel('Fallback provider').selectOption('google');
    await page.getByLabel('Fallback model').fill('gemini-3.5-flash');
    await page.getByRole('button', { name: 'Save budget' }).click();
    await page.getByRole('heading', { name: 'Budgets' }).waitFor();
    for (let count = 0; count < 2; count += 1)
      expect(await (await generate()).json()).to.include({ provider: 'OpenAI' });
    expect(await (await generate()).json()).to.include({ provider: 'Google', content: 'Hello' });
    await page.goto(`${host.url}/admin/svc/budgets`);
    await page.getByRole('button', { name: 'Turn off Three calls' }).click();
    await page.getByText('It no longer limits calls').waitFor();
    expect(await (await generate()).json()).to.include({ provider: 'OpenAI' });
    await page.goto(`${host.url}/admin/svc/budgets`);
    await page.getByRole('button', { name: 'Delete Three calls' }).click();
    await confirmQuestion(page);
    await page.getByRole('button', { name: 'Add budget' }).waitFor();
  });

  it('hand a call to the next provider where one is not set up', async () => {
    await check('svc/failover');
    const texts = page.getByRole('region', { name: 'Text', exact: true });
    await texts.locator('summary', { hasText: 'Add a fallback' }).click();
    await texts.getByLabel('Provider').selectOption('google');
    await texts.getByLabel('Model').fill(' ');
    await texts.getByRole('button', { name: 'Add', exact: true }).click();
    await texts.getByText('Enter the name of a model').waitFor();
    await texts.getByLabel('Model').fill('gemini-3.5-flash');
    await texts.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('Google gemini-3.5-flash saved.').waitFor();
    await page.locator('#failover-enabled').check();
    await page.locator('#failover-rest').check();
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('If a provider fails, the next one is tried').waitFor();
    host.hooks.addFilter(
      'svc_provider_settings',
      (settings: Readonly<Record<string, unknown>>, id: string) =>
        id === 'openai' ? { ...settings, api_key: '' } : settings,
      99,
    );
    expect(await (await generate()).json()).to.include({ provider: 'Google', content: 'Hello' });
    expect((await host.cli('svc', 'failover', 'off')).code).to.equal(0);
    expect((await generate()).status).to.equal(400);
  });

  it('orders fallbacks without scripts, with the keyboard, and undoes a removal', async () => {
    const { page: plain } = await openAdmin(browser, host, { javaScriptEnabled: false });
    const list = JSON.stringify({
      text: ['one', 'two', 'three'].map((model) => ({ provider: 'google', model })),
      embeddings: [{ provider: 'openai', model: 'text-embedding-3-small', dimensions: 1536 }],
    });
    expect((await host.cli('svc', 'failover', 'set', list)).code).to.equal(0);
    const models = () => plain.locator('#failover-text .failover-entry code').allTextContents();
    await plain.goto(`${host.url}/admin/svc/failover`);
    await plain.getByRole('button', { name: 'Move up: Google three' }).press('Enter');
    await plain.getByText('Order changed.').waitFor();
    await becomes(models, ['one', 'three', 'two']);
    // The keyboard goes on at the card that was moved.
    await plain.keyboard.press('Tab');
    await plain.keyboard.press('Enter');
    await plain.waitForURL('**#failover-text-1');
    await becomes(models, ['three', 'one', 'two']);
    await plain.getByRole('button', { name: 'Move down: Google one' }).click();
    await plain.waitForURL('**#failover-text-3');
    await becomes(models, ['three', 'two', 'one']);
    await plain.getByRole('button', { name: 'Remove: Google two' }).click();
    await plain.getByText('Google two removed.').waitFor();
    await becomes(models, ['three', 'one']);
    await plain.getByRole('button', { name: 'Undo' }).click();
    await plain.getByText('Google two saved.').waitFor();
    await becomes(models, ['three', 'two', 'one']);
    await plain.locator('summary[aria-label="Edit: Google two"]').click();
    await plain.locator('#failover-text-2-model').fill('one');
    await plain.locator('#failover-text-2').getByRole('button', { name: 'Save' }).click();
    await plain.getByText('already in the list').first().waitFor();
    await plain.locator('#failover-text-2-model').fill('four');
    await plain.locator('#failover-text-2').getByRole('button', { name: 'Save' }).click();
    await plain.getByText('Google four saved.').waitFor();
    await becomes(models, ['three', 'four', 'one']);
    // Another page has changed the list in the meantime.
    expect((await host.cli('svc', 'failover', 'set', '{"text": []}')).code).to.equal(0);
    await plain.getByRole('button', { name: 'Remove: Google four' }).click();
    await plain.getByText('This list has changed in the meantime').waitFor();
    expect((await host.cli('svc', 'failover', 'set', list)).code).to.equal(0);
    await check('svc/failover');
    await plain.context().close();
  });

  it('ran without an error in the browser', () => {
    // The three refused forms are told as such.
    expect(problems.filter((problem) => !problem.includes('400'))).to.deep.equal([]);
  });
});
