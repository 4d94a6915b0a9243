import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { startSite, type RunningSite } from '../helpers/running-site.ts';
import { openBrowser, openPage } from './browser.ts';
import { createPerson, type Effort } from './visitor-clock.ts';

/** Seconds without those that the site takes, which are the machine's. */
const total = ({ acting, reading }: Effort): number => acting + reading;

describe('the way from nothing to a chatbot with knowledge, webhooks and a budget', () => {
  let browser: Browser;
  let site: RunningSite;

  before(async () => {
    browser = await openBrowser();
    site = await startSite();
  });
  after(async () => {
    await site.stop();
    await browser.close();
  });

  // Seconds of the keystroke-level model and of reading. Of six minutes, fifteen seconds are left to the pages.
  it('takes at most six minutes', async () => {
    const { page, problems } = await openPage(browser);
    const person = createPerson(page, () => performance.now());
    const steps: string[] = [];
    let before = person.effort();
    const step = (name: string): void => {
      const now = person.effort();
      steps.push(
        `${name}: ${String(now.clicks - before.clicks)} clicks, ${String(now.keys - before.keys)} keys, ` +
          `${(total(now) - total(before)).toFixed(0)} s`,
      );
      before = now;
    };
    /** Opens a page by the menu, after its group if that is closed. */
    const go = async (name: string): Promise<void> => {
      const navigation = page.getByRole('navigation', { name: 'Admin' });
      const entry = navigation.locator('a').filter({ hasText: new RegExp(`^${name}$`) });
      if (!(await entry.isVisible()))
        await person.click(
          navigation
            .locator('details')
            .filter({ has: page.locator('a', { hasText: new RegExp(`^${name}$`) }) })
            .locator('summary'),
        );
      await person.click(entry);
    };
    const button = (name: string) => page.getByRole('button', { name, exact: true });

    const [, link = ''] = await site.waitFor(/Set up your site: (\S+)/);
    await page.goto(link);
    await person.see(page.getByLabel('Site name'));
    await person.type(page.getByLabel('Site name'), 'Candle and Wool');
    await person.type(page.getByLabel('User name'), 'ada');
    await person.type(page.getByLabel('Email address'), 'ada@example.com');
    await person.type(page.getByLabel('Password', { exact: true }), 'correct horse battery');
    await person.type(page.getByLabel('Confirm password'), 'correct horse battery');
    await person.click(button('Set up site'));
    await person.see(page.getByRole('button', { name: /sandbox/i }));
    await person.click(page.getByRole('button', { name: /sandbox/i }));
    await person.see(page.getByRole('link', { name: 'Create your first chatbot' }));
    step('setup and sandbox');

    await person.click(page.getByRole('link', { name: 'Create your first chatbot' }));
    await person.see(page.getByRole('link', { name: 'Choose name, model and purpose' }));
    await person.click(button('Create your first chatbot'));
    await person.see(page.locator('.save-bar'));
    const settings = page.getByRole('navigation', { name: 'Settings of the chatbot' });
    await person.click(settings.getByRole('link', { name: 'Embedding' }));
    await person.click(button('Copy shortcode'));
    await go('Pages');
    await person.see(page.getByRole('link', { name: 'Add page' }).first());
    await person.click(page.getByRole('link', { name: 'Add page' }).first());
    await person.see(page.getByLabel('Title', { exact: true }));
    await person.type(page.getByLabel('Title', { exact: true }), 'Help');
    await person.paste(page.getByRole('textbox', { name: 'Content' }), '[svc_chatbot id=1]');
    await person.choose(page.getByLabel('Status'), 'Published');
    await person.click(button('Save'));
    await person.see(page.getByText('Page published.', { exact: true }));
    await person.click(page.getByRole('link', { name: 'View' }).first());
    const chat = page.locator('svc-chatbot');
    await person.see(chat.locator('.composer textarea'));
    await person.type(chat.locator('.composer textarea'), 'Hello');
    await person.click(chat.getByRole('button', { name: 'Send' }));
    await person.see(chat.locator('.entry:not(.mine)[data-state="done"]'));
    step('chatbot on a page');

    await person.click(page.getByRole('link', { name: 'Admin', exact: true }));
    await person.see(page.getByRole('heading', { level: 1 }));
    await go('Knowledge');
    await person.see(page.getByRole('textbox', { name: 'Name', exact: true }));
    await person.type(page.getByRole('textbox', { name: 'Name', exact: true }), 'Help');
    await person.choose(page.getByLabel('Vector store'), 'Chroma');
    await person.type(page.getByLabel('Index or collection'), 'help');
    await person.click(button('Create knowledge base'));
    await person.see(page.getByText('No sources yet'));
    await person.click(page.locator('#add-qa summary'));
    await person.type(page.locator('#add-qa').getByLabel('Question'), 'Can I return a candle?');
    await person.type(page.locator('#add-qa').getByLabel('Answer'), 'Yes, within 60 days.');
    await person.click(button('Add answer'));
    await person.see(page.getByText('"Can I return a candle?" added.'));
    await go('Chatbots');
    await person.click(page.locator('.row-main a').first());
    await person.see(page.locator('.save-bar'));
    await person.click(settings.getByRole('link', { name: 'Knowledge' }));
    await person.click(page.getByText('Answer from a knowledge base', { exact: true }));
    await person.choose(page.getByLabel('Knowledge base', { exact: true }), 'Help');
    await person.click(page.locator('.save-bar').getByRole('button', { name: /^Save/ }));
    await person.see(page.getByText('Assistant saved.'));
    step('knowledge');

    await go('Webhooks');
    await person.click(page.getByRole('link', { name: 'Inbox', exact: true }));
    await person.see(button('Open test inbox'));
    await person.click(button('Open test inbox'));
    await person.click(button('Send test event'));
    await person.see(page.locator('[data-live="requests"] details').first());
    step('webhook with inbox');

    await go('Budgets');
    await person.see(page.getByRole('link', { name: 'Edit Whole site' }));
    await person.click(page.getByRole('link', { name: 'Edit Whole site' }));
    await person.type(page.getByLabel('Amount'), '10');
    await person.click(button('Save budget'));
    await person.see(page.getByText('$10.00 per month'));
    step('budget');

    const effort = person.effort();
    for (const line of steps) console.log(`      ${line}`);
    console.log(
      `      ${String(effort.clicks)} clicks, ${String(effort.keys)} keys, ${String(effort.pages)} pages: ${total(effort).toFixed(0)} s, ` +
        `of which ${effort.reading.toFixed(0)} s reading; ${effort.waiting.toFixed(0)} s more waiting for the site`,
    );
    expect(total(effort)).to.be.at.most(345);
    expect(problems).to.deep.equal([]);
  });
});
