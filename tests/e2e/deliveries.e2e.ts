import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { createTestHost, type TestHost } from '#testing';
import { createSystemClock } from '../../host/clock.ts';
import { serviceEvents as events } from '../../plugins/svc/events.ts';
import { becomes, until } from '../helpers/until.ts';
import {
  accessibilityViolations,
  ada,
  confirmQuestion,
  expectLooks,
  openAdmin,
  openBrowser,
  openDetails,
  openPage,
} from './browser.ts';

const run = promisify(execFile);
const secret = 'a secret of these tests';

describe('the delivery log in a browser', () => {
  let folder = '';
  let host: TestHost;
  let browser: Browser;
  let page: Page;
  let problems: string[];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-delivery-log-'));
    host = await createTestHost({ plugins: ['svc'], database: folder, clock: createSystemClock() });
    await host.users.create(ada);
    browser = await openBrowser();
    ({ page, problems } = await openAdmin(browser, host));
  });
  after(async () => {
    await browser.close();
    await host.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const open = (path = ''): Promise<unknown> => page.goto(`${host.url}/admin/svc/deliveries${path}`);
  const rows = () => page.locator('.deliveries tbody tr');

  it('leads from an empty log to an inbox that receives a signed event, and shows it without a reload', async () => {
    await open();
    await page.getByRole('link', { name: 'Open the inbox' }).click();
    await page.getByRole('button', { name: 'Open test inbox' }).click();
    await page.getByText('Event webhooks were turned on.').waitFor();
    await host.cli('svc', 'webhook', 'secret', 'set', secret);
    await page.getByText('No requests yet').waitFor();
    await page.getByRole('button', { name: 'Send test event' }).click();
    await page.getByText('Signature verified').waitFor();
    await page.getByLabel('500 Internal Server Error').check();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText('The inbox now responds with').waitFor();
    await page.getByRole('button', { name: 'Send test event' }).click();
    await open('?state=failed');
    await rows().first().waitFor();
    await open();
    await becomes(() => rows().count(), 2);
    await page.getByText('Failed', { exact: true }).first().waitFor();
  });

  it('follows the queue: what is delivered meanwhile appears by itself', async () => {
    await open();
    const before = await rows().count();
    await host.hooks.doActionAsync('svc_event_emit', 'form.submitted', example('form.submitted'));
    await page.locator('.deliveries').getByText('form.submitted').waitFor();
    await becomes(() => rows().count(), before + 1);
  });

  it('verifies pasted secrets in the browser: no request carries them', async () => {
    await open('?state=delivered');
    await rows().first().getByRole('link').click();
    const sent: string[] = [];
    page.on('request', (request) => sent.push(`${request.url()} ${request.postData() ?? ''}`));
    await page.getByLabel('Verify with a secret').fill(secret);
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('Match: this secret created the signature.').waitFor();
    await page.getByLabel('Verify with a secret').fill('another secret');
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('another secret created the signature').waitFor();
    await page.getByLabel('Verify with a secret').fill(` ${secret} `);
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('without the surrounding spaces or line breaks').waitFor();
    expect(sent.filter((line) => line.includes('secret'))).to.deep.equal([]);
  });

  it('copies commands that deliver the very same bytes when a shell runs them', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await open('?state=delivered');
    await rows().first().getByRole('link').click();
    await host.options.update('svc_webhook_inbox', {
      ...(await host.options.get<Record<string, unknown>>('svc_webhook_inbox', {})),
      answer: '200',
    });
    for (const name of ['Copy the command with the original signature', 'Copy the command with a new signature']) {
      await page.evaluate("navigator.clipboard.writeText('')");
      await page.getByRole('button', { name }).click();
      let command = '';
      await until('the command is copied', async () => {
        command = await page.evaluate<string>('navigator.clipboard.readText()');
        return command !== '';
      });
      const { stdout } = await run('bash', ['-c', command], { env: { ...process.env, SECRET: secret } });
      expect(stdout).to.contain('200 OK').and.contain('"received":true');
    }
    const received = await host.database.knex('svc_webhook_inbox').orderBy('id', 'desc').limit(2);
    const [{ event_id: eventId }] = await host.database
      .knex('svc_webhook_deliveries')
      .where({ state: 'delivered' })
      .orderBy('id', 'desc')
      .limit(1);
    const original = await host.database.knex('svc_webhook_events').where({ id: eventId }).first();
    for (const one of received) {
      expect(one.verdict).to.equal('verified');
      expect(Buffer.from(one.body).equals(Buffer.from(original.body))).to.equal(true);
    }
  });

  it('shows one state, and each other filter as a chip that removes it', async () => {
    await open('?event=chatbot.fb_submitted');
    await page.getByRole('link', { name: 'Delivered', exact: true }).click();
    await page.waitForURL(/event=chatbot.fb_submitted&state=delivered/);
    await page.getByRole('link', { name: 'Remove the filter Event: chatbot.fb_submitted' }).click();
    await page.waitForURL((url) => url.search === '?state=delivered');
    await page.locator('#deliveries [aria-current="page"]').getByText('Delivered').waitFor();
    expect(await accessibilityViolations(page)).to.deep.equal([]);
  });

  it('sends again what is selected, and all since a time', async () => {
    await open();
    await page.getByLabel('Select all shown').check();
    await page.getByRole('button', { name: 'Replay selected' }).click();
    await page.getByText('deliveries sent again with the same ids').waitFor();
    await open('?state=failed');
    await page.getByText('No deliveries found').waitFor();
    await open();
    await page.getByRole('button', { name: 'Replay all' }).click();
    await confirmQuestion(page);
    await page.getByText(/\d deliveries sent again\./).waitFor();
    await page
      .getByText(/3 of 3, done/)
      .first()
      .waitFor();
    await rows().first().getByRole('link').click();
    await page.getByRole('button', { name: 'Replay' }).click();
    await confirmQuestion(page);
    await page.getByText('Sent again with the same ids').waitFor();
  });

  it('tells why not, in words and signs', async () => {
    await host.cli('svc', 'webhook', 'off');
    await open('/check');
    await page.getByLabel('Event', { exact: true }).selectOption('image.generated');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText('1 condition not met').waitFor();
    expect(await page.locator('.condition-error').textContent()).to.contain('No: Event webhooks are on');
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Turn webhooks on' }).click();
    await page.getByText('all conditions are met').waitFor();
  });

  for (const path of [
    '',
    '?span=month&state=delivered',
    '?state=failed&event=nothing',
    '/check?event=form.submitted',
    '/inbox',
    '/delivery',
  ]) {
    it(`is accessible and fits narrow windows, light and dark: deliveries${path}`, async () => {
      const [{ uuid }] = await host.database.knex('svc_webhook_deliveries').orderBy('id').limit(1);
      await host.database
        .knex('svc_webhook_circuits')
        .insert({
          endpoint_id: 'gone',
          failing_since: 1,
          failures: 40,
          paused_at: 2,
          reason: 'The endpoint did not respond within 5 seconds.',
          next_probe_at: 3,
          probes: 0,
        })
        .onConflict('endpoint_id')
        .ignore();
      problems.length = 0;
      await expectLooks(page, {
        load: async () => {
          await open(path === '/delivery' ? `/delivery?id=${String(uuid)}` : path);
          await openDetails(page);
        },
      });
      expect(problems).to.deep.equal([]);
    });
  }

  it('verifies without a script too', async () => {
    const { page: plain } = await openPage(browser, {
      javaScriptEnabled: false,
      storageState: await page.context().storageState(),
    });
    await plain.goto(`${host.url}/admin/svc/deliveries`);
    await plain.locator('.deliveries tbody tr').first().getByRole('link').click();
    await plain.getByText('This site checks it and does not store it').waitFor();
    await plain.getByLabel('Verify with a secret').fill(secret);
    await plain.getByRole('button', { name: 'Verify' }).click();
    await plain.getByText('Match: this secret created the signature.').waitFor();
    expect(host.logged.join('\n')).not.to.contain(secret);
  });

  function example(name: string): Record<string, unknown> {
    const found = events.find((event) => event.name === name);
    return { ...found?.example };
  }
});
