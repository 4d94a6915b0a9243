import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { englishTexts } from '../host/english-texts.ts';
import { becomes } from '../helpers/until.ts';
import { startWidgetSite, type WidgetSite } from './widget-site.ts';

/** What the visitor wrote, and the day of the messages in the language of the page. */
const data = /^(echo: \d|Heute)$/;
/** The language of the page is that of dates. */
const german = '<script>document.documentElement.lang = "de";</script>';

/** The texts of the widget, shown or hidden, that bypass translation. */
async function englishIn(page: Page): Promise<string[]> {
  const html = await page.evaluate<string>('document.querySelector("svc-chatbot").shadowRoot.innerHTML');
  expect(html).to.include('⟦');
  return englishTexts(html.replace(/ lang="de"/g, '')).filter((text) => !data.test(text));
}

describe('the widget of a site in the pseudo-language', () => {
  let site: WidgetSite;
  before(async () => {
    site = await startWidgetSite();
    await site.host.options.update('WPLANG', 'en_XA');
  });
  after(() => site.stop());

  const visit = async (settings: object) => {
    const id = await site.bot({ name: '1', greeting: undefined, ...settings });
    return site.visit({ body: german + site.tag(id) });
  };

  it('has no English text: invitation, consent, form, answer, rating, transcript, offline, limit', async () => {
    const undo = site.host.hooks.addFilter('svc_chatbot_knowledge', (texts) => [
      ...texts,
      { id: '1', title: '8', url: '', text: '9', score: 90 },
    ]);
    const { page, chat } = await visit({
      look: { invite_after: 0 },
      texts: { invitation: '1' },
      consent: { required: true },
      limits: { guest: { amount: 4, unit: 'messages', per: 'day' } },
      knowledge: {
        ...{ enabled: true, store: 'qdrant', target: 'none', show_sources: true },
        ...{ embedding_provider: 'openai', embedding_model: 'text-embedding-3-small' },
      },
      forms: [{ id: 'f', name: '2', elements: [{ id: 'a', type: 'text', label: '3', required: true }] }],
      rules: [
        {
          ...{ id: 'r', name: '4', enabled: true, event: 'message_received', priority: 1 },
          conditions: [{ fact: 'message', operator: 'contains', value: '0' }],
          action: { type: 'display_form', form_id: 'f' },
        },
      ],
    });
    const { root } = chat;
    const states: Record<string, string[]> = {};
    const note = async (state: string): Promise<void> => {
      const found = await englishIn(page);
      if (found.length > 0) states[state] = found;
    };
    const press = (name: string): Promise<void> => root.getByRole('button', { name, exact: true }).last().click();
    try {
      await root.locator('.teaser').getByText('1').waitFor();
      await note('invitation');
      await chat.launcher.click();
      await root.getByRole('button', { name: '⟦Àgrèè àñd stàrt⟧' }).waitFor();
      await note('consent');
      await press('⟦Àgrèè àñd stàrt⟧');
      await chat.field.waitFor();
      await note('greeting');
      await chat.ask('echo: 0');
      await press('⟦Sùbmìt⟧');
      await root.locator('.field-error:visible').waitFor();
      await note('form');
      await root.getByLabel('3').fill('5');
      await Promise.all([page.waitForResponse(/\/forms/), press('⟦Sùbmìt⟧')]);
      await becomes(() => root.getByLabel('3').isVisible(), false);
      await chat.ask('echo: 1');
      await root.getByRole('group', { name: '⟦Wàs ýòùr qùèstìòñ àñswèrèd?⟧' }).waitFor();
      await note('was this solved');
      await Promise.all([page.waitForResponse(/\/solved$/), press('⟦Ñò⟧')]);
      await note('not solved');
      await Promise.all([page.waitForResponse(/\/feedback$/), press('⟦Bàd àñswèr⟧')]);
      await root.getByLabel('⟦Whàt çòùld bè bèttèr?⟧').last().fill('6');
      await note('comment');
      await press('⟦Sùbmìt⟧');
      await root.locator('.thanks').getByText('⟦').waitFor();
      await note('thanks');
      await root.locator('.menu-frame > button').click();
      await note('menu');
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        root.getByRole('menuitem', { name: '(.txt)' }).click(),
      ]);
      const transcript = await readFile(await download.path(), 'utf8');
      expect(transcript).to.match(/^⟦Ýòù⟧ \(\d\d\.\d\d\.\d{4}, \d\d:\d\d\):\necho: 1$/m);
      await page.context().setOffline(true);
      await root.locator('.banner:visible').waitFor();
      await chat.field.fill('echo: 2');
      await chat.field.press('Enter');
      await root.locator('.mine[data-state="waiting"]').waitFor();
      await note('offline');
      await page.context().setOffline(false);
      await chat.answers.getByText('2', { exact: true }).waitFor();
      await chat.ask('echo: 3');
      await becomes(() => chat.field.isVisible(), false);
      await note('limit');
      expect(states).to.deep.equal({});
    } finally {
      undo();
    }
  });

  it('has no English text where an answer, the window or the visitor’s account is missing', async () => {
    const failing = await visit({ model: 'missing-model' });
    await failing.page.route('**/chat.js*', (route) => route.abort());
    await failing.chat.launcher.click();
    await failing.chat.root.locator('.teaser').getByText('⟦').waitFor();
    expect(await englishIn(failing.page), 'no window').to.deep.equal([]);
    await failing.page.unroute('**/chat.js*');
    await failing.chat.launcher.click();
    await failing.chat.field.fill('echo: 1');
    await failing.chat.field.press('Enter');
    await failing.chat.root.locator('.problem').waitFor();
    expect(await englishIn(failing.page), 'no answer').to.deep.equal([]);

    const closed = await visit({ limits: { allow_guests: false } });
    await closed.chat.launcher.click();
    await closed.chat.root.locator('.limit:visible').waitFor();
    expect(await englishIn(closed.page), 'no account').to.deep.equal([]);
  });
});
