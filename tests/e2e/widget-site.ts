import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { createSystemClock } from '../../host/clock.ts';
import { createTestHost, type TestHost } from '#testing';
import { openBrowser, openPage } from './browser.ts';

/** A page of another origin than the host's. */
export interface ForeignPage {
  readonly body: string;
  readonly head?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface WidgetSite {
  readonly host: TestHost;
  readonly browser: Browser;
  /** Origin of the other site, without a slash at its end. */
  readonly origin: string;
  /** Makes a bot of the sandbox that any site may show; answers its id. */
  bot(settings?: Readonly<Record<string, unknown>>): Promise<number>;
  /** The script tag, as it is copied from the admin. */
  tag(botId: number, attributes?: string): string;
  /** Puts a page on the other site; answers its address. */
  publish(page: ForeignPage): string;
  /** Opens a page with the bot in a browser session of its own. */
  visit(
    page: ForeignPage,
    options?: BrowserContextOptions,
  ): Promise<{ page: Page; problems: string[]; chat: WidgetDriver }>;
  stop(): Promise<void>;
}

/** The widget of a page as a visitor uses it. */
export interface WidgetDriver {
  readonly root: Locator;
  readonly launcher: Locator;
  readonly panel: Locator;
  readonly field: Locator;
  readonly answers: Locator;
  open(): Promise<void>;
  /** Sends and waits until the answer is complete. */
  ask(text: string): Promise<void>;
}

export function drive(page: Page): WidgetDriver {
  const root = page.locator('svc-chatbot');
  const field = root.locator('.composer textarea');
  const launcher = root.locator('.launcher');
  const answers = root.locator('.entry:not(.mine)[data-state="done"] .bubble');
  return {
    root,
    launcher,
    field,
    answers,
    panel: root.locator('.panel'),
    async open() {
      await launcher.click();
      await field.waitFor();
    },
    async ask(text) {
      const before = await answers.count();
      await field.fill(text);
      await field.press('Enter');
      // The first answer of a host loads all that makes answers.
      await answers.nth(before).waitFor({ timeout: 45_000 });
    },
  };
}

export async function startWidgetSite(): Promise<WidgetSite> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-widget-'));
  const host = await createTestHost({ plugins: ['svc', 'sandbox'], database: folder, clock: createSystemClock() });
  await host.cli('svc', 'sandbox', 'on');
  const pages = new Map<string, ForeignPage>();
  const server = await serve(pages);
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const browser = await openBrowser();
  const publish = (page: ForeignPage): string => {
    const path = `/${pages.size}.html`;
    pages.set(path, page);
    return origin + path;
  };
  return {
    host,
    browser,
    origin,
    publish,
    async bot(settings = {}) {
      const bot = {
        name: 'Aurora',
        status: 'active',
        provider: 'openai',
        model: 'gpt-5-mini',
        greeting: 'Hi! I am **Aurora**.',
        embed: { enabled: true, any_site: true, allowed_domains: [] },
        ...settings,
      };
      const { code, out, err } = await host.cli('svc', 'bot', 'create', '--json', JSON.stringify(bot));
      if (code !== 0) throw new Error(err);
      return (JSON.parse(out) as { id: number }).id;
    },
    tag: (botId, attributes = '') =>
      `<script src="${host.url}/wp-json/svc-widget/v1/widget.js" data-bot="${botId}" ${attributes} async></script>`,
    async visit(page, options) {
      const opened = await openPage(browser, options);
      await opened.page.goto(publish(page));
      return { ...opened, chat: drive(opened.page) };
    },
    async stop() {
      await browser.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await host.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function serve(pages: ReadonlyMap<string, ForeignPage>): Promise<Server> {
  const server = createServer((request, response) => {
    const page = pages.get((request.url ?? '').split('?', 1)[0] ?? '');
    response.writeHead(page ? 200 : 404, { 'Content-Type': 'text/html; charset=utf-8', ...page?.headers });
    response.end(
      page &&
        `<!doctype html><html lang="en"><head><meta name="viewport" content="width=device-width"><title>A small shop</title><link rel="icon" href="data:,">${page.head ?? ''}</head><body><main><h1>A small shop</h1><p>Candles, soap, and things made of wool.</p></main>${page.body}</body></html>`,
    );
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}
