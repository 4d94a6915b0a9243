import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { becomes } from '../helpers/until.ts';
import { accessibilityViolations, overflow, until } from './browser.ts';
import { startWidgetSite, type WidgetDriver, type WidgetSite } from './widget-site.ts';

const form = {
  id: 'all',
  name: 'All fields',
  intro: 'One of **each**.',
  submit_label: '',
  thanks: 'Thanks.',
  elements: ['text', 'textarea', 'email', 'phone', 'number', 'select', 'radio', 'checkbox', 'consent'].map((type) => ({
    id: type,
    type,
    label: `A ${type}`,
    help: 'Some help.',
    required: true,
    options: ['select', 'radio', 'checkbox'].includes(type)
      ? [
          { value: '1', label: 'One' },
          { value: '2', label: 'Two' },
        ]
      : [],
  })),
};
const rule = {
  id: 'form',
  name: 'Form',
  enabled: true,
  event: 'message_received',
  conditions: [{ fact: 'message', operator: 'contains', value: 'form' }],
  action: { type: 'display_form', form_id: 'all' },
  priority: 1,
};
const everything =
  'echo: ### Heading\n\nText with `code` and [a link](https://example.com/).\n\n- one\n- two\n\n> said\n\n| A | B |\n|---|---|\n| 1 | 2 |\n\n```js\nlet one = 1;\n```';

describe('accessibility of the widget', () => {
  let site: WidgetSite;

  const focused = (page: Page): Promise<string> =>
    page.evaluate<string>(
      '(() => { let active = document.activeElement; while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement; return active?.getAttribute("aria-label") || active?.textContent || active?.localName || ""; })()',
    );
  /** Buttons, fields and links outside running text that are smaller than a fingertip. */
  const tooSmall = ({ root }: WidgetDriver): Promise<string[]> =>
    root
      .locator(
        'button:visible, .composer textarea:visible, input:visible:not([type=radio], [type=checkbox]), select:visible, label.tick:visible, summary:visible',
      )
      .evaluateAll((all) =>
        (all as unknown as { getBoundingClientRect(): { width: number; height: number }; outerHTML: string }[])
          .filter((one) => Math.min(one.getBoundingClientRect().width, one.getBoundingClientRect().height) < 39.5)
          .map((one) => one.outerHTML),
      );

  before(async () => {
    site = await startWidgetSite();
  });
  after(() => site.stop());

  it('can be used by keyboard alone, and returns the focus', async () => {
    const { page, chat, problems } = await site.visit({
      body: site.tag(await site.bot({ starters: ['echo: by key'] })),
    });
    await chat.launcher.waitFor();
    await page.keyboard.press('Tab');
    await becomes(() => focused(page), 'Open chat');
    await page.keyboard.press('Enter');
    await chat.field.waitFor();
    await becomes(() => focused(page), 'Write a message…');
    await page.keyboard.type('echo: first line');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('second line');
    await page.keyboard.press('Enter');
    await chat.answers.first().waitFor();
    await becomes(() => chat.root.locator('.mine .bubble').textContent(), 'echo: first line\nsecond line');
    for (const expected of ['Bad answer', 'Good answer', 'New answer', 'Copy']) {
      await page.keyboard.press('Shift+Tab');
      await becomes(() => focused(page), expected);
    }
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    await becomes(async () => (await focused(page)).startsWith('New chat'), true);
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowDown');
    await becomes(() => focused(page), 'Download transcript (.txt)');
    await page.keyboard.press('Escape');
    await becomes(async () => (await focused(page)).startsWith('New chat'), true);
    await page.keyboard.press('Escape');
    await becomes(() => chat.panel.isVisible(), false);
    await becomes(() => focused(page), 'Open chat');
    expect(problems).to.deep.equal([]);
  });

  it('announces a finished answer once, and not while it is streamed', async () => {
    const { page, chat } = await site.visit({ body: site.tag(await site.bot()) });
    await chat.open();
    await page.evaluate(
      `(() => { const live = document.querySelector('svc-chatbot').shadowRoot.querySelector('[aria-live]'); window.said = []; new MutationObserver(() => said.push(live.textContent)).observe(live, { childList: true }); })()`,
    );
    await chat.ask('echo: one **two** three four five six');
    await until(page, 'window.said.length === 2');
    expect(await page.evaluate('window.said')).to.deep.equal([
      'Writing an answer…',
      'Chat with us: one two three four five six',
    ]);
  });

  it('is a dialog that covers small screens, traps the focus, and fits above a keyboard', async () => {
    const { page, chat } = await site.visit(
      { body: site.tag(await site.bot()) },
      { viewport: { width: 390, height: 780 } },
    );
    await chat.open();
    await becomes(() => chat.panel.boundingBox(), { x: 0, y: 0, width: 390, height: 780 });
    expect(await chat.panel.getAttribute('aria-modal')).to.equal('true');
    await becomes(() => chat.launcher.isVisible(), false);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await becomes(() => focused(page), 'Close chat');
    await page.setViewportSize({ width: 390, height: 420 });
    await until(
      page,
      `document.querySelector('svc-chatbot').shadowRoot.querySelector('.panel').getBoundingClientRect().height === 420`,
    );
    expect((await chat.field.boundingBox())?.y).to.be.lessThan(420);
    expect(await overflow(page)).to.equal(0);
  });

  it('closes a window that covers the screen by Back, and leaves no entry when it is closed otherwise', async () => {
    const body = `<script>history.replaceState({ own: 1 }, '')</script>${site.tag(await site.bot())}`;
    const { page, chat } = await site.visit({ body }, { viewport: { width: 390, height: 780 } });
    const history = () => page.evaluate<unknown>('[history.length, history.state]');
    const [length] = (await history()) as [number];
    const address = page.url();
    await chat.open();
    await becomes(history, [length + 1, { own: 1, svcChat: Number(await chat.root.getAttribute('bot')) }]);
    await page.goBack();
    await becomes(() => chat.panel.isVisible(), false);
    expect([page.url(), await history()]).to.deep.equal([address, [length + 1, { own: 1 }]]);
    await chat.open();
    await chat.root.getByRole('button', { name: 'Close chat' }).click();
    await becomes(() => page.evaluate('history.state'), { own: 1 });
    await page.setViewportSize({ width: 1280, height: 900 });
    await chat.open();
    expect(await page.evaluate('history.state'), 'beside the page').to.deep.equal({ own: 1 });
  });

  it('aligns columns as the Markdown says, shows tasks by their box, and names a form', async () => {
    const named = { ...form, name: 'Call me back' };
    const { chat } = await site.visit({ body: site.tag(await site.bot({ forms: [named], rules: [rule] })) });
    await chat.open();
    await chat.ask('echo: form\n\n| a | b |\n|---|---:|\n| 1 | 2 |\n\n- [x] done\n- plain');
    const style = (selector: string, name: string) =>
      chat.answers
        .first()
        .locator(selector)
        .first()
        .evaluate(
          (element, property) =>
            (
              globalThis as unknown as {
                getComputedStyle(element: unknown): { getPropertyValue(name: string): string };
              }
            )
              .getComputedStyle(element)
              .getPropertyValue(property),
          name,
        );
    expect(await style('td:first-child', 'text-align')).to.equal('start');
    expect(await style('td:last-child', 'text-align')).to.match(/right|end/);
    expect(await style('.task', 'list-style-type')).to.equal('none');
    expect(await style('li:not(.task)', 'list-style-type')).to.equal('disc');
    await chat.root.getByRole('heading', { name: 'Call me back' }).waitFor();
  });

  it('supports right-to-left text, follows the page, and stays in its corner', async () => {
    const { chat } = await site.visit({
      body: site.tag(await site.bot({ look: { direction: 'rtl', position: 'top-left' } })),
    });
    await chat.open();
    const [title, field, send] = await Promise.all([
      chat.root.locator('.titles').boundingBox(),
      chat.field.boundingBox(),
      chat.root.getByRole('button', { name: 'Send' }).boundingBox(),
    ]);
    expect(send?.x).to.be.lessThan(field?.x ?? 0);
    const avatar = await chat.root.locator('.head .avatar').boundingBox();
    expect(avatar?.x).to.be.greaterThan(title?.x ?? 0);
    expect((await chat.launcher.boundingBox())?.y).to.be.lessThan(30);
    const follows = await site.visit({
      head: '<script>document.documentElement.dir = "rtl"</script>',
      body: site.tag(await site.bot()),
    });
    await follows.chat.launcher.waitFor();
    expect(await follows.chat.root.locator('.svc').getAttribute('dir')).to.equal('rtl');
  });

  it('follows the color scheme of the visitor, also while it is open', async () => {
    const { page, chat } = await site.visit(
      { body: site.tag(await site.bot({ look: { theme: 'auto', background_color: '#fffdf5' } })) },
      { colorScheme: 'dark' },
    );
    await chat.open();
    const ground = (): Promise<string> =>
      chat.panel.evaluate(
        (panel) =>
          (
            globalThis as unknown as { getComputedStyle(element: unknown): { backgroundColor: string } }
          ).getComputedStyle(panel).backgroundColor,
      );
    await becomes(ground, 'rgb(22, 26, 34)');
    await page.emulateMedia({ colorScheme: 'light' });
    await becomes(ground, 'rgb(255, 253, 245)');
  });

  it('passes axe-core', async () => {
    const { page, chat } = await site.visit({ body: site.tag(await site.bot()) });
    await chat.launcher.evaluate((launcher) =>
      (launcher as unknown as { removeAttribute(name: string): void }).removeAttribute('aria-label'),
    );
    expect((await accessibilityViolations(page)).join()).to.contain('button-name');
  });

  const looks: [string, object, BrowserContextOptions][] = [
    ['light', {}, {}],
    ['dark, with a loud colour', { theme: 'dark', primary_color: '#e0662f', corner_radius: 0, size: 'large' }, {}],
    ['with a pale colour', { theme: 'light', primary_color: '#ffe08a', text_color: '#999999', size: 'small' }, {}],
    ['at 390 pixels', {}, { viewport: { width: 390, height: 780 } }],
    [
      'without motion, from right to left',
      { direction: 'rtl', user_bubble_color: '#bbf7d0' },
      { reducedMotion: 'reduce' },
    ],
  ];
  for (const [name, look, options] of looks) {
    it(`has nothing axe-core finds, and nothing too small for a finger: ${name}`, async () => {
      const { page, chat, problems } = await site.visit(
        {
          // The page has its own banner and footer: the widget adds none.
          body: `<header>A small shop</header><footer>Imprint</footer>${site.tag(
            await site.bot({
              look,
              forms: [form],
              rules: [rule],
              starters: ['A starter'],
              texts: { subtitle: 'Subtitle' },
            }),
          )}`,
        },
        options,
      );
      await chat.launcher.waitFor();
      expect(await accessibilityViolations(page), 'closed').to.deep.equal([]);
      await chat.open();
      // What fades in has its colours in the end.
      await page.evaluate(
        `Promise.allSettled(document.querySelector('svc-chatbot').shadowRoot.getAnimations().map((animation) => animation.finished))`,
      );
      expect(await accessibilityViolations(page), 'open').to.deep.equal([]);
      expect(await tooSmall(chat)).to.deep.equal([]);
      await chat.ask(everything);
      await chat.root.getByRole('button', { name: 'Bad answer' }).click();
      await chat.ask('echo: a form');
      await chat.root.getByRole('button', { name: 'Submit' }).last().click();
      await chat.root.locator('.field-error:visible').first().waitFor();
      await page.evaluate(
        `Promise.allSettled(document.querySelector('svc-chatbot').shadowRoot.getAnimations().filter((animation) => animation.effect.getTiming().iterations === 1).map((animation) => animation.finished))`,
      );
      expect(await accessibilityViolations(page), 'conversation').to.deep.equal([]);
      expect(await tooSmall(chat)).to.deep.equal([]);
      expect(await overflow(page)).to.equal(0);
      expect(problems).to.deep.equal([]);
    });
  }
});
