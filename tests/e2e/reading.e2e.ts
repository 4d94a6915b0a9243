import { mkdirSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { openAdmin, openBrowser, openPage, overflow, setWidth } from './browser.ts';
import { startReadingSite, type ReadingSite } from './reading-site.ts';

/** PICTURES=<folder> takes a picture of each page in each width and both themes. */
const pictures = process.env['PICTURES'];

/** What a person must not meet on a page: values as the database has them, raw seconds, texts that are cut off or have to be scrolled to. */
const findProblems = String.raw`(() => {
  const values = /^(draft|publish|pending|private|future|trash|openai|azure|google|openrouter|claude|deepseek|xai|ollama|missing|always|never|delivering|delivered|queued|running|completed|indexed|administrator|subscriber|editor)$/;
  const visible = (element) => element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const problems = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const element = node.parentElement;
    const text = node.data.trim();
    if (text === '' || element.closest('script, style, code, pre, kbd, textarea, datalist, svg, [data-raw]')) continue;
    // "3 running" is a sentence: the noun stands behind its number, as on phones.
    if (element.matches('.row-unit') && /^\d/.test(element.parentElement.textContent.trim())) continue;
    if (!(element.tagName === 'OPTION' || visible(element))) continue;
    if (values.test(text)) problems.push('raw value: ' + text);
    if (/\b\d{3,}\s?(seconds|s)\b|\b\d{5,}\s?(ms|milliseconds)\b/.test(text)) problems.push('raw duration: ' + text.slice(0, 80));
    if (/\b(undefined|NaN)\b|\[object Object\]|^null$/.test(text)) problems.push('no value: ' + text.slice(0, 80));
  }
  for (const element of document.querySelectorAll('button, .button, .badge, th, label, legend, h1, h2, h3, summary, .tab, nav a')) {
    if (!visible(element) || element.closest('.visually-hidden')) continue;
    const style = getComputedStyle(element);
    const hides = style.overflowX === 'hidden' || style.overflowX === 'clip';
    if (hides && element.scrollWidth > element.clientWidth + 1) problems.push('cut off: ' + element.textContent.trim().slice(0, 60));
  }
  for (const element of document.querySelectorAll('main :is(.table-wrap, .tabs)'))
    if (visible(element) && element.scrollWidth > element.clientWidth + 1)
      problems.push('scrolls sideways: ' + (element.ariaLabel ?? element.textContent.trim().slice(0, 60)));
  return [...new Set(problems)];
})()`;

/** Paths of links on the page that stay in the admin, without what a visit would change. */
const findLinks = String.raw`[...document.querySelectorAll('a[href]')]
  .filter((link) => link.origin === location.origin && link.pathname.startsWith('/admin') && !link.hasAttribute('download'))
  .map((link) => link.pathname + link.search)
  .filter((path) => !/logout|export|download|format=/.test(path))`;

/** Scripts of the page, with those that they import. */
const findScripts = String.raw`[...new Set(
  performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => /\.js(\?|$)/.test(name)),
)]`;

/** The layout shift that a page may have when it opens, less than a line of text that moves by its height: 0.1 counts as good. */
const maxShift = 0.005;

/** How long scripts and pictures are held back, in milliseconds: each page is painted without them first, as over a slow line. */
const lateBy = 150;

/** Parts of a page that it requests once it has opened. */
const loadingPart = '[data-load][aria-busy="true"]';

/** Adds up how far elements move by themselves while a page opens, as the metric "cumulative layout shift" does. */
const watchShifts = String.raw`
  globalThis.layoutShift = { total: 0, shifted: [] };
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, value, sources } of list.getEntries()) {
      if (hadRecentInput) continue;
      globalThis.layoutShift.total += value;
      globalThis.layoutShift.shifted.push(...sources.map(({ node }) => (node?.outerHTML ?? '').slice(0, 60)));
    }
  }).observe({ type: 'layout-shift', buffered: true });
`;

/** Pages where a person does one thing: writes, creates, changes, checks. */
const taskPages = [
  'svc/content',
  'svc/content/template',
  'svc/tasks/edit?type=content_writing',
  'svc/images',
  'svc/images/edit',
  'svc/images/video',
  'svc/images/visitors',
  'svc/bots/new',
  'svc/bots/edit?id=1',
  'svc/bots/rule?bot=1',
  'svc/bots/form?bot=1',
  'svc/ai-forms/edit?id=1',
  'svc/knowledge',
  'svc/webhooks/endpoint',
  'svc/budgets?new=1',
  'svc/budgets?edit=all',
  'svc/keys?new=1',
  'svc/prices?new=1',
  'svc/failover',
  'svc/check-site',
  'posts/new',
  'pages/new',
  'terms/category',
  'media',
  'users/new',
  'users/edit?id=2',
  'profile',
  'settings',
  'settings/mail',
];

/** The bottoms of the primary buttons, in pixels from the top of the page; those in a bar that stays in view are left out. */
const findBuried = String.raw`(() => {
  const buttons = [...document.querySelectorAll('main .button-primary')].filter((button) => button.checkVisibility());
  const isNear = (button) =>
    button.getBoundingClientRect().bottom <= (button.closest('.save-bar') === null ? 400 : innerHeight);
  return buttons.some(isNear) ? [] : buttons.map((button) => Math.round(button.getBoundingClientRect().bottom));
})()`;

describe('every page, read as a person would', function () {
  this.timeout(600_000);
  let site: ReadingSite;
  let browser: Browser;
  const opened: (() => Promise<void>)[] = [];
  before(async () => {
    site = await startReadingSite();
    opened.push(() => site.stop());
    browser = await openBrowser();
    opened.push(() => browser.close());
  });
  after(async () => {
    for (const close of opened.reverse()) await close();
  });

  /** Two pages that differ in ids and filters alone are read once; of combined filters only the first is read. */
  const kindOf = (path: string): string => {
    const [page = '', query = ''] = path.split('?');
    return `${page}?${query.split('&')[0]?.replace(/=.*/, '') ?? ''}`.replace(/\d+/g, '#');
  };

  const sizes = new Map<string, number>();
  /** The scripts that the page has loaded, in bytes with gzip. */
  async function scriptSize(page: Page): Promise<number> {
    let size = 0;
    for (const source of await page.evaluate<string[]>(findScripts)) {
      const known = sizes.get(source) ?? gzipSync(Buffer.from(await (await fetch(source)).arrayBuffer())).length;
      sizes.set(source, known);
      size += known;
    }
    return size;
  }

  /** What a page that has just been opened costs: the size of its scripts, and what moved by itself. */
  async function loadProblems(page: Page, path: string): Promise<string[]> {
    const limit = /^\/admin\/(posts|pages)\/(new|edit)/.test(path) ? 150_000 : 60_000;
    const size = await scriptSize(page);
    const { total, shifted } = await page.evaluate<{ total: number; shifted: string[] }>('globalThis.layoutShift');
    return [
      ...(size > limit ? [`loads ${String(size)} bytes of script`] : []),
      ...(total > maxShift ? [`moves by ${String(total)}: ${shifted.join(', ')}`] : []),
    ];
  }

  async function readAll(page: Page, start: readonly string[]): Promise<Map<string, string[]>> {
    await page.addInitScript(watchShifts);
    await page.route(/\.(js|png|jpe?g|webp|gif|svg|woff2)(\?|$)|uploads/, async (route) => {
      await setTimeout(lateBy);
      await route.continue();
    });
    const found = new Map<string, string[]>();
    const read = new Set<string>();
    const waiting = [...start];
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
      if (read.has(kindOf(path)) || read.size > 150) continue;
      read.add(kindOf(path));
      const response = await page.goto(`${site.host.url}${path}`);
      await page.locator(loadingPart).first().waitFor({ state: 'detached' });
      await setTimeout(lateBy);
      const cost = await loadProblems(page, path);
      if (cost.length > 0) found.set(`${path} when it is opened`, cost);
      // The next page opens as wide as this one was last: every other page opens in a narrow window.
      for (const width of read.size % 2 === 0 ? [1280, 1024, 320, 390] : [390, 320, 768, 1280]) {
        await setWidth(page, width);
        const problems = await page.evaluate<string[]>(findProblems);
        if ((response?.status() ?? 0) >= 500) problems.push(`status ${String(response?.status())}`);
        if ((await overflow(page)) > 0) problems.push(`overflows by ${String(await overflow(page))} px`);
        if (problems.length > 0) found.set(`${path} at ${String(width)} px`, problems);
        await picture(page, path, width);
      }
      waiting.push(...(await page.evaluate<string[]>(findLinks)));
    }
    expect(read.size, 'pages read').to.be.greaterThan(start.length);
    return found;
  }

  async function picture(page: Page, address: string, width: number): Promise<void> {
    if (pictures === undefined) return;
    mkdirSync(pictures, { recursive: true });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const name = address.replace(/\W+/g, '-').replace(/^-|-$/g, '');
      const path = `${pictures}/${name}-${String(width)}-${colorScheme}.png`;
      // The end of transitions: those between the themes have just begun.
      await page.screenshot({ path, fullPage: true, animations: 'disabled' });
    }
  }

  it('has the primary button of each task in the first 400 pixels, or in a bar that stays in view', async () => {
    const { page } = await openAdmin(browser, site.host);
    const buried: Record<string, unknown> = {};
    for (const path of taskPages) {
      const response = await page.goto(`${site.host.url}/admin/${path}`);
      if (response?.status() !== 200) buried[path] = response?.status();
      else if ((await page.locator('main .button-primary').count()) === 0) buried[path] = 'none';
      else {
        const bottoms = await page.evaluate<number[]>(findBuried);
        if (bottoms.length > 0) buried[path] = bottoms;
      }
    }
    expect(buried).to.deep.equal({});
  });

  it('shows no raw value, no raw duration and nothing cut off to an administrator', async () => {
    const { page, problems } = await openAdmin(browser, site.host);
    expect(Object.fromEntries(await readAll(page, ['/admin/', '/admin/svc']))).to.deep.equal({});
    expect(problems).to.deep.equal([]);
  });

  it('shows none to a visitor of the public site', async () => {
    const { page } = await openPage(browser);
    expect(Object.fromEntries(await readAll(page, ['/', '/webhook-events', '/admin/login', '/nothing']))).to.deep.equal(
      {},
    );
  });
});
