import { expect } from 'chai';
import { describeSharedHosts } from '../../../helpers/dialects.ts';
import { shareSite } from '../../../helpers/share-site.ts';
import { openPages } from '../../../pages/pages-site.ts';

const path = '/admin/svc/keys';

describeSharedHosts('the page API keys', (dialectCase) => {
  const shared = shareSite(async () => {
    const site = await openPages(dialectCase, {}, { plugins: ['svc', 'sandbox'] });
    await site.create({ login: 'ada', role: 'administrator' });
    return { ...site, browser: await site.signIn('ada') };
  });

  async function run(...argv: string[]): Promise<unknown> {
    const { code, out, err } = await shared().host.cli(...argv, '--json');
    if (code !== 0) throw new Error(err);
    return JSON.parse(out) as unknown;
  }
  async function bot(settings: Readonly<Record<string, unknown>>): Promise<string> {
    const { code, out, err } = await shared().host.cli('svc', 'bot', 'create', '--json', JSON.stringify(settings));
    if (code !== 0) throw new Error(err);
    return String((JSON.parse(out) as { id: number }).id);
  }
  const chatbots = async (): Promise<unknown> =>
    ((await run('svc', 'key', 'list')) as Record<string, unknown>[])[0]?.['chatbots'];
  const keyId = async (): Promise<string> => String(((await run('svc', 'key', 'list')) as { id: number }[])[0]?.id);
  const choice = (id: string, label: string): RegExp =>
    new RegExp(`name="chatbots\\[\\]" value="${id}"\\s*checked> <span>${label}</span>`);

  it('offers the chatbots by name, active or not, and shows their names in the list', async () => {
    const { browser } = shared();
    const [shop, help] = [await bot({ name: 'Images', status: 'active' }), await bot({ name: 'Help & FAQ' })];
    const fresh = await browser.get(`${path}?new=1`);
    expect(fresh.text).to.contain('Chatbots that the key may use, and no model outside of them');
    expect(fresh.html).to.contain('<span>Images</span>').and.contain('<span>Help &amp; FAQ</span>');
    await browser.submit(path, 'save', { name: 'Import', 'routes[]': 'chat', 'chatbots[]': help });
    expect(await chatbots()).to.equal(help);
    const list = await browser.get(path);
    expect(list.text).to.contain('Chatbots: Help & FAQ').and.not.contain(`Chatbots: ${help}`);
    const edit = await browser.get(`${path}?edit=${await keyId()}`);
    expect(edit.html).to.match(choice(help, 'Help &amp; FAQ')).and.not.match(choice(shop, 'Images'));
    const tested = await browser.get(`${path}?test=${await keyId()}&route=chat&bot=${help}`);
    expect(tested.html).to.match(new RegExp(`<option value="${help}" selected>Help &amp; FAQ`));
  });

  it('keeps a deleted chatbot of a key, so that saving does not allow all', async () => {
    const { browser } = shared();
    const id = await bot({ name: 'Shop' });
    const fields = { name: 'Import', 'routes[]': 'chat', 'chatbots[]': id };
    await browser.submit(path, 'save', fields);
    const key = await keyId();
    await run('svc', 'bot', 'delete', id);
    const edit = `${path}?edit=${key}`;
    expect((await browser.get(edit)).html).to.match(choice(id, `Chatbot ${id} \\(deleted\\)`));
    expect((await browser.get(path)).text).to.contain(`Chatbots: Chatbot ${id} (deleted)`);
    await browser.submit(edit, 'save', { ...fields, id: key, name: 'Renamed' });
    expect(await chatbots()).to.equal(id);
    // A refused form keeps the choice as well, checked or not.
    const refused = await browser.submit(edit, 'save', { ...fields, id: key, name: '', 'chatbots[]': '' });
    expect(refused.html).to.contain(`<span>Chatbot ${id} (deleted)</span>`).and.not.match(choice(id, '.*'));
  });

  it('says where chatbots are created while there is none', async () => {
    const { text, html } = await shared().browser.get(`${path}?new=1`);
    expect(text).to.contain('No chatbot yet. Create one on the page “Chatbots” to limit the key to it.');
    expect(html).to.match(/<legend class="field-label">Chatbots<\/legend>/);
  });
});
