import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { createSystemClock } from '../../host/clock.ts';
import { createTestHost, type TestHost } from '#testing';
import { startReceiver, type Receiver } from '../svc/webhooks/receiver.ts';
import { becomes } from '../helpers/until.ts';
import { accessibilityViolations, ada, expectLooks, openAdmin, openBrowser, openDetails, openPage } from './browser.ts';

describe('event webhooks in a browser', () => {
  let folder = '';
  let host: TestHost;
  let receiver: Receiver;
  let failing: Receiver;
  let browser: Browser;
  let page: Page;
  let problems: string[];

  const endpoints = async (): Promise<{ id: string; name: string; events: string[] }[]> =>
    JSON.parse((await host.cli('svc', 'webhook', 'list', '--json')).out) as never;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-webhooks-'));
    receiver = await startReceiver();
    failing = await startReceiver();
    failing.answer = 404;
    host = await createTestHost({ plugins: ['svc'], database: folder, clock: createSystemClock() });
    await host.users.create(ada);
    browser = await openBrowser();
    ({ page, problems } = await openAdmin(browser, host));
  });
  after(async () => {
    await browser.close();
    await host.stop();
    await receiver.stop();
    await failing.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('lead from nothing to a signed delivery', async () => {
    await page.goto(`${host.url}/admin/svc/webhooks`);
    await page.getByLabel('Send event webhooks').check();
    await page.locator('#webhooks-switch').getByRole('button', { name: 'Save' }).click();
    await page.getByText('Event webhooks turned on.').waitFor();
    await page.getByRole('button', { name: 'Generate a secret' }).click();
    const secret = await page.locator('.reveal code').textContent();
    expect(secret).to.match(/^whsec_/);
    await page.goto(`${host.url}/admin/svc/webhooks`);
    expect(await page.content()).to.not.contain(secret);

    await page.getByRole('link', { name: 'Add an endpoint' }).click();
    await page.getByLabel('Name').fill('CRM');
    await page.getByLabel('URL').fill(receiver.url);
    await page.getByPlaceholder('Search events').fill('form');
    await page.getByPlaceholder('Search events').press('Enter');
    await becomes(() => page.locator('[data-event]:visible').count(), 2);
    await page.getByPlaceholder('Search events').fill('nothing of the kind');
    await page.getByText('No event matches.').waitFor();
    await page.getByPlaceholder('Search events').fill('');
    await page.getByLabel('All of Chatbots').check();
    await page.getByText('5 of 10 selected').waitFor();
    await page.getByLabel('chatbot.fb_submitted').uncheck();
    const all = page.getByLabel('All of Chatbots');
    await becomes(() => all.evaluate((box) => (box as { indeterminate?: boolean }).indeterminate), true);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('CRM saved.').waitFor();
    expect((await endpoints())[0]?.events).to.deep.equal([
      'chatbot.form_submitted',
      'chatbot.response_generated',
      'chatbot.session_started',
      'chatbot.user_message_submitted',
    ]);

    await page.getByRole('button', { name: 'Send test event' }).click();
    await page.getByText(/Delivered chatbot\.form_submitted: the receiver responded with 200 in \d+ ms\./).waitFor();
    expect(receiver.received).to.have.length(1);
    expect(receiver.received[0]?.headers['x-svc-signature']).to.match(/^sha256=/);
    await page.reload();
    await page.getByText(/chatbot\.form_submitted\s+200 in \d+ ms/).waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('show what a filter matches while it is typed', async () => {
    const cli = (...args: readonly string[]) => host.cli('svc', 'webhook', ...args);
    await cli('on');
    await cli('add', '--json', JSON.stringify({ name: 'Filtered', url: receiver.url, events: ['image.generated'] }));
    const own = (await endpoints()).find(({ name }) => name === 'Filtered');
    await cli('test', own!.id);
    await page.goto(`${host.url}/admin/svc/webhooks/endpoint?id=${own!.id}`);
    const filter = page.getByLabel('Only events with this content');
    await filter.fill('{"data.bot.id": 0}');
    await page.getByText('0 of the last 1 events match.').waitFor();
    await filter.fill('{"meta.test": true}');
    await page.getByText('1 of the last 1 events match.').waitFor();
    await page.getByText('Events it was tried on').click();
    await page.getByText(/^matches · image\.generated · .*\d{4}, \d\d:\d\d$/).waitFor();
    await filter.fill('{"meta.test": ');
    await page.getByText(/^The filter is not valid JSON: /).waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page
      .locator('#endpoint-filter-error')
      .getByText(/The filter is not valid JSON/)
      .waitFor();
    expect(await filter.inputValue()).to.equal('{"meta.test": ');
    await filter.fill('');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Filtered saved.').waitFor();
    await cli('remove', own!.id);
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    problems.length = 0;
  });

  it('mark what is wrong with an endpoint and keep the rest', async () => {
    await page.goto(`${host.url}/admin/svc/webhooks/endpoint`);
    await page.getByLabel('Name').fill('Metadata');
    await page.getByLabel('URL').fill('http://169.254.169.254/latest');
    await page.getByLabel('form.submitted', { exact: false }).first().check();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.locator('#endpoint-url-error').waitFor();
    expect(await page.locator('#endpoint-url-error').textContent()).to.contain('169.254.169.254');
    expect(await page.getByLabel('Name').inputValue()).to.equal('Metadata');
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    problems.length = 0;
  });

  it('show a failing endpoint among the failed jobs, retry it once for two clicks, and clear it', async () => {
    await page.goto(`${host.url}/admin/svc/webhooks/endpoint`);
    await page.getByLabel('Name').fill('Legacy');
    await page.getByLabel('URL').fill(failing.url);
    await page.getByLabel('kb.source_indexed').check();
    await page.getByRole('button', { name: 'Save and send test event' }).click();
    await page.getByText('Failed after 1 attempt: The endpoint responded with 404.').waitFor();
    await page.goto(`${host.url}/admin/svc/webhooks`);
    const job = page.locator('.failed-job').first();
    await job.getByText('kb.source_indexed to Legacy').waitFor();
    const again = new Promise<void>(
      (resolve) => void host.hooks.addAction('svc_event_webhooks_delivery_failed', () => resolve()),
    );
    await job.getByRole('button', { name: 'Retry' }).dblclick();
    await job.getByText('Retry started with the same delivery id.').waitFor();
    await again;
    expect(failing.received).to.have.length(2);
    expect(failing.received[0]?.headers['x-svc-delivery-id']).to.equal(
      failing.received[1]?.headers['x-svc-delivery-id'],
    );
    expect(await job.getByRole('button', { name: 'Clear' }).isDisabled()).to.equal(true);
    await page.reload();
    await job.getByText('after 2 attempts').waitFor();
    await job.getByRole('button', { name: 'Clear' }).click();
    await job.getByText('Removed from the list.').waitFor();
    await page.reload();
    await page.getByText('No failures.').waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('work without JavaScript', async () => {
    const { page: plain } = await openAdmin(browser, host, { javaScriptEnabled: false });
    await plain.goto(`${host.url}/admin/svc/webhooks/endpoint`);
    expect(await plain.getByPlaceholder('Search events').isVisible()).to.equal(false);
    await plain.getByLabel('Name').fill('Plain');
    await plain.getByLabel('URL').fill(failing.url);
    await plain.getByLabel('task.item_completed').check();
    await plain.getByRole('button', { name: 'Save', exact: true }).click();
    const card = plain.locator('article', { has: plain.getByRole('heading', { name: 'Plain' }) });
    await card.getByRole('button', { name: 'Send test event' }).click();
    await plain.getByText('Failed after 1 attempt: The endpoint responded with 404.').waitFor();
    await plain.locator('.failed-job').getByRole('button', { name: 'Clear' }).click();
    await plain.getByText('Removed from the list.').waitFor();
    await plain.getByRole('link', { name: 'Edit Plain' }).click();
    await plain.getByText('Delete this endpoint', { exact: true }).click();
    await plain.getByRole('button', { name: 'Delete endpoint' }).click();
    await plain.getByRole('heading', { name: 'Delete this endpoint?' }).waitFor();
    await plain.getByRole('button', { name: 'Delete endpoint' }).click();
    await plain.getByText('Endpoint deleted.').waitFor();
    expect((await endpoints()).map(({ name }) => name)).to.deep.equal(['CRM', 'Legacy']);
  });

  it('begin with one clear step, and tell everybody what can be sent', async () => {
    const { page: visitor, problems: seen } = await openPage(browser);
    await visitor.goto(`${host.url}/webhook-events`);
    await visitor
      .getByRole('navigation', { name: 'Events' })
      .getByRole('link', { name: 'form.submitted', exact: true })
      .click();
    await visitor.locator('#form-submitted').getByText('Example request body').click();
    expect(await visitor.getByLabel('Example of form.submitted').textContent()).to.contain('"type": "form.submitted"');
    expect(seen).to.deep.equal([]);
  });

  for (const path of [
    'admin/svc/webhooks',
    'admin/svc/webhooks/endpoint',
    'admin/svc/webhooks/endpoint?id=',
    'webhook-events',
  ]) {
    it(`are accessible and fit narrow windows, light and dark: ${path}`, async () => {
      // Enough to see: a pause, a failed job, an open section.
      const [crm, legacy] = await endpoints();
      const now = host.clock.now();
      await host.database
        .knex('svc_webhook_circuits')
        .insert({
          endpoint_id: legacy?.id,
          failing_since: now - 7_200_000,
          failures: 40,
          paused_at: now - 3_600_000,
          reason: 'The endpoint responded with 404.',
          next_probe_at: now + 600_000,
          probes: 1,
        })
        .onConflict('endpoint_id')
        .merge();
      await host.cli(
        'svc',
        'webhook',
        'update',
        '--json',
        JSON.stringify({
          id: crm?.id,
          headers: { 'X-Api-Key': 'a-value-that-is-long-enough', 'X-Tenant': '7' },
          secret: 'a secret of its own',
        }),
      );
      const address = `${host.url}/${path}${path.endsWith('=') ? (crm?.id ?? '') : ''}`;
      await expectLooks(page, { load: async () => (await page.goto(address), openDetails(page)) });
      expect(problems).to.deep.equal([]);
    });
  }
});
