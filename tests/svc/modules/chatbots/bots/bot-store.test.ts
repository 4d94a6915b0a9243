import { expect } from 'chai';
import { describeDialects } from '../../../../helpers/dialects.ts';
import { failureOf } from '../../../../helpers/failure-of.ts';
import { errorsOf, openBots } from './helpers.ts';

describeDialects('the store of bots', (open) => {
  it('fills in sensible defaults', async () => {
    const { bots } = await openBots(await open());
    const bot = await bots.create({ name: 'Shop assistant' });
    expect(bot).to.deep.include({
      id: 1,
      name: 'Shop assistant',
      status: 'active',
      provider: 'openai',
      model: 'gpt-first',
      temperature: null,
      max_completion_tokens: 4000,
      max_messages: 15,
      max_prompt_characters: 32_000,
      feedback: true,
      starters: [],
      rules: [],
      forms: [],
    });
    expect(bot.ask_solved).to.equal(true);
    expect(bot.embed).to.deep.equal({ enabled: true, allowed_domains: [], any_site: false });
    expect(bot.knowledge).to.deep.include({ enabled: false, top_k: 3, min_score: 0 });
    expect(bot.privacy).to.deep.equal({ keep: true, retention_days: 0, anonymise_ip: true, image_origins: [] });
    expect(bot.limits.guest).to.deep.equal({ amount: 50, unit: 'messages', per: 'day' });
    expect(bot.look).to.deep.include({
      theme: 'auto',
      mode: 'popup',
      position: 'bottom-right',
      size: 'medium',
      direction: 'auto',
    });
    expect(
      Object.entries(bot.texts)
        .filter(([, text]) => text === '')
        .map(([name]) => name),
    ).to.deep.equal(['subtitle', 'invitation']);
    expect([bot.greeting, bot.instructions, bot.limits.message, bot.consent.text, bot.moderation.message]).to.satisfy(
      (texts: string[]) => texts.every((text) => text.length > 10),
    );
    const { id: _id, created_at: _created, updated_at: _updated, ...settings } = bot;
    expect(settings).to.deep.equal({ ...(await bots.defaults()), name: 'Shop assistant' });
    expect(await bots.get(1)).to.deep.equal(bot);
    expect(await bots.list()).to.deep.equal([bot]);
  });

  it('uses the default model of a provider without a model', async () => {
    const { bots } = await openBots(await open());
    expect(await bots.create({ provider: 'claude' })).to.deep.include({ provider: 'claude', model: '' });
    expect(await bots.update(1, { provider: 'openai', model: 'gpt-x' })).to.deep.include({
      provider: 'openai',
      model: 'gpt-x',
    });
    expect(await bots.update(1, { provider: 'claude' })).to.deep.include({ provider: 'claude', model: '' });
  });

  it('merges nested objects and replaces lists and maps', async () => {
    const { bots, clock } = await openBots(await open());
    const before = await bots.create({
      texts: { title: 'Ask' },
      limits: { guest: { amount: 5, per: 'week' }, roles: { editor: { amount: 9 } } },
      starters: ['One?', 'Two?'],
    });
    expect(before.limits.roles).to.deep.equal({ editor: { amount: 9, unit: 'messages', per: 'day' } });
    await clock.advance(1_000);
    const after = await bots.update(before.id, {
      texts: { subtitle: 'Anything' },
      limits: { guest: { unit: 'tokens' }, roles: { author: { amount: 3 } } },
      starters: ['Three?'],
    });
    expect(after.texts).to.deep.include({ title: 'Ask', subtitle: 'Anything' });
    expect(after.limits.guest).to.deep.equal({ amount: 5, unit: 'tokens', per: 'week' });
    expect(Object.keys(after.limits.roles)).to.deep.equal(['author']);
    expect(after.starters).to.deep.equal(['Three?']);
    expect([after.created_at, after.updated_at]).to.deep.equal([before.created_at, before.created_at + 1_000]);
    expect(await bots.get(before.id)).to.deep.equal(after);
  });

  it('never reuses an id', async () => {
    const { bots } = await openBots(await open());
    const first = await bots.create({});
    const second = await bots.create({});
    expect(await bots.delete(second.id)).to.equal(true);
    expect(await bots.delete(second.id)).to.equal(false);
    expect((await bots.create({})).id).to.be.above(second.id);
    expect(second.id).to.be.above(first.id);
    expect(await bots.get(second.id)).to.equal(null);
  });

  it('returns no bot for an invalid id', async () => {
    const { bots } = await openBots(await open());
    await bots.create({});
    for (const id of [0, -1, 1.5, Number.NaN, 2 ** 31, 2 ** 53, 1e300]) {
      expect(await bots.get(id), String(id)).to.equal(null);
      expect(await bots.delete(id)).to.equal(false);
      expect(await failureOf(bots.update(id, {}))).to.include({ code: 'rest_svc_bot_not_found', status: 404 });
      expect(await failureOf(bots.duplicate(id))).to.include({ code: 'rest_svc_bot_not_found', status: 404 });
    }
  });

  it('shows other nodes a change at once, and loses none of two at the same time', async () => {
    const here = await openBots(await open());
    const there = await openBots(await open());
    const { id } = await here.bots.create({ name: 'One' });
    expect((await there.bots.get(id))?.name).to.equal('One');
    await Promise.all(
      Array.from({ length: 12 }, (_, place) =>
        (place % 2 ? here : there).bots.update(
          id,
          place === 0
            ? { name: 'Two' }
            : {
                texts: {
                  [['title', 'subtitle', 'send', 'stop', 'retry', 'copy', 'copied', 'open', 'close', 'good', 'bad'][
                    place - 1
                  ]!]: `Text ${String(place)}`,
                },
              },
        ),
      ),
    );
    const [mine, theirs] = [await here.bots.get(id), await there.bots.get(id)];
    expect(mine).to.deep.equal(theirs);
    expect(mine?.name).to.equal('Two');
    expect(Object.values(mine?.texts ?? {}).filter((text) => text.startsWith('Text '))).to.have.length(11);
  });

  it('duplicates all settings under another name, inactive', async () => {
    const { bots } = await openBots(await open());
    const bot = await bots.create({
      name: 'é'.repeat(200),
      starters: ['Hello?'],
      embed: { enabled: true, any_site: true },
    });
    const copy = await bots.duplicate(bot.id);
    expect(copy).to.deep.include({ status: 'inactive', starters: bot.starters, embed: bot.embed });
    expect([copy.name.endsWith(' (copy)'), copy.name.length, copy.id]).to.deep.equal([true, 200, bot.id + 1]);
  });

  it('notifies plugins of saved and deleted bots', async () => {
    const { bots, hooks } = await openBots(await open());
    const seen: unknown[] = [];
    hooks.addAction('svc_chatbot_saved', (bot, before) => seen.push(['saved', bot.name, before?.name ?? null]));
    hooks.addAction('svc_chatbot_deleted', (bot) => seen.push(['deleted', bot.name]));
    await bots.create({ name: 'A' });
    await bots.update(1, { name: 'B' });
    await bots.delete(1);
    expect(seen).to.deep.equal([
      ['saved', 'A', null],
      ['saved', 'B', 'A'],
      ['deleted', 'B'],
    ]);
  });

  it('fills in defaults for settings that an older version did not store', async () => {
    const database = await open();
    const { bots } = await openBots(database);
    await bots.create({});
    await database.knex('svc_bots').update({
      settings: JSON.stringify({
        name: 'Old',
        provider: 'openai',
        gone: 1,
        texts: { title: 'Kept', gone: 2 },
        rules: [{ id: 'r', event: 'error', action: { type: 'reply', text: 'x' } }],
      }),
    });
    const bot = await bots.get(1);
    expect(bot).to.deep.include({ name: 'Old', max_messages: 15 });
    expect(bot?.texts).to.deep.include({ title: 'Kept', send: 'Send' });
    expect(bot?.rules[0]).to.deep.include({ enabled: true, priority: 10, conditions: [] });
    expect(JSON.stringify(bot)).not.to.contain('gone');
    expect((await bots.update(1, { name: 'New' })).name).to.equal('New');
  });

  it('stores nothing of a rejected change', async () => {
    const { bots } = await openBots(await open());
    const bot = await bots.create({ name: 'Kept' });
    await errorsOf(bots.update(bot.id, { name: 'Changed', max_messages: 0 }));
    await errorsOf(bots.create({ name: '' }));
    expect(await bots.list()).to.deep.equal([bot]);
  });
});
