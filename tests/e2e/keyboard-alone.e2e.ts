import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { startSite, type RunningSite } from '../helpers/running-site.ts';
import { openBrowser, openPage } from './browser.ts';

/** Name of the focused element. */
const focusedName = `(() => {
  const active = document.activeElement === document.body ? null : document.activeElement;
  const name = active?.getAttribute('aria-label') || active?.labels?.[0]?.textContent || active?.textContent || '';
  return name.trim().replace(/\\s+/g, ' ');
})()`;

/** More than any page has. */
const mostTabs = 250;

describe('by keyboard alone', () => {
  let browser: Browser;
  let site: RunningSite;
  let page: Page;

  before(async () => {
    browser = await openBrowser();
    site = await startSite();
  });
  after(async () => {
    await site.stop();
    await browser.close();
  });

  /** Presses Tab, or Shift+Tab, until an element with the name has the focus. */
  const reach = async (name: string | RegExp, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> => {
    const passed = new Set<string>();
    for (let count = 0; count < mostTabs; count += 1) {
      const focused = await page.evaluate<string>(focusedName);
      if (typeof name === 'string' ? focused === name : name.test(focused)) return;
      passed.add(focused.slice(0, 30));
      await page.keyboard.press(key);
    }
    throw new Error(`Tab does not reach ${String(name)}, but ${[...passed].join(', ')}.`);
  };
  const press = async (name: string | RegExp): Promise<void> => {
    await reach(name);
    await page.keyboard.press('Enter');
  };
  const fill = async (name: string | RegExp, text: string): Promise<void> => {
    await reach(name);
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type(text);
  };

  it('setup, a chatbot, a form and a post are completed', async () => {
    const opened = await openPage(browser);
    ({ page } = opened);
    const [, link = ''] = await site.waitFor(/Set up your site: (\S+)/);
    await page.goto(link);
    await fill(/^Site name/, 'Ada’s site');
    await fill(/^User name/, 'ada');
    await fill(/^Email address/, 'ada@example.com');
    await fill(/^Password/, 'correct horse battery');
    await fill(/^Confirm password/, 'correct horse battery');
    await press('Set up site');
    await page.waitForURL('**/admin/setup/choice');
    await press(/sandbox/i);
    await page.getByRole('link', { name: 'Create your first chatbot' }).waitFor();

    await press('Create your first chatbot');
    await page.waitForURL('**/svc/bots');
    await press('Create your first chatbot');
    await page.locator('.save-bar').waitFor();
    await fill('Name', 'Shop helper');
    await press(/^Save/);
    await page.getByText('Shop helper saved.').waitFor();

    await press('Build');
    await press('AI forms');
    await page.waitForURL('**/svc/ai-forms');
    await press('Create: Product text');
    await page.getByRole('heading', { name: 'Product text', level: 1 }).waitFor();
    await fill(/^Name/, 'Slogans');
    await press(/^Save/);
    await page.getByText('Slogans saved.').waitFor();

    await press('Content');
    await press('Posts');
    await page.waitForURL('**/admin/posts');
    await press('Add post');
    await page.waitForURL('**/admin/posts/new');
    await fill('Title', 'By keyboard');
    await page.keyboard.press('Tab');
    await reach('Content');
    await page.keyboard.type('Hello ');
    await page.keyboard.press('ControlOrMeta+b');
    await page.keyboard.type('there');
    await reach('Status');
    await page.keyboard.type('Pub');
    await reach('Save', 'Shift+Tab');
    await page.keyboard.press('Enter');
    await page.getByText('Post published.', { exact: true }).waitFor();
    await press('View');
    await page.locator('.prose strong').getByText('there').waitFor();
    expect(opened.problems).to.deep.equal([]);
  });
});
