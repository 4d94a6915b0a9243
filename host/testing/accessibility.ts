import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

/** A page of the admin as a browser shows it. */
interface Appearance {
  readonly name: string;
  readonly width: number;
  readonly colorScheme: 'light' | 'dark';
  /** Default: all. In the dark only colors differ. */
  readonly rules?: readonly string[];
}

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary?: string }[];
}

/** The rules of axe-core that depend on colors. */
export const colorRules = ['color-contrast', 'link-in-text-block'];

const appearances: readonly Appearance[] = [
  { name: 'wide and light', width: 1280, colorScheme: 'light' },
  { name: 'wide and dark', width: 1280, colorScheme: 'dark', rules: colorRules },
  { name: '390 pixels wide', width: 390, colorScheme: 'light' },
];

export interface PagesInit {
  /** Path of Chromium. */
  readonly browser: string;
  /** Of the host, without a slash at its end. */
  readonly url: string;
  /** The header `Cookie` of a person who is signed in. */
  readonly cookie: string;
  /** Paths of the pages. */
  readonly paths: readonly string[];
}

/**
 * What axe-core finds on pages, wide and narrow, light and dark, with the path and the appearance.
 *
 * @throws Error if the browser, or a package that it needs, cannot be loaded.
 */
export async function findViolations({ browser: executablePath, url, cookie, paths }: PagesInit): Promise<string[]> {
  const { chromium } = await import('playwright-core').catch((error: unknown) => {
    throw new Error('playwright-core is not installed. Run this in the folder of the host: npm install', {
      cause: error,
    });
  });
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const context = await browser.newContext();
    await context.addCookies(
      cookie.split('; ').map((pair) => {
        const [name = '', ...value] = pair.split('=');
        return { name, value: value.join('='), url };
      }),
    );
    const page = await context.newPage();
    const found: string[] = [];
    for (const path of paths)
      for (const { name, width, colorScheme, rules } of appearances) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        const response = await page.goto(`${url}${path}`);
        // A page about one object needs its id.
        if (response?.status() === 404) continue;
        for (const violation of await accessibilityViolations(page, rules))
          found.push(`${path}, ${name}: ${violation}`);
      }
    return found;
  } finally {
    await browser.close();
  }
}

/**
 * What axe-core finds on the page at rest, as `rule (impact): first element: what is wrong with it`. The script goes in
 * past the page's content security policy.
 * @param rules Default: all.
 */
export async function accessibilityViolations(page: Page, rules?: readonly string[]): Promise<string[]> {
  await endAnimations(page);
  if (!(await page.evaluate<boolean>("'axe' in globalThis")))
    await page.evaluate(await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: { type: 'rule', values: rules } }) };
  const violations = await page.evaluate<Violation[]>(
    `axe.run(${JSON.stringify(options)}).then((result) => result.violations)`,
  );
  return violations.map(({ id, impact, nodes: [first] }) =>
    [`${id} (${impact})`, first?.target.join(' '), first?.failureSummary?.replaceAll(/\s+/g, ' ')].join(': '),
  );
}

/**
 * Ends all animations, those included that a change of theme or size just started: until then colors are between the old
 * and the new, for long in a busy browser. Endless ones are cancelled.
 */
export async function endAnimations(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    const painted = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    await painted();
    for (let running = document.getAnimations(); running.length > 0; running = document.getAnimations()) {
      for (const animation of running)
        if (animation.effect.getComputedTiming().endTime === Infinity) animation.cancel();
        else animation.finish();
      await painted();
    }
  })()`);
}
