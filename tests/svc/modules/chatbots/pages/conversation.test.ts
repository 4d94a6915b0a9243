import { expect } from 'chai';
import { describeBotsAdmin } from './bots-admin.ts';

describeBotsAdmin('the page of a conversation', (admin) => {
  /** Starts conversations, the newest last, and returns their ids. */
  async function start(texts: readonly string[]): Promise<readonly string[]> {
    const { host, add } = admin();
    const { id } = await add();
    const { key } = JSON.parse((await host.cli('svc', 'key', 'generate', '--json')).out) as { key: string };
    await host.cli('svc', 'sandbox', 'on');
    const uuids = texts.map((_, index) => `5f8e0c5a-9b3d-4e42-8f1d-${String(index).padStart(12, '0')}`);
    for (const [index, content] of texts.entries()) {
      const { status } = await host.fetch(`/wp-json/svc/v1/chat/${String(id)}/message`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify({ conversation_uuid: uuids[index], messages: [{ role: 'user', content }] }),
      });
      expect(status).to.equal(200);
    }
    return uuids;
  }

  const plain = (html: string): string => html.replaceAll('&#x3D;', '=').replaceAll('&amp;', '&');

  it('shows the chat beside the list that it was opened from, and returns to it', async () => {
    const { browser } = admin();
    const [first = '', second = ''] = await start(['echo: red shoes', 'echo: blue shoes', 'echo: a hat']);
    const list = plain((await browser.get('/admin/svc/logs?text=shoes')).html);
    expect(list).to.contain(`/admin/svc/conversation?conversation=${first}&text=shoes"`);
    const page = await browser.get(`/admin/svc/conversation?conversation=${first}&text=shoes`);
    const [beside = '', chat = ''] = plain(page.html).split('split-list')[1]?.split('</nav>') ?? [];
    expect(beside)
      .to.contain('/admin/svc/logs?text=shoes"')
      .and.contain(`conversation=${first}&text=shoes" aria-current="true"`)
      .and.contain(`conversation=${second}&text=shoes">`)
      .and.not.contain('a hat');
    expect(chat).to.contain('transcript-answer').and.contain('red shoes').and.not.contain('blue shoes');
    const deleted = await browser.submit('/admin/svc/conversation?conversation=' + first, 'delete', {
      conversation: first,
      back: 'text=shoes',
    });
    expect(deleted.text).to.contain('Conversation deleted').and.contain('1 conversation').and.contain('Text: shoes');
  });

  it('pages the list without leaving the chat', async () => {
    const { browser } = admin();
    const uuids = await start(Array.from({ length: 21 }, (_, index) => `echo: order ${String(index)}`));
    const newest = uuids.at(-1) ?? '';
    const first = plain((await browser.get(`/admin/svc/conversation?conversation=${newest}`)).html);
    expect(first).to.contain(`href="?conversation=${newest}&page=2"`);
    const second = plain((await browser.get(`/admin/svc/conversation?conversation=${newest}&page=2`)).html);
    expect(second)
      .to.contain(`conversation=${uuids[0] ?? ''}&page=2">`)
      .and.contain('order 20');
    expect(second.split('split-list')[1]?.split('</nav>')[0]).not.to.contain('aria-current');
  });
});
