import { expect } from 'chai';
import { submissionsTable } from '../../plugins/svc/modules/chatbots/forms/submission-tables.ts';
import type { Page } from 'playwright-core';
import { becomes } from '../helpers/until.ts';
import { accessibilityViolations } from './browser.ts';
import { startWidgetSite, type WidgetSite } from './widget-site.ts';

const hostile = `<style>
  body * { display: none !important; visibility: hidden !important; opacity: 0 !important; font: italic 60px/1 fantasy !important; color: red !important; transform: rotate(90deg) !important; position: static !important; width: 1px !important; height: 1px !important; overflow: hidden !important; pointer-events: none !important; filter: blur(9px) !important; direction: rtl !important; letter-spacing: 9px !important; z-index: -1 !important; }
  button, textarea, input, div, section, p { all: unset !important; display: none !important; }
  html { font-size: 4px !important; }
</style>`;

describe('the widget on difficult pages', () => {
  let site: WidgetSite;

  /** What the widget says in the console, once it says something. */
  const complaint = async (page: Page, act: () => Promise<unknown>): Promise<string> => {
    const [message] = await Promise.all([
      page.waitForEvent('console', { predicate: (message) => message.text().startsWith('[svc chatbot]') }),
      act(),
    ]);
    return message.text();
  };
  const complaintOf = async (
    body: string,
    init: { head?: string; headers?: Record<string, string> } = {},
  ): Promise<{ page: Page; text: string }> => {
    const { page } = await site.visit({ body: '' });
    return { page, text: await complaint(page, () => page.goto(site.publish({ body, ...init }))) };
  };

  before(async () => {
    site = await startWidgetSite();
  });
  after(() => site.stop());

  it('is not broken by styles of the page', async () => {
    const { chat, problems } = await site.visit({ head: hostile, body: site.tag(await site.bot()) });
    await chat.open();
    await chat.ask('echo: still **here**');
    await becomes(async () => (await chat.panel.boundingBox())?.width, 392);
    expect((await chat.panel.boundingBox())?.height).to.be.greaterThan(500);
    const style = await chat.answers.first().evaluate((bubble) => {
      const { fontSize, letterSpacing, direction, fontStyle } = (
        globalThis as unknown as { getComputedStyle(element: unknown): Record<string, string> }
      ).getComputedStyle(bubble);
      return { fontSize, letterSpacing, direction, fontStyle };
    });
    expect(style).to.deep.equal({ fontSize: '15px', letterSpacing: 'normal', direction: 'ltr', fontStyle: 'normal' });
    expect(problems).to.deep.equal([]);
  });

  it('works under a strict content security policy, trusted types included', async () => {
    const { host } = site;
    const policy = `default-src 'none'; script-src ${host.url}; connect-src ${host.url}; img-src data:; require-trusted-types-for 'script'`;
    const { chat, problems } = await site.visit({
      body: site.tag(await site.bot()),
      headers: { 'Content-Security-Policy': policy },
    });
    await chat.open();
    await chat.ask('echo: **strict** | `code`\n\n```\nblock\n```');
    await becomes(async () => (await chat.panel.boundingBox())?.width, 392);
    expect(problems).to.deep.equal([]);
  });

  it('names the origin and the setting if a site may not show the bot, and shows nothing', async () => {
    const { page, text } = await complaintOf(
      site.tag(await site.bot({ embed: { enabled: true, any_site: false, allowed_domains: ['example.com'] } })),
    );
    expect(text).to.contain(site.origin).and.to.contain('Allowed domains');
    expect(await page.locator('svc-chatbot .svc').count()).to.equal(0);
  });

  it('reports an unknown bot, a tag without an id, and a missing target', async () => {
    expect((await complaintOf(site.tag(99_999))).text).to.contain('no active chatbot 99999');
    expect(
      (await complaintOf(`<script src="${site.host.url}/wp-json/svc-widget/v1/widget.js" async></script>`)).text,
    ).to.contain('data-bot="7"');
    expect((await complaintOf(site.tag(1).replace('data-bot="1"', 'data-bot="seven"'))).text).to.contain('"seven"');
    expect((await complaintOf(site.tag(await site.bot(), 'data-target="#nowhere"'))).text).to.contain(
      'data-target="#nowhere"',
    );
  });

  it('names the directive that blocks the connection', async () => {
    const { text } = await complaintOf(site.tag(await site.bot()), {
      headers: { 'Content-Security-Policy': `default-src 'self'; script-src ${site.host.url}` },
    });
    expect(text).to.contain('connect-src').and.to.contain(new URL(site.host.url).origin);
  });

  it('reports a service that does not respond', async () => {
    const id = await site.bot();
    const { page } = await site.visit({ body: '' });
    await page.route('**/embed-config', (route) => route.abort());
    await page.route('**/widget.css', (route) => route.abort());
    expect(await complaint(page, () => page.goto(site.publish({ body: site.tag(id) })))).to.contain('No response from');
  });

  it('shows one bot for a repeated tag, and stacks several bots', async () => {
    const [one, two] = [await site.bot(), await site.bot({ name: 'Borealis' })];
    const { page, problems } = await site.visit({ body: site.tag(one) + site.tag(one) + site.tag(two) });
    await page.locator('svc-chatbot .launcher').nth(1).waitFor();
    await becomes(() => page.locator('svc-chatbot').count(), 2);
    const boxes = await Promise.all(
      [0, 1].map((index) => page.locator('svc-chatbot .launcher').nth(index).boundingBox()),
    );
    expect(Math.abs((boxes[0]?.y ?? 0) - (boxes[1]?.y ?? 0))).to.be.greaterThan(60);
    expect(problems).to.deep.equal([]);
  });

  it('is shown in the page, in a target, as the markup of embed-config, and as a full page', async () => {
    const id = await site.bot();
    const config = (await (await site.host.fetch(`/wp-json/svc/v1/chatbots/${id}/embed-config`)).json()) as {
      html: string;
    };
    for (const body of [
      site.tag(id, 'data-mode="inline"'),
      `<div id="here" style="width: 500px"></div>${site.tag(id, 'data-target="#here"')}`,
      config.html.replace('<svc-chatbot', '<svc-chatbot mode="inline"'),
      site.tag(id, 'data-mode="page" data-theme="dark"'),
    ]) {
      const { chat, problems } = await site.visit({ body });
      await chat.field.waitFor();
      await chat.ask('echo: here I am');
      expect((await chat.panel.boundingBox())?.height).to.be.greaterThan(590);
      expect(problems).to.deep.equal([]);
    }
  });

  it('works if storage is blocked', async () => {
    const blocked = `<script>for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name, { get() { throw new DOMException('blocked', 'SecurityError'); } });</script>`;
    const { chat, problems } = await site.visit({ head: blocked, body: site.tag(await site.bot()) });
    await chat.open();
    await chat.ask('echo: one');
    await chat.ask('echo: two');
    await becomes(() => chat.answers.allTextContents(), ['one', 'two']);
    expect(problems).to.deep.equal([]);
  });

  it('keeps a message while offline, also over a reload, and sends it once', async () => {
    const { page, chat } = await site.visit({ body: site.tag(await site.bot()) });
    await chat.open();
    await chat.ask('echo: before');
    await page.context().setOffline(true);
    await chat.root.locator('.banner').getByText('You are offline.').waitFor();
    await chat.field.fill('echo: meanwhile');
    await chat.field.press('Enter');
    await chat.root.locator('.mine[data-state="waiting"]').waitFor();
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    await page.context().setOffline(false);
    await chat.answers.getByText('meanwhile').waitFor();
    await becomes(() => chat.root.locator('.banner:visible').count(), 0);
    await page.reload();
    await chat.answers.getByText('meanwhile').waitFor();
    await becomes(() => chat.root.locator('.mine .bubble').allTextContents(), ['echo: before', 'echo: meanwhile']);
  });

  it('resumes an answer after a broken stream or a reload, with the same message', async () => {
    const { page, chat } = await site.visit({ body: site.tag(await site.bot()) });
    await chat.open();
    let broken = 0;
    await page.route('**/messages', async (route) => {
      // The server has the message, the page hears nothing of it.
      if (broken++ > 0) return route.continue();
      await route.fetch();
      await route.abort('connectionreset');
    });
    await chat.ask('echo: broken off');
    await chat.field.fill(`echo: ${'left and found '.repeat(60)}`);
    await chat.field.press('Enter');
    await chat.root.locator('.entry[data-state="streaming"]').waitFor();
    await page.reload();
    await chat.answers.nth(1).waitFor();
    await becomes(() => chat.answers.nth(1).textContent(), 'left and found '.repeat(60).trim());
    await becomes(() => chat.root.locator('.mine').count(), 2);
  });

  it('offers a retry when the model fails, without the reason', async () => {
    const { page, chat } = await site.visit({ body: site.tag(await site.bot()) });
    const dial = { fault: 'garbage', rate: 1, delay_ms: 0, seed: 1, pace_ms: 20 };
    await site.host.options.update('sandbox_dial', dial);
    try {
      await chat.open();
      await chat.field.fill('hello');
      await chat.field.press('Enter');
      const again = chat.root.getByRole('button', { name: 'Try again' });
      await again.waitFor();
      expect(await chat.root.locator('.problem').textContent()).to.not.match(/OpenAI|could not be read/);
      await Promise.all([page.waitForRequest(/messages$/), again.click()]);
      await again.waitFor();
      expect(await chat.root.locator('.mine').count()).to.equal(1);
    } finally {
      await site.host.options.update('sandbox_dial', { ...dial, fault: 'none' });
    }
  });

  it('says that the model is not available, without the reason, and offers no retry that cannot help', async () => {
    const { chat } = await site.visit({ body: site.tag(await site.bot({ model: 'missing-model' })) });
    await chat.open();
    await chat.field.fill('hello');
    await chat.field.press('Enter');
    await chat.root.locator('.problem').getByText('The assistant is not available at the moment.').waitFor();
    expect(await chat.root.getByRole('button', { name: 'Try again' }).count()).to.equal(0);
  });

  it('shows forms, errors at their fields, and a thank-you text', async () => {
    const forms = [
      {
        id: 'contact',
        name: 'Contact',
        intro: 'Leave your **details**.',
        submit_label: 'Send it',
        thanks: 'We will call you.',
        elements: [
          { id: 'mail', type: 'email', label: 'Email', help: 'We write once.', required: true },
          {
            id: 'topic',
            type: 'select',
            label: 'Topic',
            required: true,
            placeholder: 'Choose',
            options: [
              { value: 'a', label: 'An order' },
              { value: 'b', label: 'A return' },
            ],
          },
          {
            id: 'when',
            type: 'radio',
            label: 'When?',
            options: [
              { value: 'am', label: 'Morning' },
              { value: 'pm', label: 'Evening' },
            ],
          },
          { id: 'phone', type: 'phone', label: 'Phone' },
          { id: 'ok', type: 'consent', label: 'You may store this', required: true },
          { id: 'title', type: 'hidden', label: 'Page title', source: 'page_title' },
          { id: 'campaign', type: 'hidden', label: 'Campaign', source: 'query:utm_source' },
        ],
      },
    ];
    const rules = [
      {
        id: 'r',
        name: 'Contact',
        enabled: true,
        event: 'message_received',
        conditions: [{ fact: 'message', operator: 'contains', value: 'contact' }],
        action: { type: 'display_form', form_id: 'contact' },
        priority: 1,
      },
    ];
    const { page, chat, problems } = await site.visit({ body: site.tag(await site.bot({ forms, rules })) });
    await page.goto(`${page.url()}?utm_source=spring`);
    await chat.open();
    await chat.ask('echo: contact');
    await chat.root.getByLabel('Email').waitFor();
    await page.reload();
    const send = chat.root.getByRole('button', { name: 'Send it' });
    await send.click();
    await becomes(
      () => chat.root.locator('.field-error:visible').allTextContents(),
      ['Please fill in this field.', 'Please fill in this field.', 'Please fill in this field.'],
    );
    await becomes(
      () =>
        chat.root
          .getByLabel('Email')
          .evaluate((field) => (field as unknown as { matches(selector: string): boolean }).matches(':focus')),
      true,
    );
    expect(await chat.root.getByText(/Page title|Campaign/).count()).to.equal(0);
    await chat.root.getByLabel('Email').fill('ada@example.com');
    await becomes(() => chat.root.locator('.field-error:visible').count(), 2);
    await chat.root.getByLabel('Topic').selectOption('A return');
    await chat.root.getByLabel('Evening').check();
    await chat.root.getByLabel('Phone').fill('none of your business');
    await chat.root.getByLabel('You may store this').check();
    await send.click();
    await chat.root.getByText('Enter a valid phone number, like +47 22 33 44 55.').waitFor();
    await chat.root.getByLabel('Phone').fill('+47 22 33 44 55');
    await send.click();
    await chat.root.locator('.sent').getByText('We will call you.').waitFor();
    await page.reload();
    await chat.answers.getByText('contact').waitFor();
    await becomes(() => send.count(), 0);
    const stored: unknown = await site.host.database.knex(submissionsTable).first('answers');
    expect((JSON.parse((stored as { answers: string }).answers) as { inputs: object }).inputs).to.deep.include({
      title: 'A small shop',
      campaign: 'spring',
    });
    expect(problems.filter((text) => !text.includes('400'))).to.deep.equal([]);
  });
});
