import { expect } from 'chai';
import { describeBotsAdmin, errorsIn } from './bots-admin.ts';

const page = '/admin/svc/bots/edit';

describeBotsAdmin('the editor of a chatbot', (admin) => {
  it('has a field for every setting, and saving it untouched changes nothing', async () => {
    const { browser, add, bots, fieldsOf } = admin();
    const before = await add({
      instructions: 'Line one\nLine "two" & <three>',
      starters: ['What is it?', 'How much?'],
      temperature: 0.4,
      consent: { required: true, text: 'Mind the [policy](https://example.com)' },
      look: { primary_color: '#aa0044', corner_radius: 4 },
      limits: {
        guest: { amount: 20, unit: 'messages', per: 'day' },
        roles: {
          editor: { amount: 9_000, unit: 'tokens', per: 'month' },
          vip: { amount: 1, unit: 'messages', per: 'week' },
        },
      },
      moderation: { banned_words: ['spam', 'free money'], banned_addresses: ['203.0.113.0/24'] },
      embed: { enabled: true, allowed_domains: ['example.com', '*.example.org'] },
      knowledge: {
        enabled: true,
        store: 'qdrant',
        target: 'docs',
        embedding_provider: 'openai',
        embedding_model: 'text-embedding-3-small',
        min_score: 35,
      },
      rules: [{ id: 'a', event: 'error', conditions: [], action: { type: 'reply', text: 'Sorry' } }],
    });
    const fields = await fieldsOf(`${page}?id=${String(before.id)}`);
    const { rules: _rules, forms: _forms, id, created_at: _created, updated_at: _updated, ...settings } = before;
    expect(Object.keys(fields)).to.include.members(pathsOf(settings));
    const saved = await browser.submit(`${page}?id=${String(id)}`, 'save', fields);
    expect(saved.text).to.contain('Helper saved.');
    const [after] = await bots();
    expect({ ...after, updated_at: 0 }).to.deep.equal({ ...before, updated_at: 0 });
  });

  it('saves every kind of field', async () => {
    const { browser, add, bots, fieldsOf } = admin();
    const { id } = await add();
    const path = `${page}?id=${String(id)}`;
    const fields = await fieldsOf(path);
    const saved = await browser.submit(path, 'save', {
      ...fields,
      name: ' Renamed ',
      status: 'inactive',
      provider: 'claude',
      model: 'claude-sonnet-4-5',
      temperature: '0.7',
      max_completion_tokens: '500',
      max_messages: '8',
      max_prompt_characters: '9000',
      instructions: 'One\r\ntwo',
      greeting: 'Hi **you**',
      starters: 'A\r\n\r\n B \r\n',
      'knowledge[enabled]': '1',
      'knowledge[store]': 'qdrant',
      'knowledge[target]': 'docs',
      'knowledge[embedding_provider]': 'openai',
      'knowledge[embedding_model]': 'text-embedding-3-small',
      'knowledge[top_k]': '5',
      'knowledge[min_score]': '0',
      'knowledge[show_sources]': '0',
      'look[theme]': 'dark',
      'look[primary_color]': ' #123ABC ',
      'look[open_after]': '5',
      'look[direction]': 'rtl',
      'texts[title]': 'مرحبا',
      'texts[subtitle]': '',
      'limits[guest][amount]': '20',
      'limits[guest][per]': 'week',
      'limits[user][amount]': '',
      'limits[roles][editor][amount]': '7',
      'limits[roles][editor][unit]': 'tokens',
      'limits[message]': 'Enough.',
      'limits[allow_guests]': '0',
      'limits[guest_message]': 'Members only.',
      'consent[required]': '1',
      'privacy[keep]': '0',
      'privacy[retention_days]': '30',
      'privacy[anonymise_ip]': '0',
      'privacy[image_origins]': 'https://cdn.example.com\r\nhttps://img.example.com:8443',
      feedback: '0',
      'moderation[banned_words]': 'spam\nbad words',
      'moderation[banned_addresses]': '203.0.113.7',
      'embed[enabled]': '1',
      'embed[any_site]': '1',
      'embed[allowed_domains]': 'example.com\n*.example.org',
    });
    expect(saved.text).to.contain('Renamed saved. It is inactive');
    const [bot] = await bots();
    expect(bot).to.deep.include({
      name: 'Renamed',
      status: 'inactive',
      provider: 'claude',
      model: 'claude-sonnet-4-5',
      temperature: 0.7,
      max_completion_tokens: 500,
      max_messages: 8,
      max_prompt_characters: 9_000,
      instructions: 'One\ntwo',
      greeting: 'Hi **you**',
      starters: ['A', 'B'],
      feedback: false,
    });
    expect(bot?.knowledge).to.deep.include({
      enabled: true,
      store: 'qdrant',
      target: 'docs',
      top_k: 5,
      min_score: 0,
      show_sources: false,
    });
    expect(bot?.look).to.deep.include({ theme: 'dark', primary_color: '#123ABC', open_after: 5, direction: 'rtl' });
    expect(bot?.texts).to.deep.include({ title: 'مرحبا', subtitle: '' });
    expect(bot?.limits).to.deep.equal({
      allow_guests: false,
      guest_message: 'Members only.',
      guest: { amount: 20, unit: 'messages', per: 'week' },
      user: { amount: 0, unit: 'messages', per: 'day' },
      roles: { editor: { amount: 7, unit: 'tokens', per: 'day' } },
      message: 'Enough.',
    });
    expect(bot?.privacy).to.deep.equal({
      keep: false,
      retention_days: 30,
      anonymise_ip: false,
      image_origins: ['https://cdn.example.com', 'https://img.example.com:8443'],
    });
    expect(bot?.moderation.banned_words).to.deep.equal(['spam', 'bad words']);
    expect(bot?.embed).to.deep.equal({
      enabled: true,
      any_site: true,
      allowed_domains: ['example.com', '*.example.org'],
    });
    // A limit of a role goes with its amount.
    await browser.submit(path, 'save', { ...(await fieldsOf(path)), 'limits[roles][editor][amount]': '' });
    expect((await bots())[0]?.limits.roles).to.deep.equal({});
  });

  it('shows no limit as an empty field, and refuses 0, which looks like the opposite', async () => {
    const { browser, add, bots, fieldsOf } = admin();
    const { id } = await add();
    const path = `${page}?id=${String(id)}`;
    const fields = await fieldsOf(path);
    expect(fields).to.include({ 'limits[user][amount]': '', 'limits[guest][amount]': '50' });
    const zeros = { 'limits[guest][amount]': '0', 'limits[roles][editor][amount]': ' 00 ' };
    const refused = await browser.submit(path, 'save', { ...fields, ...zeros });
    expect(refused.status).to.equal(400);
    const sentence = 'Enter 1 or more, or leave it empty for no limit.';
    expect(errorsIn(refused.html)).to.include({
      'bot-limits-guest-amount': sentence,
      'bot-limits-roles-editor-amount': sentence,
    });
    expect((await bots())[0]?.limits.guest.amount).to.equal(50);
  });

  it('shows a rejected form as typed, with an error at each invalid field and a list of errors', async () => {
    const { browser, add, bots, fieldsOf } = admin();
    const before = await add();
    const path = `${page}?id=${String(before.id)}`;
    const refused = await browser.submit(path, 'save', {
      ...(await fieldsOf(path)),
      name: ' ',
      greeting: 'kept </textarea><script>alert(1)</script>',
      temperature: '9',
      max_messages: 'many',
      'look[primary_color]': 'red',
      'look[avatar_url]': 'javascript:alert(1)',
      'embed[allowed_domains]': 'example.com\nnot a domain',
      'knowledge[enabled]': '1',
      'limits[guest][amount]': '-1',
      'limits[roles][author][amount]': 'lots',
      'moderation[banned_addresses]': '1.2.3.4\n999.1.1.1',
    });
    expect(refused.status).to.equal(400);
    expect(errorsIn(refused.html)).to.include({
      'bot-temperature': 'Temperature must be from 0 to 2.',
      'bot-max_messages': 'Messages remembered must be a whole number from 1 to 200.',
      'bot-look-primary_color': 'Main color must be a color such as #1d4ed8, or empty.',
      'bot-limits-guest-amount': 'Guests: amount must be from 0 to 1000000000.',
      'bot-limits-roles-author-amount': 'Author role: amount must be a whole number from 0 to 1000000000.',
    });
    expect(Object.keys(errorsIn(refused.html))).to.include('bot-name');
    expect(refused.html)
      .to.contain('value="many"')
      .and.contain('value="red"')
      .and.contain('value="lots"')
      .and.contain('kept &lt;/textarea&gt;')
      .and.not.contain('<script>alert');
    expect(refused.html).to.contain('href="#bot-temperature"').and.contain('Nothing was saved.');
    // What one member's check leaves to the check of all.
    const next = await browser.submit(path, 'save', {
      ...(await fieldsOf(path)),
      'embed[allowed_domains]': 'example.com\nnot a domain',
      'moderation[banned_addresses]': '1.2.3.4\n999.1.1.1',
      'look[avatar_url]': 'javascript:alert(1)',
      'knowledge[enabled]': '1',
    });
    expect(errorsIn(next.html)).to.include({
      'bot-embed-allowed_domains':
        'Line 2 must be a domain such as example.com, https://shop.example.com:8443 or *.example.com.',
      'bot-moderation-banned_addresses': 'Line 2 must be an IP address or a range such as 203.0.113.0/24.',
      'bot-knowledge-target': 'Index or collection must not be empty while knowledge is on.',
    });
    expect(Object.keys(errorsIn(next.html))).to.include.members([
      'bot-look-avatar_url',
      'bot-knowledge-store',
      'bot-knowledge-embedding_provider',
    ]);
    expect((await bots())[0]?.updated_at).to.equal(before.updated_at);
  });

  it('shows the embed code, and keeps saved choices that are no longer available', async () => {
    const { browser, add, host } = admin();
    const { id } = await add({ embed: { enabled: false } });
    await host.database
      .knex('svc_bots')
      .where({ id })
      .update({ settings: host.database.knex.raw(`replace(settings, '"provider":"openai"', '"provider":"gone"')`) });
    const { html, text } = await browser.get(`${page}?id=${String(id)}`);
    expect(text)
      .to.contain(`<script src="${host.url}/wp-json/svc-widget/v1/widget.js" data-bot="${String(id)}" async></script>`)
      .and.contain(`[svc_chatbot id=${String(id)}]`)
      .and.contain('Check my site');
    expect(html).to.contain('<option value="gone" selected>gone (not available)</option>');
    expect(text).to.contain('Embedding is off. Turn it on under Embedding');
  });

  it('lists the indexes of the chosen vector store without saving', async () => {
    const { browser, add, bots, fieldsOf } = admin();
    const { id } = await add();
    const path = `${page}?id=${String(id)}`;
    const fields = { ...(await fieldsOf(path)), 'knowledge[store]': 'pinecone', name: 'Not saved' };
    const nonce =
      /name="_nonce" value="([^"]+)"/.exec((await browser.get(path)).html.split('id="bot-form"')[1] ?? '')?.[1] ?? '';
    const shown = await browser.post(`${page}?action=targets`, { ...fields, _nonce: nonce });
    expect([
      shown.status,
      shown.text.includes('Pinecone is not set up yet'),
      shown.html.includes('value="Not saved"'),
    ]).to.deep.equal([200, true, true]);
    const asked = await browser.post(
      `${page}?action=targets`,
      { ...fields, 'knowledge[store]': '', _nonce: nonce },
      { accept: 'application/json' },
    );
    expect((JSON.parse(asked.html) as { data: unknown }).data).to.deep.equal({
      targets: { names: [], note: 'Choose a vector store first.' },
    });
    expect((await bots())[0]?.name).to.equal('Helper');
  });
});

/** `{look: {theme: 'dark'}}` -> `look[theme]`, of settings as the form names them. */
function pathsOf(settings: object): string[] {
  return Object.entries(settings).flatMap(([name, value]) => namesOf(name, value));
}

function namesOf(name: string, value: unknown): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [name];
  return Object.entries(value).flatMap(([member, inner]) => namesOf(`${name}[${member}]`, inner));
}
