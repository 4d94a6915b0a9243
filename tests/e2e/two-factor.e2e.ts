import { expect } from 'chai';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { createTestHost, type TestHost } from '#testing';
import { totpCode } from '../users/two-factor/totp-code.ts';
import { accessibilityViolations, ada, expectLooks, openBrowser, openDetails, openPage, signIn } from './browser.ts';

const step = 30_000;

describe('two-step sign-in in a browser', () => {
  let host: TestHost;
  let browser: Browser;
  before(async () => {
    browser = await openBrowser();
  });
  after(() => browser.close());
  beforeEach(async () => {
    host = await createTestHost({ env: { HOST: 'localhost' } });
    await host.users.create(ada);
  });
  afterEach(() => host.stop());

  /** A browser with a fingerprint reader that always recognizes its user. */
  async function addAuthenticator(page: Page): Promise<CDPSession> {
    const session = await page.context().newCDPSession(page);
    await session.send('WebAuthn.enable');
    await session.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    return session;
  }

  async function enterPassword(page: Page): Promise<void> {
    await page.goto(`${host.url}/admin/login?to=${encodeURIComponent('/admin/profile')}`);
    await page.getByLabel('User name or email').fill(ada.login);
    await page.getByLabel('Password', { exact: true }).fill(ada.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Two-step sign-in' }).waitFor();
  }

  async function setUpApp(page: Page): Promise<{ secret: string; codes: string[] }> {
    await page.goto(`${host.url}/admin/profile/two-step`);
    await page.getByRole('button', { name: 'Set up authenticator app' }).click();
    await page.getByAltText('QR code for the authenticator app.').waitFor();
    const secret = (await page.locator('[data-copy-source]').textContent()) ?? '';
    await expectLooks(page);
    await page.getByLabel('2. Enter the code that the app shows').fill(totpCode(secret, host.clock.now()));
    await page.getByRole('button', { name: 'Turn on' }).click();
    await page.getByText('Authenticator app turned on.').waitFor();
    await expectLooks(page);
    const codes = ((await page.locator('pre[data-copy-source]').textContent()) ?? '').split('\n');
    host.clock.jump(step);
    return { secret, codes };
  }

  it('registers a passkey, and signs in with it alone and as second step', async () => {
    const { page, problems } = await openPage(browser, { reducedMotion: 'reduce' });
    await addAuthenticator(page);
    await signIn(page, host);
    await page.goto(`${host.url}/admin/profile/two-step`);
    await expectLooks(page);
    await page.getByLabel('Name of the new passkey').fill('Office laptop');
    await page.getByRole('button', { name: 'Add passkey' }).click();
    await page.getByRole('button', { name: 'Create passkey' }).waitFor();
    await expectLooks(page);
    await page.getByRole('button', { name: 'Create passkey' }).click();
    await page.getByText('Passkey Office laptop added.').waitFor();
    await page.getByRole('link', { name: 'I have saved them' }).click();
    await page.getByText('Added ').waitFor();
    await expectLooks(page);

    await page.context().clearCookies();
    await page.goto(`${host.url}/admin/login?to=${encodeURIComponent('/admin/users')}`);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
    await expectLooks(page);
    await page.getByLabel('Keep me signed in').check();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.waitForURL('**/admin/users');
    const session = (await page.context().cookies()).find(({ name }) => name.endsWith('svc_session'));
    expect(session?.expires, 'kept').to.be.above(0);

    await page.context().clearCookies();
    await enterPassword(page);
    await expectLooks(page);
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.waitForURL('**/admin/profile');
    await page.getByText('With 1 passkey.').waitFor();

    host.clock.jump(10 * 60_000);
    await page.getByLabel('Program name').fill('script');
    await page.getByRole('button', { name: 'Create application password' }).click();
    await page.getByRole('heading', { name: 'Confirm your password' }).waitFor();
    await page.getByRole('button', { name: 'Use a passkey' }).waitFor();
    await expectLooks(page);
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByText('Application password for script created.').waitFor();
    // The page that asks has the status 403.
    expect(problems.filter((problem) => !problem.includes('(Forbidden)'))).to.deep.equal([]);
    await page.context().close();
  });

  it('says what to do when the browser has no passkey for the site', async () => {
    const { page } = await openPage(browser, { reducedMotion: 'reduce' });
    const session = await addAuthenticator(page);
    await page.goto(`${host.url}/admin/login`);
    await session.send('WebAuthn.disable');
    await session.send('WebAuthn.enable');
    const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
      options: { protocol: 'ctap2', transport: 'usb', hasUserVerification: true, isUserVerified: true },
    });
    expect(authenticatorId).to.be.a('string');
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('alert').filter({ hasText: 'The passkey was not used' }).waitFor();
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    await page.context().close();
  });

  it('signs in with a code of an authenticator app, and with a recovery code', async () => {
    const { page, problems } = await openPage(browser, { reducedMotion: 'reduce' });
    await signIn(page, host);
    const { secret, codes } = await setUpApp(page);
    await page.getByRole('link', { name: 'I have saved them' }).click();
    await page.getByText('On since').waitFor();
    await expectLooks(page);

    await page.context().clearCookies();
    await enterPassword(page);
    await expectLooks(page);
    await page.getByLabel('Code', { exact: true }).fill(totpCode(secret, host.clock.now()));
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL('**/admin/profile');

    await page.context().clearCookies();
    await enterPassword(page);
    await page.getByText('Use a recovery code').click();
    await page.getByLabel('Recovery code', { exact: true }).fill(codes[0] ?? '');
    await page.getByRole('button', { name: 'Sign in with this code' }).click();
    await page.waitForURL('**/admin/profile');
    await page.goto(`${host.url}/admin/profile/two-step`);
    await page.getByText('9 unused codes left.').waitFor();
    expect(problems).to.deep.equal([]);
    await page.context().close();
  });

  it('leads users of a role that requires it to its setup, and on to the site', async () => {
    const { page } = await openPage(browser, { reducedMotion: 'reduce' });
    await signIn(page, host);
    await page.goto(`${host.url}/admin/settings`);
    await page.getByRole('group', { name: 'Require two-step sign-in' }).getByLabel('Administrator').check();
    await expectLooks(page);
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.waitForURL('**/admin/profile/two-step');
    await page.getByText('Your role requires two-step sign-in.').waitFor();
    await expectLooks(page);
    await setUpApp(page);
    await page.goto(`${host.url}/admin/settings`);
    expect(await page.getByLabel('Administrator').isChecked()).to.equal(true);
    await page.context().close();
  });
});

describe('a form that asks for the password in a dialog', () => {
  it('names its action on the button, also after a wrong password', async () => {
    const host = await createTestHost({ plugins: ['svc'] });
    const browser = await openBrowser();
    try {
      await host.users.create(ada);
      const { page } = await openPage(browser);
      await signIn(page, host);
      await page.goto(`${host.url}/admin/svc?provider=openai`);
      await openDetails(page);
      const form = page.locator('form[data-provider="openai"]');
      await form.getByLabel('API key').fill('a key');
      host.clock.jump(10 * 60_000);
      await form.getByRole('button', { name: 'Save and test' }).click();
      const dialog = page.getByRole('dialog', { name: 'Confirm your password' });
      await dialog.getByLabel('Password').fill('wrong');
      await dialog.getByRole('button', { name: 'Save and test', exact: true }).click();
      await dialog.getByText('Incorrect password.').waitFor();
      await expectLooks(page);
      await dialog.getByLabel('Password').fill(ada.password);
      await dialog.getByRole('button', { name: 'Save and test', exact: true }).click();
      await form.locator('.notice').waitFor();
      expect(await dialog.count()).to.equal(0);
    } finally {
      await browser.close();
      await host.stop();
    }
  });
});
