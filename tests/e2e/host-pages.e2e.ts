import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { createTestHost, type TestHost } from '#testing';
import { pluginFiles, writeZip } from '../loader/helpers/zips.ts';
import { becomes } from '../helpers/until.ts';
import {
  accessibilityViolations,
  ada,
  confirmQuestion,
  expectLooks,
  openAdmin,
  openBrowser,
  signIn,
} from './browser.ts';

describe('the pages of the host in a browser', () => {
  let folder = '';
  let host: TestHost;
  let browser: Browser;
  let page: Page;
  let problems: string[];
  let bob = 0;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-pages-'));
    host = await createTestHost({
      database: join(folder, 'data'),
      plugins: 'found',
      pluginDirs: [join(folder, 'plugins')],
    });
    await host.users.create(ada);
    bob = (
      await host.users.create({
        login: 'bob',
        email: 'bob@a-rather-long-domain-name.example.com',
        password: ada.password,
        role: 'editor',
      })
    ).id;
    host.hooks.addAction('shop_sync', () => {
      throw new Error('The shop answered 503, and nothing was fetched.');
    });
    await host.cron.schedule('hourly', 'shop_sync', { args: ['a', 7] });
    await host.cron.run('shop_sync');
    browser = await openBrowser();
    ({ page, problems } = await openAdmin(browser, host));
  });
  after(async () => {
    await browser.close();
    await host.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const paths = [
    '',
    'alerts',
    'plugins',
    'users',
    'users?s=nobody',
    'users/new',
    'users/edit?id=',
    'users/delete?id=',
    'profile',
    'profile/two-step',
    'authorize-application?app_name=A%20shop&success_url=https%3A%2F%2Fshop.example%2Fcallback',
    'authorize-application?success_url=javascript%3A%2F%2Fx',
    'settings',
    'tools',
    'tools/cron',
    'tools/hooks',
    'tools/hooks?s=nothing',
    'tools/traces',
    'tools/backup',
    'design',
  ];
  for (const path of paths) {
    it(`are accessible and fit narrow windows, light and dark: ${path}`, async () => {
      await expectLooks(page, { load: () => page.goto(`${host.url}/admin/${path}${path.endsWith('id=') ? bob : ''}`) });
      expect(problems).to.deep.equal([]);
    });
  }

  it('keep the marked entry of the menu and the marked tab in view, and close the menu of phones with Escape', async () => {
    const isInside = (marked: string, box: string): Promise<boolean> =>
      page.evaluate<boolean>(`(() => {
        const [at, frame] = ['${marked}', '${box}'].map((name) => document.querySelector(name).getBoundingClientRect());
        return at.top >= frame.top && at.bottom <= frame.bottom + 1 && at.right <= frame.right + 1 && at.bottom <= innerHeight + 2;
      })()`);
    await page.setViewportSize({ width: 1280, height: 480 });
    await page.goto(`${host.url}/admin/tools/security-log`);
    expect(await isInside('.menu [aria-current]', '.menu')).to.equal(true);
    await page.setViewportSize({ width: 390, height: 900 });
    await page.goto(`${host.url}/admin/tools/hooks?callbacks=unused`);
    expect(await isInside('.tabs [aria-current]', '.tabs')).to.equal(true);
    const toggle = page.getByRole('button', { name: 'Menu' });
    await toggle.click();
    await page.getByRole('link', { name: 'Home', exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await becomes(() => toggle.getAttribute('aria-expanded'), 'false');
    expect(await page.getByRole('link', { name: 'Home', exact: true }).isVisible()).to.equal(false);
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  const opened: Record<string, () => Promise<unknown>> = {
    'the search': async () => {
      await page.keyboard.press('Control+k');
      await page.locator('.search-dialog input').fill('users');
      await page.locator('.search-dialog').getByRole('option').first().waitFor();
    },
    'the menu of the account': () => page.locator('.account > summary').click(),
    'the menu of a row': () => page.locator('.row-menu-open:visible').first().click(),
    'the menu of phones': () => page.getByRole('button', { name: 'Menu', exact: true }).click(),
  };
  for (const [name, open] of Object.entries(opened)) {
    it(`are accessible on phones, light and dark, while one thing is open: ${name}`, async () => {
      await page.setViewportSize({ width: 390, height: 900 });
      await page.goto(`${host.url}/admin/users`);
      await open();
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await accessibilityViolations(page), colorScheme).to.deep.equal([]);
      }
      expect(problems).to.deep.equal([]);
    });
  }

  it('show where the time of a request goes', async () => {
    await page.goto(`${host.url}/admin/tools/traces`);
    await page.getByRole('button', { name: 'Trace this browser' }).click();
    await page.getByRole('button', { name: 'Stop tracing this browser' }).waitFor();
    await page.goto(`${host.url}/admin/plugins`);
    await page.goto(`${host.url}/admin/tools/traces`);
    const trace = await page.getByRole('link', { name: 'GET /admin/plugins' }).getAttribute('href');
    await page.getByRole('button', { name: 'Stop tracing this browser' }).click();
    await page.getByRole('button', { name: 'Trace this browser' }).waitFor();
    await expectLooks(page, { load: () => page.goto(`${host.url}/admin/tools/traces${trace ?? ''}`) });
    await page.getByRole('heading', { name: 'GET /admin/plugins' }).waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('count on the bell what needs attention', async () => {
    host.hooks.addFilter('admin_alerts', (alerts) => [...alerts, { kind: 'warning', text: 'The stock is low.' }]);
    await page.goto(`${host.url}/admin/alerts`);
    const listed = await page.locator('.home-alert').count();
    expect(listed).to.be.greaterThan(0);
    const bell = page.getByRole('link', { name: `Alerts (${String(listed)})` });
    await bell.waitFor();
    await page.goto(`${host.url}/admin/tools/cron`);
    await bell.click();
    await page.getByText('The stock is low.').waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('create an application password that can be copied, and ask before it is revoked', async () => {
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(`${host.url}/admin/profile`);
    await page.getByLabel('Program name').fill('backup script');
    await page.getByRole('button', { name: 'Create application password' }).click();
    await page.getByRole('heading', { name: 'Application password for backup script' }).waitFor();
    expect(await page.locator('.reveal code').textContent()).to.match(/^(\w{4} ){5}\w{4}$/);
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Revoke backup script' }).click();
    await page.getByRole('dialog').waitFor();
    expect(await accessibilityViolations(page), 'a question').to.deep.equal([]);
    expect(await confirmQuestion(page)).to.contain('Revoke this password?');
    await page.getByText('Application password revoked.').waitFor();
  });

  it('let an application ask for access, from the address that WordPress has', async () => {
    await page.setViewportSize({ width: 390, height: 900 });
    const asked = 'app_name=A%20shop&success_url=https%3A%2F%2Fshop.example%2Fcallback%3Fstep%3D2';
    await page.goto(`${host.url}/wp-admin/authorize-application.php?${asked}`);
    await page.getByText('An application that calls itself A shop asks').waitFor();
    const refuse = page.getByRole('link', { name: 'Do not allow' });
    expect(await refuse.getAttribute('href')).to.equal('https://shop.example/callback?step=2&success=false');
    await page.getByLabel('Name of the application').focus();
    await page.keyboard.press('Enter');
    const link = page.getByRole('link', { name: 'Return to A shop' });
    await link.waitFor();
    expect(await link.getAttribute('href')).to.match(
      /^https:\/\/shop\.example\/callback\?step=2&site_url=[^&]+&user_login=ada&password=\w{24}$/,
    );
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    await page.goto(`${host.url}/admin/profile`);
    await page.getByRole('button', { name: 'Revoke A shop' }).waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('install a plugin from a zip, ask for its health, and uninstall it after a question', async () => {
    const code = `export default { register() {}, health: () => [{ status: 'recommended', label: 'A newer paper is out', description: 'Order some.' }] };`;
    const zip = await writeZip({
      file: join(folder, 'sample.zip'),
      contents: pluginFiles({ description: 'Sells paper.' }, code),
    });
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(`${host.url}/admin/plugins`);
    if (!(await page.getByLabel('Plugin zip file').isVisible())) await page.getByText('Install a plugin').click();
    await page.getByLabel('Plugin zip file').setInputFiles(zip);
    await page.getByLabel('Activate after installation').check();
    await page.getByRole('button', { name: 'Install' }).click();
    await page.getByText('Sample 1.0.0 installed and activated.').waitFor();
    const card = page.locator('#plugin-sample');
    await card.getByRole('button', { name: 'Check health' }).click();
    await card.getByText('A newer paper is out').waitFor();
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    await card.getByRole('button', { name: 'Deactivate' }).click();
    await page.getByText('Sample deactivated.').waitFor();
    await card.getByRole('button', { name: 'Uninstall' }).click();
    expect(await confirmQuestion(page)).to.contain('This deletes all its data');
    await page.getByText('Sample uninstalled. Its data and folder were deleted.').waitFor();
    await becomes(() => card.count(), 0);
    expect(problems).to.deep.equal([]);
  });

  it('save settings with the keyboard alone, and show what is wrong at its field', async () => {
    await page.goto(`${host.url}/admin/settings`);
    const places = page.getByLabel('Time zone');
    await places.focus();
    await page.keyboard.type('Berlin');
    expect(await places.inputValue()).to.equal('Europe/Berlin');
    await page.getByLabel('Allowed origins').fill('ftp://shop.example');
    await page.getByLabel('Tagline').press('Enter');
    await page.getByText('Nothing was saved.').waitFor();
    expect(await page.getByLabel('Allowed origins').getAttribute('aria-invalid')).to.equal('true');
    expect(await places.inputValue()).to.equal('Europe/Berlin');
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    await page.getByLabel('Allowed origins').fill('https://shop.example');
    await page.getByLabel('Tagline').press('Enter');
    await page.getByText('Settings saved.').waitFor();
    expect(await host.options.get('timezone_string')).to.equal('Europe/Berlin');
  });

  it('keep what was entered while the server cannot be reached, and when the session has ended', async () => {
    const { page } = await openAdmin(browser, host);
    await page.goto(`${host.url}/admin/settings`);
    const name = page.getByLabel('Site name');
    const save = page.locator('form.form').filter({ has: name }).getByRole('button', { name: /^Save/ });
    const dialog = page.getByRole('dialog');
    await name.fill('Typed offline');
    await page.context().setOffline(true);
    await save.click();
    await dialog.getByText('Nothing was sent').waitFor();
    await page.context().setOffline(false);
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Settings saved').waitFor();
    expect(await name.inputValue()).to.equal('Typed offline');
    await page.context().clearCookies();
    await name.fill('Typed after the end');
    await save.click();
    await dialog.getByText('Your session has ended').waitFor();
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    const opened = page.waitForEvent('popup');
    await dialog.getByRole('link').click();
    await signIn(await opened, { url: host.url });
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('Settings saved').waitFor();
    expect(await name.inputValue()).to.equal('Typed after the end');
  });

  it('go on after a new sign-in in another tab, and show what another tab saved in between', async () => {
    const { page } = await openAdmin(browser, host);
    await page.goto(`${host.url}/admin/settings`);
    const tagline = page.getByLabel('Tagline');
    const save = page.locator('form.form').filter({ has: tagline }).getByRole('button', { name: /^Save/ });
    const dialog = page.getByRole('dialog');
    await tagline.fill('Typed before the other sign-in');
    await page.context().clearCookies();
    await signIn(await page.context().newPage(), { url: host.url });
    await host.options.update('blogname', 'Named by another tab');
    await save.click();
    await dialog.getByText('This was changed after you opened it').waitFor();
    expect(await dialog.getByRole('listitem').allTextContents()).to.deep.equal(['Site name: Named by another tab']);
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await tagline.inputValue()).to.equal('Typed before the other sign-in');
    await save.click();
    await dialog.getByRole('button', { name: 'Save anyway' }).click();
    await page.getByText('Settings saved').waitFor();
    expect(await host.options.get('blogdescription')).to.equal('Typed before the other sign-in');
  });

  it('ask before a form with changes is left, and not after it was saved', async () => {
    const { page } = await openAdmin(browser, host);
    await page.goto(`${host.url}/admin/profile`);
    const questions: string[] = [];
    page.on('dialog', async (dialog) => {
      questions.push(dialog.type());
      await dialog.dismiss();
    });
    const name = page.getByLabel('Display name');
    await name.fill('Ada King');
    await page.locator('.menu').getByRole('link', { name: 'Users', exact: true }).click();
    await becomes(() => questions, ['beforeunload']);
    expect(await name.inputValue()).to.equal('Ada King');
    await page.locator('form.form').filter({ has: name }).getByRole('button', { name: /^Save/ }).click();
    await page.getByText('saved').first().waitFor();
    await page.locator('.menu').getByRole('link', { name: 'Users', exact: true }).click();
    await page.waitForURL('**/admin/users');
    expect(questions).to.have.length(1);
  });
});
