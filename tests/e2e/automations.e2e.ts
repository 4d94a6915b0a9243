import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { startAutomationsSite, type AutomationsSite } from '../contract/automations-site.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../contract/webhook-receiver.ts';
import { accessibilityViolations, ada, confirmQuestion, openAdmin, openBrowser, overflow } from './browser.ts';

describe('automations in the admin', () => {
  let site: AutomationsSite;
  let receiver: WebhookReceiver;
  let browser: Browser;
  let page: Page;
  let problems: string[];

  before(async () => {
    site = await startAutomationsSite();
    receiver = await startWebhookReceiver();
    await site.host.users.create(ada);
    await site.host.cli('svc', 'webhook', 'on');
    await site.host.cli(
      'svc',
      'webhook',
      'add',
      '--json',
      JSON.stringify({ name: 'Shop', url: receiver.url, events: ['task.item_completed'] }),
    );
    browser = await openBrowser();
    ({ page, problems } = await openAdmin(browser, site.host));
  });
  after(async () => {
    await browser.close();
    await site.stop();
    await receiver.stop();
  });

  const at = (path: string): string => `${site.host.url}/admin/${path}`;
  const shot = async (name: string, of = page): Promise<void> => {
    if (process.env['PICTURES'])
      await of.screenshot({ path: `${process.env['PICTURES']}/${name}.png`, fullPage: true });
  };
  const clean = async (name: string, of = page): Promise<void> => {
    await shot(name, of);
    expect(await accessibilityViolations(of), name).to.deep.equal([]);
    expect(await overflow(of), name).to.equal(0);
  };

  it('create the first task, run it and show the posts of its items; each item sends one event', async () => {
    await page.goto(at('svc/tasks'));
    await clean('tasks-empty');
    await page.getByRole('link', { name: 'Create your first automation' }).click();
    const only = page.getByRole('link', { name: /Write notes/ });
    const field = page.getByLabel('Name', { exact: true });
    await only.or(field).first().waitFor();
    if (await only.isVisible()) await only.click();
    await field.fill('Coffee notes');
    await page.getByLabel('Prompt').fill('echo: all about coffee');
    await page.getByLabel('List', { exact: true }).fill('mountain coffee\nforest coffee\nmountain coffee\n');
    await page.getByLabel('Schedule', { exact: true }).selectOption('cron');
    await page.getByLabel('Cron expression').fill('every monday');
    await clean('task-edit');
    await page.getByRole('button', { name: 'Save and run now' }).click();
    await page.getByText('Prompt must hold {target}.').first().waitFor();
    expect(await page.getByLabel('Prompt').getAttribute('aria-invalid')).to.equal('true');
    await page.getByLabel('Prompt').fill('echo: all about {target}');
    await page.getByRole('button', { name: 'Save and run now' }).click();
    await page
      .getByText(/'every monday' is not a schedule/)
      .first()
      .waitFor();
    await clean('task-edit-refused');
    // The browser notes an answer of 400 each time.
    problems.splice(0);
    expect(await page.getByLabel('List', { exact: true }).inputValue()).to.equal(
      'mountain coffee\nforest coffee\nmountain coffee',
    );
    await page.getByLabel('Cron expression').fill('30 6 * * 1');
    await page.getByRole('button', { name: 'Save and run now' }).click();
    await page.getByText('Coffee notes saved. 2 new items queued.').waitFor();
    // The page follows by itself.
    await page.getByText('2 of 2 finished').first().waitFor();
    await page.getByRole('link', { name: 'Open post of forest coffee' }).waitFor();
    await clean('task');
    await page.getByRole('link', { name: 'forest coffee', exact: true }).click();
    await page.getByRole('heading', { name: /forest coffee/ }).waitFor();
    await page.getByText('The note is written.').waitFor();
    await clean('item');
    await page.locator('#outcome').getByRole('link', { name: 'forest coffee' }).click();
    expect(await page.locator('[name=content]').inputValue()).to.equal('all about forest coffee');

    const events = (await receiver.first(2)).map(
      ({ body }) =>
        JSON.parse(body.toString()) as {
          readonly type: string;
          readonly source: object;
          readonly data: Readonly<Record<string, unknown>>;
        },
    );
    expect(events.map(({ type }) => type)).to.deep.equal(['task.item_completed', 'task.item_completed']);
    expect(
      events.map(({ data }) => (data['queue_item'] as { readonly target_identifier: string }).target_identifier).sort(),
    ).to.deep.equal(['forest coffee', 'mountain coffee']);
    await page.goto(at('svc/tasks'));
    await page.getByRole('link', { name: 'Coffee notes' }).waitFor();
    await clean('tasks');
    await page.getByRole('button', { name: 'Actions for Coffee notes' }).click();
    await page.getByRole('button', { name: 'Run now: Coffee notes' }).click();
    await page.getByText('Coffee notes: The source has no new entries.').waitFor();
    expect(receiver.received.length).to.equal(2);
    expect(problems).to.deep.equal([]);
  });

  it('show failed items with their reason and retry them', async () => {
    const usual = site.work;
    site.work = async ({ target }) => {
      if (target === 'two') throw new Error('This one has no facts to go by.');
      return Promise.resolve({ message: 'Done.' });
    };
    const task = await site.task({ name: 'Facts' });
    await page.goto(at(`svc/tasks/task?id=${String(task.id)}`));
    await clean('task-empty');
    await page.getByRole('button', { name: 'Collect items' }).click();
    await page.getByText('3 of 3 finished, 1 failed').first().waitFor();
    await page.getByRole('link', { name: 'Failed (1)' }).click();
    await page.getByText('This one has no facts to go by.').waitFor();
    expect(await page.locator('tbody tr').count()).to.be.at.least(1);
    await clean('task-failed');
    site.work = usual;
    await page.getByRole('button', { name: 'Retry failed (1)' }).press('Enter');
    await page.getByText('1 item queued again.').waitFor();
    await page.goto(at(`svc/tasks/task?id=${String(task.id)}`));
    await page.getByText('3 of 3 finished', { exact: true }).first().waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('pause, duplicate and delete tasks', async () => {
    const { id } = await site.task({ name: 'Short lived' });
    await page.goto(at('svc/tasks'));
    const row = page.locator(`#task-${String(id)}`);
    const choose = async (name: string): Promise<void> => {
      await row.getByRole('button', { name: 'Actions for Short lived' }).click();
      await row.getByRole('button', { name, exact: true }).click();
    };
    await choose('Pause: Short lived');
    await page.getByText(/Short lived is paused/).waitFor();
    await choose('Duplicate Short lived');
    await page.getByText('Short lived (copy) created without items.').waitFor();
    await page.goto(at('svc/tasks'));
    await choose('Delete Short lived');
    expect(await confirmQuestion(page)).to.contain('Delete “Short lived” and its items?');
    await page.getByText('Short lived and its items were deleted.').waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('write content about a topic, with a template of the content writer', async () => {
    const ada = await site.host.users.find('ada');
    await page.goto(at('svc/tasks/edit'));
    await clean('task-types');
    await page.getByRole('link', { name: /Write content/ }).click();
    await page.getByLabel('Name', { exact: true }).fill('Articles');
    await page.getByLabel('List', { exact: true }).fill('mountain coffee');
    expect(await page.getByLabel('Author').inputValue()).to.equal(String(ada?.id));
    await clean('edit-content');
    await page.getByRole('button', { name: 'Save and run now' }).click();
    await page.getByText('1 of 1 finished').first().waitFor();
    await page.getByRole('link', { name: /Open post/ }).click();
    await page.waitForURL('**/posts/edit?id=*');
    expect(await page.locator('[name=content]').inputValue()).not.to.equal('');
    expect(problems).to.deep.equal([]);
  });

  it('fit narrow windows and dark mode', async () => {
    const small = await openAdmin(browser, site.host, { viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
    const [first] = (await site.cli('svc', 'task', 'list')) as readonly { readonly id: number }[];
    const id = String(first?.id);
    for (const [name, path] of [
      ['tasks-small', 'svc/tasks'],
      ['task-small', `svc/tasks/task?id=${id}`],
      ['edit-small', `svc/tasks/edit?id=${id}`],
    ] as const) {
      await small.page.goto(at(path));
      await clean(name, small.page);
    }
    const [item] = await site.items({ id: Number(id) } as never);
    await small.page.goto(at(`svc/tasks/item?id=${String(item?.id)}`));
    await clean('item-small', small.page);
    expect(small.problems).to.deep.equal([]);
  });

  it('work without a script', async () => {
    const plain = await openAdmin(browser, site.host, { javaScriptEnabled: false });
    await plain.page.goto(at('svc/tasks/edit?type=test_notes'));
    await plain.page.getByLabel('Name', { exact: true }).fill('By hand');
    await plain.page.getByLabel('CSV', { exact: false }).first().check();
    await plain.page.getByLabel('Or paste the rows').fill('topic;tone\ntea;dry\nmilk;warm\n');
    await plain.page.getByRole('button', { name: 'Save and run now' }).click();
    await plain.page.getByText('By hand saved. 2 new items queued.').waitFor();
  });
});
