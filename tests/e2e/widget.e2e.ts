import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Locator } from 'playwright-core';
import { becomes } from '../helpers/until.ts';
import { accessibilityViolations } from './browser.ts';
import { drive, startWidgetSite, type WidgetSite } from './widget-site.ts';

describe('the widget on a page of another site', () => {
  let site: WidgetSite;

  before(async () => {
    site = await startWidgetSite();
  });
  after(() => site.stop());

  it('opens, streams an answer as Markdown, and notifies the page', async () => {
    const id = await site.bot({ starters: ['echo: From a **starter**'] });
    const { page, problems, chat } = await site.visit({
      body: `<script>window.told = []; for (const name of ['open', 'message', 'reply', 'feedback']) addEventListener('svc:' + name, (event) => told.push([name, event.detail]))</script>${site.tag(id)}`,
    });
    await chat.open();
    await becomes(() => page.evaluate<string>('document.activeElement.localName'), 'svc-chatbot');
    await chat.root.getByText('Hi! I am Aurora.').waitFor();
    await chat.root.getByRole('button', { name: 'echo: From a **starter**' }).click();
    await chat.answers.first().waitFor();
    await becomes(() => chat.answers.first().innerHTML(), '<p>From a <strong>starter</strong></p>');
    await chat.ask('echo: [a link](https://example.com/) and\n\n```js\nlet one = 1;\n```');
    const link = chat.answers.nth(1).getByRole('link', { name: 'a link' });
    expect(await link.getAttribute('rel')).to.contain('noopener');
    expect(await link.getAttribute('target')).to.equal('_blank');
    await chat.answers.nth(1).getByRole('button', { name: 'Copy' }).click();
    await chat.answers.nth(1).getByText('Copied').waitFor();
    const told = () => page.evaluate<[string, Record<string, string>][]>('told');
    await becomes(async () => (await told()).map(([name]) => name), ['open', 'message', 'reply', 'message', 'reply']);
    expect((await told())[2]?.[1]?.content).to.equal('From a **starter**');
    expect(problems).to.deep.equal([]);
  });

  it('shows text as it arrives, and stops when the visitor asks', async () => {
    const { chat, problems } = await site.visit({ body: site.tag(await site.bot()) });
    await chat.open();
    await chat.field.fill(`echo: ${'word after word '.repeat(200)}`);
    await chat.field.press('Enter');
    const streaming = chat.root.locator('.entry[data-state="streaming"] .bubble');
    await streaming.filter({ hasText: 'word after word word' }).waitFor();
    await chat.root.getByRole('button', { name: 'Stop' }).click();
    await chat.answers.first().waitFor();
    expect((await chat.answers.first().textContent())?.length).to.be.lessThan(3_000);
    await chat.root.getByRole('button', { name: 'Send' }).waitFor();
    await becomes(() => chat.root.locator('.entry.partial').count(), 1);
    expect(problems).to.deep.equal([]);
  });

  it('keeps conversation, draft and open window over a reload', async () => {
    const { page, chat, problems } = await site.visit({ body: site.tag(await site.bot()) });
    await chat.open();
    await chat.ask('echo: remember me');
    await chat.field.fill('half a sentence');
    await page.reload();
    await chat.answers.getByText('remember me').waitFor();
    await becomes(() => chat.root.locator('.entry').count(), 3);
    expect(await chat.root.locator('.day').allTextContents()).to.deep.equal(['Today']);
    await becomes(() => chat.field.inputValue(), 'half a sentence');
    await chat.root.getByRole('button', { name: /^New chat/ }).click();
    await chat.root.getByRole('menuitem', { name: 'New chat' }).click();
    await chat.answers.first().waitFor({ state: 'detached' });
    await page.reload();
    await chat.root.getByText('Hi! I am Aurora.').waitFor();
    await chat.ask('echo: again');
    await becomes(() => chat.answers.allTextContents(), ['again']);
    expect(problems).to.deep.equal([]);
  });

  it('shows one conversation in two tabs, each message once', async () => {
    const { page, chat } = await site.visit({ body: site.tag(await site.bot()) });
    await chat.open();
    await chat.ask('echo: first');
    const other = await page.context().newPage();
    await other.goto(page.url());
    const there = drive(other);
    await there.launcher.click();
    await there.answers.getByText('first').waitFor();
    await there.ask('echo: second');
    await chat.answers.getByText('second').waitFor();
    await chat.ask('echo: third');
    await there.answers.getByText('third').waitFor();
    for (const tab of [chat, there]) await becomes(() => tab.answers.allTextContents(), ['first', 'second', 'third']);
    await other.reload();
    await there.answers.getByText('third').waitFor();
    await becomes(
      () => there.root.locator('.mine .bubble').allTextContents(),
      ['echo: first', 'echo: second', 'echo: third'],
    );
  });

  it('accepts ratings and a comment, and shows them after a reload', async () => {
    const { page, chat, problems } = await site.visit({ body: site.tag(await site.bot()) });
    await chat.open();
    await chat.ask('echo: rate me');
    const good = chat.root.getByRole('button', { name: 'Good answer' });
    const bad = chat.root.getByRole('button', { name: 'Bad answer' });
    const rate = () => Promise.all([page.waitForResponse(/\/feedback$/), bad.click()]);
    await good.click();
    await chat.root.locator('.thanks').getByText('Thank you for your feedback.').waitFor();
    await becomes(() => good.getAttribute('aria-pressed'), 'true');
    await rate();
    await chat.root.getByLabel('What could be better?').press('Escape');
    await becomes(() => chat.root.getByLabel('What could be better?').isVisible(), false);
    expect(await chat.panel.isVisible()).to.equal(true);
    await Promise.all([page.waitForResponse(/\/feedback$/), bad.click()]);
    await rate();
    await chat.root.getByLabel('What could be better?').fill('Everything.');
    await chat.root.getByRole('button', { name: 'Submit' }).click();
    await chat.root.locator('.thanks').getByText('Thank you for your feedback.').waitFor();
    await becomes(
      () => site.host.database.knex('svc_messages').where({ comment: 'Everything.' }).pluck<string[]>('feedback'),
      ['down'],
    );
    await page.reload();
    await chat.answers.getByText('rate me').waitFor();
    await becomes(() => bad.getAttribute('aria-pressed'), 'true');
    // A reload before the answer would end the request.
    await rate();
    await page.reload();
    await chat.answers.getByText('rate me').waitFor();
    await becomes(() => bad.getAttribute('aria-pressed'), 'false');
    expect(problems).to.deep.equal([]);
  });

  it('regenerates the last answer and replaces the old one', async () => {
    const { page, chat } = await site.visit({ body: site.tag(await site.bot()) });
    await chat.open();
    await chat.ask('echo: again');
    await page.evaluate("window.replies = 0; addEventListener('svc:reply', () => (replies += 1))");
    await chat.root.getByRole('button', { name: 'New answer' }).click();
    await becomes(() => page.evaluate<number>('replies'), 1);
    await chat.root.getByRole('button', { name: 'Send' }).waitFor();
    await becomes(() => chat.answers.count(), 1);
    await page.reload();
    await chat.answers.getByText('again').waitFor();
    await becomes(() => chat.root.locator('.entry[data-state]').count(), 2);
  });

  it('saves the transcript as text and as Markdown', async () => {
    const { page, chat } = await site.visit({ body: site.tag(await site.bot()) });
    await chat.open();
    await chat.ask('echo: **kept**');
    for (const [kind, line] of [
      ['txt', /^You \(.*\):\necho: \*\*kept\*\*$/m],
      ['md', /^\*\*You\*\* \(.*\)\n\necho: \*\*kept\*\*$/m],
    ] as const) {
      await chat.root.getByRole('button', { name: /Download transcript/ }).click();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        chat.root.getByRole('menuitem', { name: `Download transcript (.${kind})` }).click(),
      ]);
      expect(download.suggestedFilename()).to.equal(`Aurora.${kind}`);
      expect(await readFile(await download.path(), 'utf8')).to.match(line);
    }
  });

  it('asks for consent once, before anything is stored', async () => {
    const { page, chat, problems } = await site.visit({
      body: site.tag(
        await site.bot({ consent: { required: true, text: 'Read the [terms](https://example.com/terms).' } }),
      ),
    });
    await chat.launcher.click();
    await chat.root.getByRole('link', { name: 'terms' }).waitFor();
    expect(await chat.field.isVisible()).to.equal(false);
    expect(await page.evaluate('Object.keys(localStorage).length')).to.equal(0);
    await chat.root.getByRole('button', { name: 'Agree and start' }).click();
    await chat.ask('echo: agreed');
    await page.reload();
    await chat.answers.getByText('agreed').waitFor();
    await becomes(() => chat.root.getByRole('button', { name: 'Agree and start' }).isVisible(), false);
    const other = await page.context().newPage();
    await other.goto(page.url());
    const there = drive(other);
    await there.open();
    expect(problems).to.deep.equal([]);
  });

  it('lists the sources of an answer, with links to their URLs', async () => {
    const undo = site.host.hooks.addFilter('svc_chatbot_knowledge', (texts) => [
      ...texts,
      { id: '1', title: 'Returns', url: 'https://example.com/returns', text: 'Sixty days.', score: 91.4 },
      { id: '2', title: 'A leaflet', url: '', text: 'On paper.', score: 40 },
    ]);
    try {
      const knowledge = {
        enabled: true,
        store: 'qdrant',
        target: 'none',
        show_sources: true,
        embedding_provider: 'openai',
        embedding_model: 'text-embedding-3-small',
      };
      const { page, chat } = await site.visit({ body: site.tag(await site.bot({ knowledge })) });
      await chat.open();
      await chat.ask('echo: - by the book\n  - page 2\n\nOne.\n\nTwo.\n\nThree.\n\nFour.\n\nFive.\n\nSix.');
      await chat.root.getByText('Sources (2)').click();
      // What is below the sources stays in view, above the field.
      const bottomOf = async (part: Locator): Promise<number> => {
        const box = await part.boundingBox();
        return (box?.y ?? 0) + (box?.height ?? 0);
      };
      const rating = chat.root.getByRole('button', { name: 'Good answer' });
      await becomes(async () => (await bottomOf(rating)) <= ((await chat.field.boundingBox())?.y ?? 0), true);
      // Bullets are those of the first and second level, although the messages are a list too.
      const inWidget = (script: string): Promise<unknown> =>
        page.evaluate(`((root) => ${script})(document.querySelector('svc-chatbot').shadowRoot)`);
      expect(
        await inWidget(
          "[...root.querySelectorAll('.answered .bubble ul')].map((list) => getComputedStyle(list).listStyleType)",
        ),
      ).to.deep.equal(['disc', 'circle']);
      // Answers begin where the greeting does.
      const starts = (await inWidget(
        "[...root.querySelectorAll('.entry:not(.mine) .bubble')].map((bubble) => Math.round(bubble.getBoundingClientRect().x))",
      )) as number[];
      expect([starts.length, new Set(starts).size]).to.deep.equal([2, 1]);
      expect(await chat.root.getByRole('link', { name: 'Returns' }).getAttribute('href')).to.equal(
        'https://example.com/returns',
      );
      // How well they match is for administrators.
      await becomes(() => chat.root.locator('.sources li').allTextContents(), ['Returns', 'A leaflet']);
      await page.reload();
      await chat.root.getByText('Sources (2)').waitFor();
    } finally {
      undo();
    }
  });

  it('shows when the limit is reached, and when it resets', async () => {
    const guest = { amount: 1, unit: 'messages', per: 'day' };
    const { page, chat } = await site.visit({
      body: site.tag(await site.bot({ limits: { guest, message: 'That was all for today.' } })),
    });
    await chat.open();
    await chat.ask('echo: the only one');
    await chat.root.getByText('That was all for today.').waitFor();
    await chat.root.getByText(/You can write again on \w+day, \d{1,2} [A-Z]/).waitFor();
    await becomes(() => chat.field.isVisible(), false);
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    await page.reload();
    await chat.root.getByText('That was all for today.').waitFor();
    await becomes(() => chat.field.isVisible(), false);
  });

  it('stores nothing if the bot stores nothing, and still sends the history to the model', async () => {
    const { page, chat } = await site.visit({ body: site.tag(await site.bot({ privacy: { keep: false } })) });
    await chat.open();
    const [request] = await Promise.all([page.waitForRequest(/messages$/), chat.ask('echo: one')]);
    expect(request.postDataJSON()).to.deep.include({ history: [] });
    const [second] = await Promise.all([page.waitForRequest(/messages$/), chat.ask('echo: two')]);
    const [question, answer, ...others] = (second.postDataJSON() as { history: { signature?: string }[] }).history;
    expect([question, others]).to.deep.equal([{ role: 'user', content: 'echo: one' }, []]);
    expect(answer).to.include({ role: 'assistant', content: 'one' });
    expect(answer?.signature).to.match(/^[\w-]{43}$/);
    await page.reload();
    await chat.root.getByText('Hi! I am Aurora.').waitFor();
    await chat.ask('echo: three');
    await becomes(() => chat.answers.allTextContents(), ['three']);
  });

  it('loads the window when it is opened, and says who wrote an answer and when', async () => {
    const id = await site.bot();
    const { page, chat, problems } = await site.visit({ body: '' });
    const loaded: string[] = [];
    page.on('request', (request) => loaded.push(new URL(request.url()).pathname.split('/').pop() ?? ''));
    await page.goto(site.publish({ body: site.tag(id) }));
    await chat.launcher.waitFor();
    expect(loaded).to.include('widget.js').and.not.include('chat.js');
    await chat.open();
    expect(loaded).to.include('chat.js');
    await chat.ask('echo: who are you?');
    const answer = chat.root.locator('.entry[data-ai-generated="true"]');
    expect(await answer.locator('.meta').textContent()).to.match(/^AI assistant · \d\d:\d\d$/);
    expect(await answer.locator('.avatar').count()).to.equal(1);
    expect(await chat.panel.getAttribute('data-ai-disclosure')).to.equal('ai-generated');
    const silent = await site.visit({ body: site.tag(await site.bot({ look: { disclose_ai: false } })) });
    await silent.chat.open();
    await silent.chat.ask('echo: and you?');
    expect(await silent.chat.root.locator('.answered .meta').textContent()).to.match(/^\d\d:\d\d$/);
    expect(problems).to.deep.equal([]);
  });

  it('invites once, and shows beside its button the answer that arrives while it is closed', async () => {
    const { page, chat, problems } = await site.visit({
      body: site.tag(await site.bot({ look: { invite_after: 0 }, texts: { invitation: 'Questions? Ask me.' } })),
    });
    const teaser = chat.root.locator('.teaser');
    await teaser.getByText('Questions? Ask me.').waitFor();
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    await teaser.getByRole('button', { name: 'Close' }).click();
    await page.reload();
    await chat.launcher.waitFor();
    expect(await teaser.isVisible()).to.equal(false);
    await chat.open();
    await chat.ask('echo: warm up');
    await chat.field.fill(`echo: ${'a long answer '.repeat(60)}`);
    await chat.field.press('Enter');
    await chat.launcher.click();
    await teaser.getByText('a long answer').waitFor();
    await chat.root.locator('.dot').waitFor();
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    await teaser.getByText('a long answer').click();
    await chat.field.waitFor();
    await becomes(() => chat.root.locator('.dot').isVisible(), false);
    expect(problems).to.deep.equal([]);
  });

  it('asks once whether the question was answered, and stores it with the conversation', async () => {
    const { page, chat } = await site.visit({ body: site.tag(await site.bot()) });
    await chat.open();
    await chat.ask('echo: one');
    const question = chat.root.getByRole('group', { name: 'Was your question answered?' });
    expect(await question.isVisible()).to.equal(false);
    await chat.ask('echo: two');
    await question.waitFor();
    expect(await accessibilityViolations(page)).to.deep.equal([]);
    await Promise.all([page.waitForResponse(/\/solved$/), question.getByRole('button', { name: 'No' }).click()]);
    await question.getByText('What is still missing?').waitFor();
    await becomes(() => page.evaluate('document.activeElement.shadowRoot.activeElement.localName'), 'textarea');
    const stored = await site.host.database.knex('svc_conversations').pluck<string[]>('variables');
    expect(stored.filter((text) => JSON.stringify(text).includes('solved'))).to.have.length(1);
    await page.reload();
    await chat.answers.getByText('two').waitFor();
    await chat.ask('echo: three');
    expect(await question.isVisible()).to.equal(false);
  });

  it('offers to try again if the window cannot be loaded', async () => {
    const { page, chat, problems } = await site.visit({ body: site.tag(await site.bot()) });
    await chat.launcher.waitFor();
    await page.route('**/chat.js*', (route) => route.abort());
    await chat.launcher.click();
    await chat.root.locator('.teaser').getByText('Something went wrong.').waitFor();
    expect(problems.join()).to.contain('The chat window could not be loaded');
    await page.unroute('**/chat.js*');
    await chat.launcher.click();
    await chat.field.waitFor();
  });
});
