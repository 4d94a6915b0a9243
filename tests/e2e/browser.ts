import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { accessibilityViolations, colorRules } from '../../host/testing/accessibility.ts';
import { becomes } from '../helpers/until.ts';

export { accessibilityViolations, endAnimations } from '../../host/testing/accessibility.ts';

/** The browser without a window comes first: it takes a quarter less processor time. */
const candidates = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'].map(
  (name) => `/usr/bin/${name}`,
);

/** The path of the system's Chromium. */
export function findBrowser(): string {
  const found = candidates.find((path) => existsSync(path));
  if (!found) throw new Error(`No browser found at ${candidates.join(', ')}; on Debian: apt-get install chromium`);
  return found;
}

/** Starts the system's Chromium without any connection of its own to the outside. */
export async function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: findBrowser(),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/** A page in a session of its own; its console errors and failed requests are collected in `problems`. */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; problems: string[] }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  // Enough for a machine that does much else.
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  return { page, problems };
}

/** The administrator that tests make and sign in as. */
export const ada = {
  login: 'ada',
  displayName: 'Ada Lovelace',
  email: 'ada@example.com',
  password: 'correct horse battery',
  role: 'administrator',
} as const;

/** Signs in, by default as Ada, and waits for the start of the admin. */
export async function signIn(
  page: Page,
  {
    url,
    login = ada.login,
    password = ada.password,
  }: { readonly url: string; readonly login?: string; readonly password?: string },
): Promise<void> {
  await page.goto(`${url}/admin/login`);
  await page.getByLabel('User name or email').fill(login);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL('**/admin/');
}

/** A page in a session of its own where Ada is signed in, and its problems. */
export async function openAdmin(
  browser: Browser,
  site: { readonly url: string },
  options: BrowserContextOptions = {},
): ReturnType<typeof openPage> {
  const opened = await openPage(browser, options);
  await signIn(opened.page, site);
  return opened;
}

/** Waits for the question of the page, whose title it returns, and confirms it. */
export async function confirmQuestion(page: Page): Promise<string> {
  const dialog = page.getByRole('dialog');
  const question = (await dialog.textContent()) ?? '';
  await dialog.getByRole('button').first().click();
  return question;
}

/** Makes the window so wide, and waits until the page has heard of it. */
export async function setWidth(page: Page, width: number): Promise<void> {
  await page.setViewportSize({ width, height: 900 });
  await becomes(() => page.evaluate<number>('innerWidth'), width);
}

/** The width by which the page's content overflows its window, in pixels; 0 when it fits. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate<number>(
    'Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)',
  );
}

/**
 * Expects of the page, wide and narrow, light and dark, that axe-core finds nothing and that it fits its window. In the dark
 * only colors differ, so the rules about them are enough there. Leaves the page wide and light.
 */
export async function expectLooks(
  page: Page,
  {
    load = () => Promise.resolve(),
    isOwn = () => true,
    picture = () => Promise.resolve(),
  }: {
    /** Brings the page to its state at each width. Default: the page stays as it is. */
    readonly load?: () => Promise<unknown>;
    /** Whether a violation counts. Default: each. */
    readonly isOwn?: (violation: string) => boolean;
    /** Is called for each look, with for example `390-dark`. */
    readonly picture?: (look: string) => Promise<unknown>;
  } = {},
): Promise<void> {
  const looks: Record<string, readonly (string | number)[]> = {};
  for (const width of [1280, 390]) {
    await setWidth(page, width);
    await load();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const violations = await accessibilityViolations(page, colorScheme === 'dark' ? colorRules : undefined);
      const look = `${String(width)}-${colorScheme}`;
      looks[look] = [...violations.filter(isOwn), await overflow(page)];
      await picture(look);
    }
    await page.emulateMedia({ colorScheme: 'light' });
  }
  await setWidth(page, 1280);
  expect(looks, 'violations, and pixels by which the page overflows').to.deep.equal({
    '1280-light': [0],
    '1280-dark': [0],
    '390-light': [0],
    '390-dark': [0],
  });
}

/** Opens all that is folded in the page's main part. */
export function openDetails(page: Page): Promise<void> {
  return page.evaluate('for (const details of document.querySelectorAll("main details")) details.open = true');
}

/** Waits until the expression is true on the page. `page.waitForFunction` evaluates it from within, which the site's content security policy forbids. */
export async function until(page: Page, expression: string): Promise<void> {
  while ((await page.evaluate(expression)) !== true)
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))');
}
