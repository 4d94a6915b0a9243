import type { Locator, Page } from 'playwright-core';
import { createSystemClock } from '../../host/clock.ts';
import type { TestHost } from '#testing';
import { ada, openAdmin, openBrowser } from './browser.ts';
import { createMigratedHost } from '../helpers/migrated.ts';

/** A site with the service and the sandbox, and Ada, its administrator, in a browser. */
export interface BotsSite {
  readonly host: TestHost;
  readonly page: Page;
  /** Errors of the page's console so far. */
  readonly problems: string[];
  /** The widget in the preview. */
  readonly preview: Locator;
  signIn(options?: object): Promise<{ readonly page: Page; readonly problems: string[] }>;
  /** Makes a bot of a test's own and opens it in the editor, or at another page. Answers its id. */
  open(settings?: object, at?: string): Promise<number>;
  bot(id: number): Promise<{ readonly name: string }>;
  save(): Promise<void>;
  /** Shows a section of the editor. */
  section(name: string): Promise<void>;
  /** Says something to the bot in the preview. */
  say(text: string): Promise<void>;
  stop(): Promise<void>;
}

export async function openBotsSite(): Promise<BotsSite> {
  const host = await createMigratedHost({ plugins: ['svc', 'sandbox'], clock: createSystemClock() });
  await host.users.create(ada);
  const browser = await openBrowser();
  const signIn = (options = {}): ReturnType<BotsSite['signIn']> => openAdmin(browser, host, options);
  const { page, problems } = await signIn();
  const preview = page.locator('svc-chatbot');
  return {
    host,
    page,
    problems,
    preview,
    signIn,
    async open(settings = {}, at = 'edit?id=') {
      await host.cli('svc', 'sandbox', 'on');
      const { out, err } = await host.cli(
        'svc',
        'bot',
        'create',
        '--json',
        JSON.stringify({ name: 'Assistant', embed: { enabled: true }, ...settings }),
      );
      if (err !== '') throw new Error(err);
      const { id } = JSON.parse(out) as { id: number };
      await page.goto(`${host.url}/admin/svc/bots/${at}${String(id)}`);
      return id;
    },
    bot: async (id) => JSON.parse((await host.cli('svc', 'bot', 'get', String(id), '--json')).out) as { name: string },
    save: () => page.locator('.save-bar').getByRole('button', { name: /^Save/ }).click(),
    section: (name) =>
      page
        .getByRole('navigation', { name: 'Settings of the chatbot' })
        .getByRole('link', { name, exact: true })
        .click(),
    async say(text) {
      await preview.getByRole('textbox').first().fill(text);
      await preview.getByRole('button', { name: 'Send' }).click();
    },
    async stop() {
      await browser.close();
      await host.stop();
    },
  };
}

/** Whether a violation is one of the page itself; what is inside the widget is looked at where the widget is tested. */
export const isOfPage = (violation: string): boolean => !violation.includes('svc-chatbot');
