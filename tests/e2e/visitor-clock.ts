import type { Locator, Page } from 'playwright-core';

/**
 * Seconds of the keystroke-level model of Card, Moran and Newell: a key press of an average typist, pointing, pressing and
 * releasing a mouse button, moving the hand between keyboard and mouse, and deciding what to do next.
 */
const seconds = { key: 0.28, point: 1.1, button: 0.2, home: 0.4, decide: 1.35 } as const;

/** Words that a reader takes in per second, and the share of a page's words that are read (Nielsen, 2008). */
const wordsPerSecond = 250 / 60;
const shareRead = 0.28;

export interface Effort {
  readonly clicks: number;
  readonly keys: number;
  readonly pages: number;
  /** Seconds of hands and decisions, of reading, and of waiting for the site. */
  readonly acting: number;
  readonly reading: number;
  readonly waiting: number;
}

/** A person at the page, whose clicks, key presses and seconds are counted. */
export interface Person {
  click(target: Locator): Promise<void>;
  /** Clicks on the field and types the text, instead of what is in it. */
  type(target: Locator, text: string): Promise<void>;
  /** Opens the list with a click and chooses with another. */
  choose(target: Locator, label: string): Promise<void>;
  /** Copies with one click and inserts with two keys. */
  paste(target: Locator, text: string): Promise<void>;
  /** Waits for what the site does, and reads the page if it is a new one. */
  see(target: Locator): Promise<void>;
  effort(): Effort;
}

export function createPerson(page: Page, now: () => number): Person {
  const effort = { clicks: 0, keys: 0, pages: 0, acting: 0, reading: 0, waiting: 0 };
  const read = new Set<string>();
  let onMouse = true;
  const hand = (wantsMouse: boolean): void => {
    if (onMouse !== wantsMouse) effort.acting += seconds.home;
    onMouse = wantsMouse;
  };
  const waitFor = async (act: () => Promise<unknown>): Promise<void> => {
    const start = now();
    await act();
    effort.waiting += (now() - start) / 1_000;
  };
  const countClick = (): void => {
    hand(true);
    effort.clicks += 1;
    effort.acting += seconds.decide + seconds.point + seconds.button;
  };
  const countKeys = (count: number): void => {
    hand(false);
    effort.keys += count;
    effort.acting += count * seconds.key;
  };
  const click = async (target: Locator): Promise<void> => {
    countClick();
    await waitFor(() => target.click());
  };
  return {
    click,
    async type(target, text) {
      await click(target);
      if ((await target.inputValue()) !== '') {
        countKeys(2);
        await target.press('ControlOrMeta+a');
      }
      countKeys(text.length);
      await waitFor(() => target.pressSequentially(text));
    },
    async choose(target, label) {
      countClick();
      countClick();
      await waitFor(() => target.selectOption({ label }));
    },
    async paste(target, text) {
      await click(target);
      countKeys(2);
      await waitFor(() => page.keyboard.insertText(text));
    },
    async see(target) {
      await waitFor(() => target.waitFor());
      const path = new URL(page.url()).pathname;
      if (read.has(path)) return;
      read.add(path);
      effort.pages += 1;
      // Closed lists show one line.
      const [all, options] = await Promise.all([
        page.locator('main').innerText(),
        page.locator('main select').evaluateAll((lists) => lists.map(({ textContent }) => textContent ?? '').join(' ')),
      ]);
      const words = all.split(/\s+/).length - options.trim().split(/\s+/).length;
      effort.reading += (words * shareRead) / wordsPerSecond;
    },
    effort: () => ({ ...effort }),
  };
}
