import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Bot } from '../../plugins/svc/modules/chatbots/bots/bot.ts';
import { widgetTables } from '../../plugins/svc/modules/chatbots/widget/widget-tables.ts';
import { describeWidget, type Answer, type Failure, type Guest, type WidgetSite } from './widget-site.ts';

const none = { amount: 0, unit: 'messages', per: 'day' };
const limits = (changes: Readonly<Record<string, unknown>>) => ({
  limits: { guest: none, user: none, roles: {}, message: 'That is enough for today.', ...changes },
});

/** Messages of as many conversations as there are, all at once. */
async function atOnce(guests: readonly Guest[]): Promise<readonly Answer[]> {
  return Promise.all(guests.map((guest) => guest.post('messages', { message_id: randomUUID(), text: 'Hello there' })));
}

const accepted = (answers: readonly Answer[]): number => answers.filter(({ status }) => status === 200).length;

describeWidget('limits of visitors', (site) => {
  beforeEach(() => {
    site().host.hooks.addFilter('svc_chatbot_burst_limits', () => ({
      starts_per_address: 10_000,
      sends_per_address: 10_000,
      sends_per_session: 10_000,
    }));
  });

  it('count messages per day and refuse more with the bot’s message, until the day ends in the site’s time zone', async () => {
    await site().host.options.update('timezone_string', 'Europe/Berlin');
    const guest = await site().started(
      await site().bot(limits({ guest: { amount: 2, unit: 'messages', per: 'day' } })),
    );
    expect((await guest.send('One')).body.limit).to.equal(null);
    const shown = { message: 'That is enough for today.', until: '2026-11-20T23:00:00.000Z' };
    expect((await guest.send('Two')).body.limit).to.deep.equal(shown);
    const refused = await guest.post('messages', {
      message_id: randomUUID(),
      text: 'Three',
      conversation: guest.conversation,
    });
    expect(refused).to.deep.include({
      status: 429,
      body: {
        code: 'rest_svc_chat_limit_reached',
        message: 'That is enough for today.',
        data: { status: 429, limit: shown },
      },
    });
    expect(refused.headers.get('retry-after')).to.equal(String(13 * 3600));
    expect((await guest.start()).body.limit).to.deep.equal(shown);
    expect(site().upstream.calls).to.have.length(2);
    site().clock.jump(13 * 3600_000);
    expect((await guest.start()).body.limit).to.equal(null);
    expect((await guest.send('Three')).status).to.equal(200);
  });

  it('also count by address: a guest who clears the cookies starts no new count', async () => {
    const bot = await site().bot(limits({ guest: { amount: 2, unit: 'messages', per: 'week' } }));
    await (await site().started(bot)).send('One');
    await (await site().started(bot)).send('Two');
    const third = await site().started(bot);
    expect((await third.start()).body.limit).not.to.equal(null);
    expect((await third.send('Three')).status).to.equal(429);
    const { knex } = site().host.database;
    expect(JSON.stringify(await knex(widgetTables.counters))).not.to.contain('127.0.0');
  });

  it('count users on any address, by the limits of their roles', async () => {
    const bot = await site().bot(
      limits({
        user: { amount: 1, unit: 'messages', per: 'month' },
        roles: { editor: { amount: 3, unit: 'messages', per: 'month' } },
      }),
    );
    for (const [login, role, most] of [
      ['ada', 'subscriber', 1],
      ['eve', 'editor', 3],
    ] as const) {
      const { cookie } = await site().user(login, role);
      const browsers = [
        await site().started(bot, { origin: site().host.url, cookie }),
        await site().started(bot, { origin: site().host.url, cookie, 'user-agent': 'other' }),
      ];
      const statuses = [];
      for (let send = 0; send < 4; send += 1)
        statuses.push((await (browsers[send % 2] as Guest).send('Hello', { conversation: null })).status);
      expect(
        statuses.filter((status) => status === 200),
        login,
      ).to.have.length(most);
    }
  });

  it('let guests of a new bot write 50 messages a day, and none where guests may not chat', async () => {
    const bot = await site().bot({});
    expect(bot.limits).to.deep.include({
      allow_guests: true,
      guest: { amount: 50, unit: 'messages', per: 'day' },
      user: none,
    });
    const guest = await site().started(bot);
    expect((await guest.send('Hello')).status).to.equal(200);
    await site().change(bot.id, { limits: { allow_guests: false, guest: none, guest_message: 'Members only.' } });
    const limit = { message: 'Members only.', until: null };
    expect((await guest.start()).body.limit).to.deep.equal(limit);
    const refused = await guest.post('messages', { message_id: randomUUID(), text: 'Hello again' });
    expect(refused).to.deep.include({
      status: 403,
      body: { code: 'rest_svc_guests_not_allowed', message: 'Members only.', data: { status: 403, limit } },
    });
    expect(site().upstream.calls).to.have.length(1);
    const { cookie } = await site().user('ada', 'subscriber');
    const member = await site().started(bot, { origin: site().host.url, cookie });
    expect([(await member.start()).body.limit, (await member.send('Hello')).status]).to.deep.equal([null, 200]);
  });

  it('do not count refused or failed messages, nor the same message twice', async () => {
    const guest = await site().started(
      await site().bot({
        ...limits({ guest: { amount: 2, unit: 'messages', per: 'day' } }),
        moderation: { banned_words: ['never'], banned_addresses: [], message: 'No.' },
      }),
    );
    await guest.send('never');
    site().upstream.answer = (turn) => {
      turn.fail(400);
    };
    const message_id = randomUUID();
    await guest.send('Hello', { message_id });
    site().upstream.answer = (turn) => {
      turn.piece('Yes');
      turn.end();
    };
    await guest.send('Hello', { message_id });
    await guest.send('Hello', { message_id });
    expect((await guest.send('Two')).status).to.equal(200);
    expect((await guest.send('Three')).status).to.equal(429);
  });

  it('hold when 64 messages are sent at once, of one visitor or of many behind one address', async () => {
    const bot = await site().bot(limits({ guest: { amount: 5, unit: 'messages', per: 'day' } }));
    const one = await site().started(bot);
    expect(accepted(await atOnce(Array.from({ length: 64 }, () => one)))).to.equal(5);
    const other = await site().bot(limits({ guest: { amount: 7, unit: 'messages', per: 'day' } }));
    const many = await Promise.all(Array.from({ length: 64 }, () => site().started(other)));
    expect(accepted(await atOnce(many))).to.equal(7);
    expect(site().upstream.calls).to.have.length(12);
  });

  it('hold for tokens when 64 messages are sent at once: together they stay within the limit', async () => {
    const bot = await site().bot({
      instructions: 'Be brief.',
      max_completion_tokens: 100,
      ...limits({ guest: { amount: 1000, unit: 'tokens', per: 'day' } }),
    });
    site().upstream.answer = (turn) => {
      turn.piece('Word');
      // As much as it may be.
      turn.end({ input: 15, output: turn.call.max_completion_tokens ?? turn.call.max_tokens ?? 0 });
    };
    const guest = await site().started(bot);
    for (let round = 0; round < 3; round += 1) await atOnce(Array.from({ length: 64 }, () => guest));
    const used = await usedTokens(site(), bot);
    expect(used).to.be.within(900, 1000);
    expect((await guest.start()).body.limit === null).to.equal(used < 1000);
  });

  it('of tokens count the actual usage', async () => {
    const bot = await site().bot({
      instructions: 'Be brief.',
      ...limits({ guest: { amount: 10_000, unit: 'tokens', per: 'day' } }),
    });
    site().upstream.answer = (turn) => {
      turn.piece('Word');
      turn.end({ input: 40, output: 2 });
    };
    const guest = await site().started(bot);
    await guest.send('One');
    expect(await usedTokens(site(), bot)).to.equal(42);
    site().upstream.answer = (turn) => {
      turn.fail(400);
    };
    await guest.send('Two');
    expect(await usedTokens(site(), bot)).to.equal(42);
  });

  it('can be changed by the filter svc_chatbot_limit', async () => {
    const bot = await site().bot(limits({ guest: { amount: 1, unit: 'messages', per: 'day' } }));
    const guest = await site().started(bot);
    const asked: unknown[] = [];
    const undo = site().host.hooks.addFilter('svc_chatbot_limit', (limit, visitor) => {
      asked.push([limit?.amount, visitor.bot.id, visitor.user.id, visitor.ip]);
      return null;
    });
    for (let send = 0; send < 3; send += 1) expect((await guest.send('Hello')).status).to.equal(200);
    expect(asked[0]).to.deep.equal([1, bot.id, 0, '127.0.0.1']);
    undo();
    expect((await guest.send('Hello')).status).to.equal(200);
    expect(((await guest.send('Hello')).body as unknown as Failure).code).to.equal('rest_svc_chat_limit_reached');
  });

  it('of past periods are deleted by the sweep', async () => {
    const guest = await site().started(
      await site().bot(limits({ guest: { amount: 5, unit: 'messages', per: 'day' } })),
    );
    await guest.send('Hello');
    site().clock.jump(60 * 24 * 3600_000);
    await site().host.cron.run('svc_widget_sweep');
    expect(await site().host.database.knex(widgetTables.counters)).to.deep.equal([]);
  });
});

async function usedTokens({ host }: WidgetSite, bot: Bot): Promise<number> {
  const row = (await host.database
    .knex(widgetTables.counters)
    .where({ bot_id: bot.id, unit: 'tokens' })
    .max({ used: 'used' })
    .first()) as { used: number | string };
  return Number(row.used);
}
