import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import type { TestHost } from '#testing';
import { createConversationStore } from '../../plugins/svc/modules/chatbots/conversations/conversation-store.ts';
import { becomes } from '../helpers/until.ts';
import { accessibilityViolations, ada, confirmQuestion, expectLooks, openAdmin, openBrowser } from './browser.ts';
import { createMigratedHost } from '../helpers/migrated.ts';

const pictures = process.env['PICTURES'];

describe('chat logs in a browser', () => {
  let host: TestHost;
  let browser: Browser;
  let page: Page;
  let problems: string[];
  let uuid = '';

  before(async () => {
    host = await createMigratedHost({ plugins: ['svc', 'sandbox'] });
    await host.users.create(ada);
    browser = await openBrowser();
    ({ page, problems } = await openAdmin(browser, host));
  });
  after(async () => {
    await browser.close();
    await host.stop();
  });

  /** Conversations of five weeks. */
  async function fill(): Promise<void> {
    let now = host.clock.now() - 45 * 19 * 3_600_000;
    const store = createConversationStore({
      host: { database: host.database, clock: { ...host.clock, now: () => now } },
    });
    const bot = JSON.parse((await host.cli('svc', 'bot', 'create', '--json', '{"name": "Shop assistant"}')).out) as {
      id: number;
    };
    for (let count = 0; count < 45; count++) {
      now += 19 * 3_600_000;
      const { id, uuid: made } = await store.start({
        uuid: randomUUID(),
        botId: bot.id,
        userId: count % 3 === 0 ? 1 : 0,
        sessionId: count % 3 === 0 ? null : `session-${String(count % 7)}`,
        module: 'chatbot',
        pageUrl: 'https://shop.example.com/shoes',
        ip: '203.0.113.0',
        consentedAt: now,
      });
      const answer = randomUUID();
      await store.append(id, [
        {
          id: randomUUID(),
          role: 'user',
          content: `Wo bleibt die Größe ${String(40 + (count % 6))} meiner Bestellung #${String(1000 + count)}?`,
        },
        {
          id: answer,
          role: 'assistant',
          content: 'Three to five working days.\nYou will get an e-mail.',
          provider: 'OpenAI',
          model: 'gpt-4.1-mini',
          usage: { input_tokens: 812, output_tokens: 96, total_tokens: 908 },
          cost: 478,
          sources: [{ title: 'Shipping', url: 'https://shop.example.com/shipping', score: 87 }],
        },
        ...(count % 2 === 0 ? [{ id: randomUUID(), role: 'user' as const, content: '<b>Thank you</b> & bye' }] : []),
      ]);
      if (count % 4 === 0)
        await store.setFeedback(id, {
          messageId: answer,
          value: count % 8 === 0 ? 'up' : 'down',
          comment: count % 8 === 0 ? 'Quick and right.' : '',
        });
      if (count === 44)
        await store.update(id, { stored: [{ name: 'shoe size', value: '42' }], variables: { topic: 'shipping' } });
      uuid = made;
    }
  }

  it('show the first step while the logs are empty', async () => {
    await page.goto(`${host.url}/admin/svc/logs`);
    await page.getByRole('link', { name: 'Create a chatbot' }).waitFor();
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    await fill();
  });

  it('are filtered, paged and exported as shown', async () => {
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(`${host.url}/admin/svc/logs`);
    await page.getByRole('heading', { name: '45 conversations' }).waitFor();
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByText('Page 2 of 3').waitFor();
    await page.getByLabel('Text in a message').fill('GRÖßE 41 meiner');
    await page.getByText('Filters', { exact: true }).click();
    await page.getByLabel('Who').selectOption('guests');
    await page.getByRole('button', { name: 'Apply filters' }).click();
    await page.waitForURL(/who=guests/);
    const heading = await page.locator('#logs-title').textContent();
    const total = Number(/^\d+/.exec(heading ?? '')?.[0]);
    expect(total).to.be.greaterThan(0).and.lessThan(9);
    for (const [name, lines] of [
      ['CSV', total],
      ['JSONL', total],
    ] as const) {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: `Export ${name}` }).click(),
      ]);
      const text = await readFile(await download.path(), 'utf8');
      expect(text.match(/Größe 41/g)).to.have.length(lines);
    }
    await page.getByRole('link', { name: 'Who: Guests' }).click();
    await page.waitForURL((url) => !url.search.includes('who=') && url.search.includes('text='));
    await page.getByRole('link', { name: 'Clear all' }).click();
    await page.getByText('Filters', { exact: true }).click();
    await page.getByLabel('Feedback').selectOption('down');
    await page.getByRole('button', { name: 'Apply filters' }).click();
    await becomes(async () => (await page.locator('tbody .badge-warning').count()) > 3, true);
    await page.getByLabel('Text in a message').fill('nothing like this');
    await page.keyboard.press('Enter');
    await page.getByText('No conversation matches these filters.').waitFor();
  });

  for (const path of [
    'svc/logs',
    'svc/logs?who=users&feedback=any&from=2025-12-10&to=2025-12-20',
    'svc/logs?text=nothing+like+this',
    'svc/conversation?conversation=',
    'svc/conversation?conversation=gone',
    'svc/personal-data',
    'svc/personal-data?by=user&value=1',
    'svc/personal-data?by=email&value=nobody',
  ]) {
    it(`are accessible and fit narrow windows, light and dark: ${path}`, async () => {
      await expectLooks(page, {
        load: () => page.goto(`${host.url}/admin/${path.endsWith('=') ? path + uuid : path}`),
        picture: async (look) => {
          const file = `${String(pictures)}/logs-${path.replace(/\W+/g, '-')}-${look}.png`;
          if (pictures !== undefined) await page.screenshot({ path: file, fullPage: true });
        },
      });
      expect(problems).to.deep.equal([]);
    });
  }

  it('show a transcript as text, with notes, sources and feedback, and delete it when that is confirmed', async () => {
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(`${host.url}/admin/svc/conversation?conversation=${uuid}`);
    for (const text of ['shoe size', 'topic', 'gpt-4.1-mini', '<b>Thank you</b> & bye', 'Disliked'])
      await page.getByText(text, { exact: false }).first().waitFor();
    await page.getByText('1 source').click();
    await page.getByRole('link', { name: 'Shipping' }).waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await confirmQuestion(page);
    await page.waitForURL('**/admin/svc/logs');
    await page.getByRole('heading', { name: '44 conversations' }).waitFor();
  });

  it('are deleted together from the page that is shown, when that is confirmed', async () => {
    await page.goto(`${host.url}/admin/svc/logs?page=2`);
    for (const box of (await page.locator('tbody input[type="checkbox"]').all()).slice(0, 2)) await box.check();
    await page.getByRole('button', { name: 'Apply' }).click();
    await confirmQuestion(page);
    await page.getByText('2 conversations deleted, including the forms submitted in them.').waitFor();
    await page.getByRole('heading', { name: '42 conversations' }).waitFor();
    expect(new URL(page.url()).search).to.equal('?page=2');
  });

  it('delete the data of a person and store a receipt', async () => {
    await page.goto(`${host.url}/admin/svc/personal-data`);
    await page.getByLabel('Search by').selectOption('session');
    await page.getByLabel('Value').fill('session-5');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.getByText(/^\d+ conversations, /).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export as JSONL' }).click(),
    ]);
    expect((await readFile(await download.path(), 'utf8')).split('\n')[0]).to.include('"type":"conversation"');
    await page.getByRole('button', { name: 'Delete all data' }).click();
    await confirmQuestion(page);
    await page.getByText(/Deleted: \d+ conversations/).waitFor();
    await page.getByText('Deleted by session id').waitFor();
    expect(await page.getByRole('region', { name: 'Table of receipts' }).textContent())
      .to.include('ada')
      .and.not.include('session-5');
  });
});
