import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { createTestHost, type TestHost } from '#testing';
import { fillUsage } from '../helpers/usage-calls.ts';
import { becomes } from '../helpers/until.ts';
import {
  accessibilityViolations,
  ada,
  confirmQuestion,
  expectLooks,
  openAdmin,
  openBrowser,
  overflow,
} from './browser.ts';

describe('usage, prices and models in a browser', () => {
  let folder = '';
  let host: TestHost;
  let browser: Browser;
  let page: Page;
  let problems: string[];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-usage-'));
    host = await createTestHost({ plugins: ['svc', 'sandbox'], database: folder });
    await host.users.create(ada);
    browser = await openBrowser();
    ({ page, problems } = await openAdmin(browser, host));
  });
  after(async () => {
    await browser.close();
    await host.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('lead from an empty ledger to the one thing that is missing', async () => {
    await page.goto(`${host.url}/admin/svc/usage`);
    await page.getByRole('link', { name: 'Set up a provider' }).click();
    await page.waitForURL('**/admin/svc/setup');
    await host.cli('svc', 'sandbox', 'on');
    await page.goto(`${host.url}/admin/svc/usage`);
    await page.getByRole('link', { name: 'Create an API key' }).waitFor();
    await host.cli('svc', 'key', 'generate');
    await page.reload();
    await page.getByRole('link', { name: 'View the API reference' }).waitFor();
    await host.cli('svc', 'sandbox', 'off');
    await fillUsage(host.database, host.clock.now());
  });

  for (const path of [
    'svc/usage',
    'svc/usage?period=90&metric=cost',
    'svc/usage?period=custom&from=2025-12-01&to=2025-12-31&outcome=failed&metric=tokens',
    'svc/usage?provider=nobody',
    'svc/prices',
    'svc?provider=openai',
  ]) {
    it(`are accessible and fit narrow windows, light and dark: ${path}`, async () => {
      await expectLooks(page, { load: () => page.goto(`${host.url}/admin/${path}`) });
      expect(problems).to.deep.equal([]);
    });
  }

  it('show all tabs on a phone, the current one included', async () => {
    await page.setViewportSize({ width: 390, height: 900 });
    for (const query of ['', '?period=90&metric=cost', '?period=custom&from=2025-12-01&to=2025-12-31&metric=tokens']) {
      await page.goto(`${host.url}/admin/svc/usage${query}`);
      expect(await overflow(page)).to.equal(0);
      const hidden = await page.evaluate<string[]>(`[...document.querySelectorAll('.tabs a')]
        .filter((tab) => {
          const { left, right, width } = tab.getBoundingClientRect();
          const box = tab.closest('.tabs').getBoundingClientRect();
          return width === 0 || left < box.left - 1 || right > box.right + 1 || right > innerWidth;
        })
        .map((tab) => tab.textContent)`);
      expect(hidden, query).to.deep.equal([]);
      expect(await page.locator('.tabs [aria-current]').count(), query).to.be.greaterThan(0);
    }
  });

  it('filter, turn pages and export what is shown, again and again', async () => {
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(`${host.url}/admin/svc/usage`);
    await page.getByRole('region', { name: 'Table of Providers' }).getByRole('link', { name: 'Google' }).click();
    await page.getByText('Clear filters').waitFor();
    const first = await page.locator('#calls tbody tr').first().textContent();
    expect(first).to.contain('The provider limited the rate').and.contain('rest_svc_provider_rate_limited');
    await page.getByRole('link', { name: 'Older' }).click();
    await page.getByRole('link', { name: 'Newer' }).click();
    await page.getByRole('link', { name: 'Older' }).waitFor();
    for (let times = 0; times < 2; times += 1) {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Export CSV' }).click(),
      ]);
      expect(download.suggestedFilename()).to.match(/^usage-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.csv$/);
      const lines = (await readFile(await download.path(), 'utf8')).trim().split('\r\n');
      expect(lines.length).to.be.greaterThan(10);
      expect(lines.slice(1).every((line) => line.includes(',"google",'))).to.equal(true);
    }
    await page.getByLabel('What to export').selectOption({ label: 'Totals by provider' });
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).to.match(/^usage-by-provider-/);
    const [head, ...totals] = (await readFile(await download.path(), 'utf8')).trim().split('\r\n');
    expect(head).to.contain('"provider","calls"').and.to.contain('"cost_usd"');
    expect(totals).to.have.length(1);
    expect(totals[0]).to.match(/^"google",\d+,/);
  });

  it('add a price in a form, override a built-in one, remove a price and undo it', async () => {
    await page.goto(`${host.url}/admin/svc/prices`);
    await page.getByRole('link', { name: 'Add price' }).click();
    await page.getByText('Other kinds of tokens').click();
    // Labels of several lines move no control of their row.
    const rows = await page
      .locator('.field-row-level')
      .evaluateAll((all) =>
        all.map((row) => [...row.querySelectorAll('.input')].map((one) => one.getBoundingClientRect())),
      );
    for (const boxes of rows) expect(new Set(boxes.map(({ top }) => top)).size).to.equal(Math.ceil(boxes.length / 3));
    expect(rows.flat().every(({ height }) => height === 40)).to.equal(true);
    await page.getByLabel('Provider', { exact: true }).selectOption('openai');
    await page.getByLabel('Model', { exact: true }).fill('acme-1');
    await page.getByRole('button', { name: 'Save price', exact: true }).click();
    await page.getByText('Set at least one price').first().waitFor();
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    problems.length = 0;
    await page.getByLabel('Input', { exact: true }).fill('1.5');
    await page.getByRole('button', { name: 'Save price', exact: true }).click();
    const own = page.getByRole('region', { name: 'Table of your prices' });
    await own.getByText('$1.5').waitFor();
    await own.getByRole('link', { name: 'Edit acme-1' }).click();
    await page.getByLabel('Output', { exact: true }).fill('6');
    await page.getByRole('button', { name: 'Save price', exact: true }).click();
    await own.getByText('$6').waitFor();
    await own.getByRole('button', { name: 'Remove acme-1' }).click();
    await page.getByText('You have no prices of your own.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await own.getByText('$1.5').waitFor();
    await page
      .getByRole('link', { name: /^Override gpt/ })
      .first()
      .click();
    await page.getByLabel('Input', { exact: true }).fill('0');
    await page.getByRole('button', { name: 'Save price', exact: true }).click();
    await own.getByRole('link', { name: /^Edit gpt/ }).waitFor();
    await becomes(() => own.getByRole('row').count(), 3);
    expect(problems).to.deep.equal([]);
  });

  it('show what is wrong with prices in their lines, keep what was typed, save, and go back to the defaults', async () => {
    await page.goto(`${host.url}/admin/svc/prices`);
    await page.locator('summary', { hasText: 'as JSON' }).click();
    const editor = page.getByLabel('Prices as JSON');
    await editor.fill('[\n  {"provider": "acme", "model": "acme-1", "input": -1}\n]');
    await page.getByRole('button', { name: 'Save prices' }).click();
    await page.getByText('"input" must be a number from 0 to 100000').waitFor();
    expect(await page.getByRole('alert').last().textContent()).to.contain('Line 2.');
    expect(await editor.inputValue()).to.contain('-1');
    expect(await editor.getAttribute('aria-invalid')).to.equal('true');
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    problems.length = 0;
    await editor.fill('[\n  {"provider": "acme", "model": "acme-1", "input": 1}\n]');
    await page.getByRole('button', { name: 'Save prices' }).click();
    await page.getByText('Saved 1 price').waitFor();
    await page.getByRole('link', { name: 'Edit acme-1' }).waitFor();
    await page.getByText('Reset to the built-in prices').click();
    await page.getByRole('button', { name: 'Reset to defaults' }).click();
    await confirmQuestion(page);
    await page.getByText('Your prices were removed.').waitFor();
    await page.getByText('You have no prices of your own.').waitFor();
  });

  it('replace the built-in prices by those of a file, name its errors, and restore them', async () => {
    await page.goto(`${host.url}/admin/svc/prices`);
    const upload = async (text: string): Promise<void> => {
      const summary = page.locator('summary', { hasText: 'from a file' });
      if ((await page.locator('details#import[open]').count()) === 0) await summary.click();
      const buffer = Buffer.from(text);
      await page.getByLabel('Price list').setInputFiles({ name: 'prices.json', mimeType: 'application/json', buffer });
      await page.getByRole('button', { name: 'Import', exact: true }).click();
    };
    const price = '{"provider": "openai", "model": "acme-2", "input": 7}';
    await upload(`{"date": "2026-11-01",\n"prices": [${price},\n{"provider": "openai"}]}`);
    await page.getByText('Line 3: "model" must be').waitFor();
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    problems.length = 0;
    await upload(`{"date": "2026-11-01", "prices": [${price}]}`);
    await page.getByText('Imported 1 price.').waitFor();
    await page.getByText('imported from a list of 1 Nov 2026').waitFor();
    await page.getByRole('link', { name: 'Override acme-2' }).waitFor();
    await page.locator('summary', { hasText: 'from a file' }).click();
    await page.getByRole('button', { name: 'Use the built-in prices' }).click();
    await confirmQuestion(page);
    await page.getByText('The built-in prices apply to new calls.').waitFor();
    await page.getByText('Check these defaults').waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('fetch models in the background and offer them, in the field they are for', async () => {
    await host.cli('svc', 'sandbox', 'on');
    await page.goto(`${host.url}/admin/svc?provider=openai`);
    const card = page.locator('#provider-openai');
    await card.getByRole('button', { name: 'Sync models' }).click();
    await card.getByText('available, loaded just now').waitFor();
    await becomes(async () => (await card.locator('datalist[data-kind=text] option').count()) > 2, true);
    await page.reload();
    await card.getByText(/available, loaded .*2026/).waitFor();
    expect(await card.locator('datalist[data-kind=embedding] option').first().getAttribute('value')).to.contain(
      'embedding',
    );
  });
});
