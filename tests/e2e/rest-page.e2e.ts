import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { startSite, type RunningSite } from '../helpers/running-site.ts';
import { expectLooks, openBrowser, openDetails, openPage, signIn } from './browser.ts';

const run = promisify(execFile);
const administrator = { ADMIN_USER: 'ada', ADMIN_PASSWORD: 'correct horse battery', ADMIN_EMAIL: 'ada@example.com' };

describe('the REST page in a browser', () => {
  let browser: Browser;
  let site: RunningSite;

  before(async () => {
    browser = await openBrowser();
    site = await startSite(administrator);
  });
  after(async () => {
    await browser.close();
    await site.stop();
  });

  const account = () => ({ url: site.url, login: administrator.ADMIN_USER, password: administrator.ADMIN_PASSWORD });

  for (const query of ['', '?q=no-such-route', '?namespace=svc%2Fv1', '?namespace=wp%2Fv2&q=posts'])
    it(`is accessible and fits, wide and narrow, light and dark: ${query}`, async () => {
      const { page, problems } = await openPage(browser);
      await signIn(page, account());
      await expectLooks(page, {
        load: async () => {
          await page.goto(`${site.url}/admin/rest${query}`);
          await openDetails(page);
        },
      });
      expect(problems).to.deep.equal([]);
    });

  it('leads from the menu by a search to a command that calls the route', async () => {
    const { page, problems } = await openPage(browser);
    await signIn(page, account());
    await page.getByText('Developers', { exact: true }).click();
    await page.getByRole('link', { name: 'REST', exact: true }).click();
    await page.getByText('wp/v2', { exact: true }).click();
    await page.getByRole('link', { name: 'Reference of wp/v2' }).click();
    await page.getByRole('searchbox', { name: 'Search the reference' }).fill('application-passwords lists');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.waitForURL(/application-passwords/);
    const command = (await page.locator('pre[aria-label^="curl command"]').textContent()) ?? '';
    expect(command).to.include('/application-passwords');
    const { stdout } = await run('bash', [
      '-c',
      command.replace('USER_ID', 'me').replace('USER:APPLICATION PASSWORD', 'ada:wrong'),
    ]);
    expect(JSON.parse(stdout)).to.include({ code: 'incorrect_password' });
    const form = page.locator('form[data-rest-trial="GET"]');
    await form.getByLabel('user_id').fill('me');
    await form.getByRole('button', { name: 'Send request' }).click();
    await form.getByText('200', { exact: true }).waitFor();
    expect(await form.locator('pre').textContent()).to.equal('[]');
    await page.goto(`${site.url}/admin/rest?namespace=wp%2Fv2&q=POST+categories+creates`);
    const created = page.locator('#postCategories form');
    await page.locator('#postCategories > summary').click();
    await created.getByLabel('Body').fill('{"name":"Tea"}');
    await created.getByRole('button', { name: 'Send request' }).click();
    await created.getByText('201', { exact: true }).waitFor();
    expect(await created.locator('pre').textContent()).to.contain('"name": "Tea"');
    expect(problems).to.deep.equal([]);
  });
});
