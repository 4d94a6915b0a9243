import { expect } from 'chai';
import type { Budget } from '../../../../plugins/svc/modules/budgets/budget.ts';
import { describeSharedHosts } from '../../../helpers/dialects.ts';
import { shareSite } from '../../../helpers/share-site.ts';
import { openPages } from '../../../pages/pages-site.ts';

const path = '/admin/svc/budgets';
const fields = { name: 'One', amount: '5', unit: 'calls', period: 'day', alert_percent: '80' };

describeSharedHosts('the page Budgets', (dialectCase) => {
  const shared = shareSite(async () => {
    const site = await openPages(dialectCase, {}, { plugins: ['svc', 'sandbox', 'hello'] });
    await site.create({ login: 'ada', role: 'administrator' });
    return { ...site, browser: await site.signIn('ada') };
  });

  async function cli(...argv: string[]): Promise<string> {
    const { code, out, err } = await shared().host.cli(...argv);
    if (code !== 0) throw new Error(err);
    return out;
  }
  const created = async (...argv: string[]): Promise<string> => {
    const { id } = JSON.parse(await cli(...argv)) as { id: number };
    return String(id);
  };
  const bot = (name: string) => created('svc', 'bot', 'create', '--json', JSON.stringify({ name }));
  const key = (name: string) => created('svc', 'key', 'create', `--name=${name}`, '--routes=generate', '--json');
  const set = (budget: Partial<Budget>) =>
    cli('svc', 'budget', 'set', JSON.stringify({ id: 'one', name: 'One', amount: 5, ...budget }));
  async function stored(): Promise<Budget | undefined> {
    return (JSON.parse(await cli('svc', 'budget', 'list', '--json')) as Budget[])[0];
  }
  async function whose(...flags: string[]): Promise<string> {
    return cli('svc', 'budget', 'status', ...flags);
  }
  /** The chosen option of a field. */
  async function chosen(field: string): Promise<string> {
    const { html } = await shared().browser.get(`${path}?edit=one`);
    const [, options = ''] =
      new RegExp(`<select class="input" id="budget-${field}"([\\s\\S]*?)</select>`).exec(html) ?? [];
    return /selected[^>]*>([^<]*)</.exec(options)?.[1] ?? '';
  }

  it('warns in Site Health of a budget that calls without a price pass, and changes it with one click (D43)', async () => {
    const label = 'A budget does not limit models without a price';
    const { browser } = shared();
    const found = async (): Promise<boolean> =>
      (await browser.get('/admin/tools/site-health?results=1')).html.includes(label);
    for (const [budget, isFound] of [
      [{ unit: 'dollars', unpriced: 'free' }, true],
      [{ unit: 'calls', unpriced: 'free' }, false],
      [{ unit: 'dollars', unpriced: 'free', enabled: false }, false],
      [{ unit: 'dollars', unpriced: 'refuse' }, false],
      [{ unit: 'dollars', unpriced: 'free' }, true],
    ] as const) {
      await set(budget);
      expect(await found(), JSON.stringify(budget)).to.equal(isFound);
    }
    expect((await browser.submit(path, 'refuse', { id: 'one' })).text).to.contain('refuses calls without a price now');
    expect(await stored()).to.include({ unpriced: 'refuse', amount: 5, unit: 'dollars' });
    expect(await found()).to.equal(false);
    await cli('svc', 'budget', 'delete', 'one');
  });

  it('offers chatbots, keys, roles and plugins by name', async () => {
    const { browser } = shared();
    expect((await browser.get(path)).text)
      .to.contain('No chatbot yet. Create one on the page “Chatbots”.')
      .and.contain('No named key yet. Create one on the page “API keys”.');
    await bot('Shop');
    await key('Import');
    await cli('svc', 'key', 'revoke', await key('Former'));
    const { html } = await browser.get(path);
    expect(html)
      .to.match(/<option value="\d+">Shop<\/option>/)
      .and.match(/<option value="\d+">Import<\/option>/)
      .and.match(/<option value="\d+">Former \(revoked\)<\/option>/)
      .and.match(/<option value="hello">Hello/)
      .and.not.contain('<option value="svc">');
  });

  it('limits a chatbot, which has a name in the list and on the command line, and stays when it is deleted', async () => {
    const { browser } = shared();
    const id = await bot('Shop');
    const refused = await browser.submit(path, 'save', { ...fields, whose: 'bot', bot_id: '' });
    expect(refused.text).to.contain('Choose the chatbot to limit.');
    const saved = await browser.submit(path, 'save', { ...fields, whose: 'bot', bot_id: id });
    expect(saved.text).to.contain('5 calls per day for chatbot “Shop”.');
    expect(await stored()).to.include({ id: 'one', scope: 'bot', bot_id: Number(id) });
    expect(await whose()).to.contain('chatbot “Shop”');
    expect(JSON.parse(await whose('--json'))).to.have.nested.property('[0].whose', `chatbot ${id}`);
    expect(await chosen('bot_id')).to.equal('Shop');
    await cli('svc', 'bot', 'delete', id);
    expect(await chosen('bot_id')).to.equal(`Chatbot ${id} (deleted)`);
    expect((await browser.get(path)).text).to.contain(`for chatbot ${id} (deleted).`);
    await browser.submit(`${path}?edit=one`, 'save', { ...fields, id: 'one', whose: 'bot', bot_id: id });
    expect(await stored()).to.include({ bot_id: Number(id) });
  });

  it('limits a named key, also one that is revoked or unknown', async () => {
    const { browser } = shared();
    const id = await key('Import');
    const saved = await browser.submit(path, 'save', { ...fields, whose: 'key', key_id: id });
    expect(saved.text).to.contain('for key “Import”.');
    await cli('svc', 'key', 'revoke', id);
    expect(await chosen('key_id')).to.equal('Import (revoked)');
    await set({ scope: 'key', key_id: 4321 });
    expect(await chosen('key_id')).to.equal('Key 4321 (deleted)');
    expect((await browser.get(path)).text).to.contain('for key 4321 (deleted).');
  });

  it('finds a user by login, email address or id, and names an unknown one at the field', async () => {
    const { browser, create } = shared();
    const { id } = await create({ login: 'ann', email: 'ann@example.com' });
    for (const user of ['ann', ' ANN@example.com ', String(id)]) {
      const saved = await browser.submit(path, 'save', { ...fields, whose: 'user', user_id: user });
      expect(saved.text, user).to.contain('for user “ann”.');
      expect(await stored(), user).to.include({ scope: 'user', user_id: id });
      expect((await browser.get(`${path}?edit=one`)).html).to.match(/id="budget-user_id" name="user_id" value="ann"/);
      await cli('svc', 'budget', 'delete', 'one');
    }
    const broken = await browser.submit(path, 'save', { ...fields, whose: 'user', user_id: 'bob\u0000' });
    expect(broken.status).to.equal(400);
    for (const [user, error] of [
      ['bob', 'No user has the user name, email address or ID “bob”.'],
      ['99999', 'No user has the user name, email address or ID “99999”.'],
      ['', 'Enter the user to limit.'],
    ] as const) {
      const refused = await browser.submit(path, 'save', { ...fields, whose: 'user', user_id: user });
      expect(refused.html).to.match(new RegExp(`<p class="field-error" id="budget-user_id-error">${error}`));
      expect(refused.html).to.contain(`name="user_id" value="${user}"`);
      expect(await stored()).to.equal(undefined);
    }
  });

  it('keeps a user who was deleted', async () => {
    const { browser } = shared();
    const id = Number.MAX_SAFE_INTEGER;
    await set({ scope: 'user', user_id: id });
    const { html } = await browser.get(`${path}?edit=one`);
    expect(html).to.contain('name="user_id" value="9007199254740991"').and.contain('user 9007199254740991 (deleted)');
    const form = { ...fields, id: 'one', whose: 'user', user_id: String(id), name: 'Renamed' };
    await browser.submit(`${path}?edit=one`, 'save', form);
    expect(await stored()).to.include({ name: 'Renamed', user_id: id });
  });

  it('limits a plugin, also one that is not active', async () => {
    const { browser } = shared();
    const saved = await browser.submit(path, 'save', { ...fields, whose: 'plugin', plugin: 'hello' });
    expect(saved.text).to.contain('for plugin “hello”.');
    expect(await chosen('plugin')).to.match(/^Hello/);
    await set({ scope: 'plugin', plugin: 'shop' });
    expect(await chosen('plugin')).to.equal('shop (not available)');
  });

  it('is read in German', async () => {
    const { browser, host } = shared();
    await host.options.update('WPLANG', 'de_DE');
    await set({ scope: 'bot', bot_id: Number(await bot('Images')) });
    expect((await browser.get(path)).text).to.contain('Chatbot „Images“');
    await set({ scope: 'key', name: 'Key', key_id: 4321 });
    const { text, html } = await browser.get(`${path}?edit=one`);
    expect(text).to.contain('Schlüssel 4321 (gelöscht)');
    expect(html.slice(html.indexOf('id="budget-form"'))).to.match(/<h2[^>]*>Key<\/h2>/);
  });

  it('are printed in their unit: dollars as dollars, without the noise of sums', async () => {
    const { host } = shared();
    await set({ unit: 'dollars', amount: 0.05 });
    const sums = { calls: 1, billed: 1, input_tokens: 1, output_tokens: 0, images: 0, unpriced: 0, duration: 1 };
    const of = { module: 'rest', bot_id: 0, kind: 'text', provider: 'openai', model: 'm', outcome: 'ok', sandbox: 0 };
    await host.database
      .knex('svc_usage_days')
      .insert({ ...of, ...sums, day: '2026-01-01', key_id: 0, user_id: 0, plugin: '', cost: 12_345.3 });
    const [status] = JSON.parse(await whose('--json')) as Record<string, unknown>[];
    expect(status).to.include({ unit: 'dollars', amount: 0.05, used: 0.0123453, left: 0.0376547, reserved: 0 });
    const printed = await whose();
    expect(printed).to.contain('0.0123453').and.contain('$0.012 of $0.05');
    expect(printed).to.not.contain(' 12345');
  });
});
