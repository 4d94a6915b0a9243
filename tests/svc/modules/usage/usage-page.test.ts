import { expect } from 'chai';
import { describeSharedHosts } from '../../../helpers/dialects.ts';
import { shareSite } from '../../../helpers/share-site.ts';
import { openPages } from '../../../pages/pages-site.ts';

describeSharedHosts('the page Usage', (dialectCase) => {
  const shared = shareSite(async () => {
    const site = await openPages(dialectCase, {}, { plugins: ['svc', 'sandbox'] });
    await site.create({ login: 'ada', role: 'administrator' });
    return { ...site, browser: await site.signIn('ada') };
  });

  async function run(...argv: string[]): Promise<Readonly<Record<string, unknown>>> {
    const { code, out, err } = await shared().host.cli(...argv, '--json');
    if (code !== 0) throw new Error(err);
    return JSON.parse(out) as Readonly<Record<string, unknown>>;
  }

  it('names the chatbots and keys of calls, and gives the ids of deleted ones', async () => {
    const { host, browser } = shared();
    await run('svc', 'sandbox', 'on');
    const key = await run('svc', 'key', 'create', '--name=Import', '--routes=chat');
    const settings = { name: 'Images', status: 'active', provider: 'openai', model: 'gpt-4.1-mini' };
    const { out } = await host.cli('svc', 'bot', 'create', '--json', JSON.stringify(settings));
    const bot = String((JSON.parse(out) as { id: number }).id);
    const { status } = await host.fetch(`/wp-json/svc/v1/chat/${bot}/message`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${String(key['key'])}` },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }] }),
    });
    expect(status).to.equal(200);
    const read = async () => (await browser.get('/admin/svc/usage')).html.replaceAll('&#x3D;', '=');
    const usage = await read();
    expect(usage).to.contain(`bot_id=${bot}">Images</a>`);
    expect(usage).to.contain(`key_id=${String(key['id'])}">Import</a>`);
    // A name that the catalog has is still a name.
    await host.options.update('WPLANG', 'de_DE');
    expect(await read()).to.contain(`bot_id=${bot}">Images</a>`);
    await run('svc', 'bot', 'delete', bot);
    expect(await read()).to.contain(`bot_id=${bot}">Chatbot ${bot}</a>`);
  });
});
