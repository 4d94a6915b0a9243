import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { createTestHost, type TestHost } from '#testing';
import { startSmtpReceiver, type SmtpReceiver } from '../helpers/smtp-receiver.ts';
import { accessibilityViolations, ada, expectLooks, openAdmin, openBrowser, openPage, signIn } from './browser.ts';

const chosen = 'seven purple kettles sing';

describe('mail in a browser', () => {
  let folder = '';
  let host: TestHost;
  let browser: Browser;
  let receiver: SmtpReceiver;
  let admin: Page;
  let problems: string[];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-mail-'));
    receiver = await startSmtpReceiver();
    host = await createTestHost({ database: folder });
    await host.users.create(ada);
    browser = await openBrowser();
    ({ page: admin, problems } = await openAdmin(browser, host));
  });
  after(async () => {
    await browser.close();
    await host.stop();
    await receiver.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Opens the page light and dark, wide and narrow. */
  async function checkPage(page: Page, path: string): Promise<void> {
    await expectLooks(page, { load: () => page.goto(host.url + path) });
  }

  it('names who resets a password before a mail server is set up', async () => {
    const { page } = await openPage(browser);
    await checkPage(page, '/admin/forgot-password');
    await page.goto(`${host.url}/admin/login`);
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByText('This site cannot send mail').waitFor();
    await page.context().close();
  });

  it('is set up and tested by an administrator', async () => {
    await admin.goto(`${host.url}/admin/settings`);
    await admin.getByRole('main').getByRole('link', { name: 'Mail server' }).click();
    await admin.getByLabel('Server', { exact: true }).fill('127.0.0.1');
    await admin.getByLabel('Encryption').selectOption('none');
    await admin.getByLabel('Port').fill(String(receiver.port));
    await admin.getByLabel('Sender address').fill('site@example.com');
    await admin.getByRole('button', { name: 'Save' }).click();
    await admin.getByText('Mail settings saved.').waitFor();
    await admin.getByRole('button', { name: 'Send a test mail to ada@example.com' }).click();
    await admin.getByText('The server replied: 250').waitFor();
    expect(receiver.mails.at(-1)).to.include({ subject: 'Test mail from My site' });
    receiver.refusal = { code: 450, text: 'Mailbox busy' };
    await admin.getByRole('button', { name: 'Send a test mail' }).click();
    await admin.getByText('The mail was not sent. 450 Mailbox busy').waitFor();
    await host.mail.queue({ to: 'bob@example.com', subject: 'A long subject of a mail that waits', text: 'Hello' });
    await host.mail.settled();
    receiver.refusal = { code: 550, text: 'Sender refused' };
    await host.mail.queue({ to: 'bob@example.com', subject: 'A refused mail', text: 'Hello' });
    await host.mail.settled();
    receiver.refusal = null;
    await checkPage(admin, '/admin/settings/mail');
    await admin.getByText('A long subject of a mail that waits').waitFor();
    await admin.getByRole('button', { name: 'Try again: A refused mail' }).click();
    await admin.getByText('The mail is sent again.').waitFor();
    await host.mail.settled();
    expect(receiver.mails.at(-1)).to.include({ subject: 'A refused mail' });
    expect(problems.filter((text) => !text.includes('502'))).to.deep.equal([]);
  });

  it('brings a link with which a forgotten password is replaced', async () => {
    const { page } = await openPage(browser);
    await checkPage(page, '/admin/forgot-password');
    const before = receiver.mails.length;
    await page.getByLabel('User name or email').fill('ada');
    await page.getByRole('button', { name: 'Send link' }).click();
    await page.getByText('a link is on its way').waitFor();
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    const { link } = await receiver.next(before + 1);
    await checkPage(page, new URL(link).pathname + new URL(link).search);
    await page.getByLabel('New password').fill(chosen);
    await page.getByLabel('Confirm password').fill(chosen);
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByText('Your password is set. Sign in with it.').waitFor();
    await checkPage(page, new URL(link).pathname + new URL(link).search);
    await page.getByText('It has been used, has expired').waitFor();
    await signIn(page, { url: host.url, password: chosen });
    await page.context().close();
  });

  it('invites a user, who chooses a password', async () => {
    const { page } = await openPage(browser);
    await signIn(page, { url: host.url, password: chosen });
    await host.mail.settled();
    const before = receiver.mails.length;
    await checkPage(page, '/admin/users/new');
    await page.getByLabel('User name').fill('bob');
    await page.getByLabel('Email address').fill('bob@example.com');
    await page.getByRole('button', { name: 'Add user' }).click();
    await page.getByText('An invitation was sent to bob@example.com.').waitFor();
    await checkPage(page, `/admin/users/edit?id=${(await host.users.find('bob'))?.id}`);
    await page.getByRole('button', { name: 'Resend invitation' }).waitFor();
    const { link } = await receiver.next(before + 1);
    const { page: invited } = await openPage(browser);
    await invited.goto(link);
    await invited.getByLabel('New password').fill('nine wet umbrellas march');
    await invited.getByLabel('Confirm password').fill('nine wet umbrellas march');
    await invited.getByRole('button', { name: 'Set password' }).click();
    await invited.getByText('Your password is set.').waitFor();
  });
});
