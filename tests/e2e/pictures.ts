import { fileURLToPath } from 'node:url';
import { startSite } from '../helpers/running-site.ts';
import { openBrowser, openPage } from './browser.ts';

/** Takes the README's pictures anew: node --import tsx tests/e2e/pictures.ts */
const folder = fileURLToPath(new URL('../../host/admin/pictures/', import.meta.url));
const administrator = { ADMIN_USER: 'ada', ADMIN_PASSWORD: 'correct horse battery', ADMIN_EMAIL: 'ada@example.com' };
const site = await startSite({ ...administrator, SITE_URL: '' });
const browser = await openBrowser();
try {
  await site.cli('svc', 'sandbox', 'on');
  await site.cli('svc', 'key', 'generate');
  const { page } = await openPage(browser, { viewport: { width: 1200, height: 860 } });
  await page.goto(`${site.url}/admin/login`);
  await page.getByLabel('User name').fill(administrator.ADMIN_USER);
  await page.getByLabel('Password').fill(administrator.ADMIN_PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL('**/admin/');
  await page.goto(`${site.url}/admin/svc`);
  await page.screenshot({ path: `${folder}ai-service.png` });
} finally {
  await browser.close();
  await site.stop();
}
