import { expect } from 'chai';
import { describeBotsAdmin } from './bots-admin.ts';

const page = '/admin/svc/bots';

describeBotsAdmin('the list of chatbots', (admin) => {
  it('starts with one button that creates a working bot', async () => {
    const { browser, host, bots } = admin();
    expect((await browser.get(page)).text).to.contain('Create your first chatbot with the sandbox');
    await host.cli('svc', 'sandbox', 'on');
    const made = await browser.submit(page, 'first');
    expect(made.text)
      .to.contain('Assistant is ready. Ask it something in the preview.')
      .and.contain('Privacy and safety');
    const [bot, ...others] = await bots();
    expect([
      bot?.name,
      bot?.status,
      bot?.starters.length,
      bot?.embed.enabled,
      bot?.embed.any_site,
      others.length,
    ]).to.deep.equal(['Assistant', 'active', 2, true, false, 0]);
    const { out } = await host.cli('svc', 'key', 'generate', '--json');
    const { key } = JSON.parse(out) as { key: string };
    const answer = await host.fetch(`/wp-json/svc/v1/chat/${String(bot?.id)}/message`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello?' }] }),
    });
    expect([answer.status, ((await answer.json()) as { reply: string }).reply.length > 0]).to.deep.equal([200, true]);
  });

  it('turns the sandbox on if the button says so, and creates one bot for two clicks', async () => {
    const { browser, bots } = admin();
    const first = await browser.submit(page, 'first-sandbox');
    expect([first.html.includes('>SANDBOX<'), first.text.includes('Assistant is ready.')]).to.deep.equal([true, true]);
    const nonce =
      /name="_nonce" value="([^"]+)"/.exec((await browser.get(page)).html.split('<main')[1] ?? '')?.[1] ?? '';
    const again = await browser.post(`${page}?action=first`, { _nonce: nonce });
    const [bot, ...others] = await bots();
    expect([again.status, again.location, others]).to.deep.equal([303, `/admin/svc/bots/edit?id=${bot?.id}`, []]);
  });

  it('shows the settings and activity of each bot', async () => {
    const { browser, add, host } = admin();
    const bot = await add({
      name: 'Shop <b>support</b>',
      status: 'inactive',
      embed: { enabled: true, allowed_domains: ['shop.example.com'] },
    });
    await add({ name: 'Second', embed: { enabled: false } });
    const at = Date.parse('2026-03-01T10:00:00Z');
    for (const place of [1, 2]) {
      await host.database.knex('svc_conversations').insert({
        uuid: `00000000-0000-4000-8000-00000000000${String(place)}`,
        bot_id: bot.id,
        user_id: 0,
        session_id: 's',
        module: 'chatbot',
        created_at: at,
        last_message_at: at,
        page_url: '',
        ip: '',
        variables: '{}',
        stored: '[]',
        revision: place,
      });
    }
    const { html, text } = await browser.get(page);
    expect(html).to.contain('Shop &lt;b&gt;support&lt;/b&gt;').and.not.contain('<b>support');
    const [first = '', second = ''] = html
      .split('<tr id="bot-')
      .slice(1)
      .map((card) => card.replace(/<[^<>]+>/g, ' ').replace(/\s+/g, ' '));
    expect(first)
      .to.contain('Inactive')
      .and.contain('OpenAI, gpt-4o-mini')
      .and.contain(' 2 conversations ')
      .and.contain('2026')
      .and.contain('on shop.example.com')
      .and.contain('Activate');
    // No provider is connected.
    expect(second)
      .to.contain('Cannot answer')
      .and.contain(' 0 conversations ')
      .and.contain('never')
      .and.contain('not embedded');
    expect(text).to.contain('2 chatbots');
    expect(html).to.contain('/admin/svc/logs?bot');
  });

  it('activates, duplicates and deletes, the last only when confirmed', async () => {
    const { browser, add, bots } = admin();
    const { id } = await add();
    expect((await browser.submit(page, 'switch', { id: String(id), status: 'inactive' })).text).to.contain(
      'Helper is inactive. Visitors cannot use it.',
    );
    expect((await bots())[0]?.status).to.equal('inactive');
    expect((await browser.submit(page, 'switch', { id: String(id), status: 'active' })).text).to.contain(
      'Helper is active.',
    );
    expect((await browser.submit(page, 'duplicate', { id: String(id) })).text).to.contain('"Helper (copy)" created.');
    expect((await bots()).map(({ name, status }) => [name, status])).to.deep.equal([
      ['Helper', 'active'],
      ['Helper (copy)', 'inactive'],
    ]);
    expect((await browser.ask(page, 'delete', { id: String(id) })).text).to.contain('Delete “Helper”?');
    expect(await bots()).to.have.length(2);
    expect((await browser.submit(page, 'delete', { id: String(id) })).text).to.contain('Helper deleted.');
    expect((await bots()).map(({ name }) => name)).to.deep.equal(['Helper (copy)']);
  });

  it('changes several at once with an Undo, and finds, filters and sorts them', async () => {
    const { browser, add, bots } = admin();
    const [alpha, beta] = [await add({ name: 'Alpha' }), await add({ name: 'Beta', status: 'inactive' })];
    const ids = `${String(alpha.id)},${String(beta.id)}`;
    const states = async () => (await bots()).map(({ status }) => status);
    const done = await browser.submit(page, 'bulk', { do: 'inactive', ids, back: 'sort=name&order=desc&other=1' });
    expect(done.text).to.contain('2 chatbots deactivated.');
    expect(done.html).to.match(/name="back" value="sort(?:=|&#x3D;)name&amp;order(?:=|&#x3D;)desc"/);
    expect(await states()).to.deep.equal(['inactive', 'inactive']);
    const was = /name="was" value="([^"]+)"/.exec(done.html)?.[1] ?? '';
    await browser.submit(page, 'bulk', { do: 'undo', ids, was });
    expect(await states()).to.deep.equal(['active', 'inactive']);
    const order = async (query: string) =>
      [...(await browser.get(`${page}?${query}`)).html.matchAll(/Select (\w+)"/g)].map(([, name]) => name);
    expect(await order('sort=name&order=desc')).to.deep.equal(['Beta', 'Alpha']);
    expect(await order('status=inactive')).to.deep.equal(['Beta']);
    expect(await order('s=ALP')).to.deep.equal(['Alpha']);
    expect((await browser.get(`${page}?s=nothing`)).text).to.contain('No chatbot matches these filters.');
    expect((await browser.submit(page, 'bulk', { do: 'delete', ids })).text).to.contain('2 chatbots deleted.');
    expect(await bots()).to.deep.equal([]);
  });

  it('exports bots for import, by file and by paste', async () => {
    const { browser, add, bots } = admin();
    const original = await add({
      name: 'Travelling',
      instructions: 'Say "hi" & <wave>.',
      texts: { title: 'Hallo' },
      limits: { roles: { editor: { amount: 5, unit: 'messages', per: 'week' } } },
    });
    const file = await browser.submit(page, 'export', { id: String(original.id) });
    expect([file.status, file.headers.get('content-disposition')]).to.deep.equal([
      200,
      `attachment; filename="chatbot-${String(original.id)}.json"`,
    ]);
    expect(JSON.parse(file.html)).to.have.property('format', 'svc-chatbots');
    expect((await browser.submit(page, 'import', { json: file.html })).text).to.contain('Travelling imported.');
    await browser.upload(page, 'import', { json: '', file: { name: 'chatbot.json', bytes: file.bytes } });
    const all = await bots();
    const { id: _id, created_at: _created, updated_at: _updated, ...settings } = original;
    expect(all).to.have.length(3);
    for (const bot of all) expect(bot).to.deep.include(settings);
    const both = await browser.submit(page, 'export', {});
    expect((JSON.parse(both.html) as { bots: unknown[] }).bots).to.have.length(3);
  });

  it('reports the errors of an import of AI forms and of templates in the same way', async () => {
    const { browser } = admin();
    for (const list of ['/admin/svc/ai-forms', '/admin/svc/content/templates']) {
      const { status, html } = await browser.submit(list, 'import', { json: '{' });
      expect(status, list).to.equal(400);
      expect(html, list)
        .to.match(/<details[^>]*id="import"[^>]* open/)
        .and.match(/<strong>Nothing was imported\.<\/strong><div>(The file is not JSON|Choose an export file)\./);
    }
  });

  it('reports the errors of an import, keeps the pasted text and creates nothing', async () => {
    const { browser, add, bots } = admin();
    await add();
    const refused = async (json: string): Promise<string> => {
      const { status, text } = await browser.submit(page, 'import', { json });
      expect(status).to.equal(400);
      return text;
    };
    expect(await refused('')).to.contain('Choose an export file, or paste its content.');
    expect(await refused('{"a": <script>'))
      .to.contain('The file is not JSON. Choose a file from an export.')
      .and.contain('{"a": <script>');
    expect(await refused('{"format": "other"}')).to.contain('is not an export of chatbots');
    expect(
      await refused(
        JSON.stringify({
          format: 'svc-chatbots',
          version: 1,
          bots: [
            { name: 'Good', provider: 'openai' },
            { name: '', temperature: 9, provider: 'openai' },
          ],
        }),
      ),
    )
      .to.contain('bots[1].name')
      .and.contain('bots[1].temperature');
    const huge = await browser.upload(page, 'import', {
      file: { name: 'huge.json', bytes: new Uint8Array(2_100_000).fill(32) },
    });
    expect([huge.status, (await bots()).length]).to.deep.equal([413, 1]);
  });

  it('is only for administrators, and rejects requests without a nonce', async () => {
    const { browser, create, signIn, add, bots } = admin();
    const { id } = await add();
    await create({ login: 'eve', role: 'editor' });
    const eve = await signIn('eve');
    for (const path of [
      page,
      `${page}/new`,
      `${page}/edit?id=${String(id)}`,
      `${page}/rules?bot=${String(id)}`,
      `${page}/rule?bot=${String(id)}`,
      `${page}/forms?bot=${String(id)}`,
      `${page}/form?bot=${String(id)}`,
    ]) {
      expect((await eve.get(path)).status, path).to.equal(403);
    }
    expect((await eve.post(`${page}?action=delete`, { id: String(id) })).status).to.equal(403);
    expect((await browser.post(`${page}?action=delete`, { id: String(id), _nonce: 'invalid' })).status).to.equal(403);
    expect(await bots()).to.have.length(1);
  });

  it('returns 404 with a clear message for an unknown bot', async () => {
    const { browser } = admin();
    for (const path of [
      'edit?id=99',
      'edit?id=1%27',
      'edit',
      'edit?id[]=1',
      'rules?bot=99',
      'rule?bot=99',
      'forms?bot=0',
      'form?bot=-1',
      'edit?id=99999999999',
      'edit?id=4294967296',
    ]) {
      const { status, text } = await browser.get(`${page}/${path}`);
      expect([path, status]).to.deep.equal([path, 404]);
      expect(text).to.contain('This chatbot does not exist.').and.contain('Go to the home page');
    }
  });
});

describeBotsAdmin('a new chatbot', (admin) => {
  it('is created from a name, a model and a template', async () => {
    const { browser, bots } = admin();
    const made = await browser.submit(`${page}/new`, 'create', {
      name: ' Shop ',
      provider: 'claude',
      model: 'claude-sonnet-4-5',
      template: 'support',
    });
    expect(made.text).to.contain('"Shop" created. Ask it something in the preview.');
    const [bot] = await bots();
    expect([bot?.name, bot?.provider, bot?.model, bot?.forms[0]?.id, bot?.rules[0]?.action]).to.deep.equal([
      'Shop',
      'claude',
      'claude-sonnet-4-5',
      'contact',
      { type: 'display_form', form_id: 'contact' },
    ]);
  });

  it('shows a rejected form as typed, with an error at each invalid field', async () => {
    const { browser, bots } = admin();
    const { status, html, text } = await browser.submit(`${page}/new`, 'create', {
      name: '  ',
      provider: 'nobody',
      model: 'm-1',
      template: 'leads',
    });
    expect(status).to.equal(400);
    expect(html)
      .to.contain('value="m-1"')
      .and.match(/value="leads" checked/);
    expect(text).to.match(/Name must (not be empty|be a text of one line that is not blank)\./);
    expect(await bots()).to.deep.equal([]);
  });
});
