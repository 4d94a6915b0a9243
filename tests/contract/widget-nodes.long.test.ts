import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Clock } from '#plugin-api';
import { createSystemClock } from '../../host/clock.ts';
import type { Bot } from '../../plugins/svc/modules/chatbots/bots/bot.ts';
import { describeHosts, sharedSite } from '../helpers/dialects.ts';
import { startWidgetSite, type Guest, type WidgetSite } from './widget-site.ts';

interface HurryingClock {
  readonly clock: Clock;
  /** From now on, who begins to wait waits for a tenth of a second at most. */
  begin(): void;
}

/** The time of the machine. */
function createHurryingClock(): HurryingClock {
  const system = createSystemClock();
  let most = Infinity;
  const short = (milliseconds: number): number => Math.min(most, milliseconds);
  return {
    begin: () => (most = 100),
    clock: {
      ...system,
      after: (milliseconds, run) => system.after(short(milliseconds), run),
      sleep: (milliseconds, signal) => system.sleep(short(milliseconds), signal),
    },
  };
}

describeHosts('the chat widget on two nodes', ({ location }) => {
  // Inside, so that the sites have stopped when their database is removed.
  describe('on separate sites', () => {
    let first: WidgetSite;
    let second: WidgetSite;
    let bot: Bot;
    /** Of the second one. */
    let hurry: HurryingClock;

    beforeEach(async function () {
      this.timeout(60_000);
      const common = sharedSite(location());
      first = await startWidgetSite({ ...common, clock: createSystemClock() });
      hurry = createHurryingClock();
      second = await startWidgetSite({ ...common, clock: hurry.clock, upstream: first.upstream });
      for (const { host } of [first, second])
        host.hooks.addFilter('svc_chatbot_burst_limits', () => ({
          starts_per_address: 10_000,
          sends_per_address: 10_000,
          sends_per_session: 10_000,
        }));
      bot = await first.bot();
    });
    afterEach(async () => {
      await second.stop();
      await first.stop();
    });

    /** The same page, whose next request reaches the other node. */
    const onSecond = (guest: Guest): Guest =>
      Object.assign(second.guest({ id: guest.bot }), { token: guest.token, conversation: guest.conversation });

    it('recognizes a visitor on either node, and continues the conversation', async () => {
      const guest = await first.started(bot);
      await guest.send('One');
      const there = onSecond(guest);
      expect((await there.send('Two')).status).to.equal(200);
      expect((await guest.start()).body.conversation?.messages.map(({ content }) => content)).to.deep.equal([
        'One',
        'You said: One',
        'Two',
        'You said: Two',
      ]);
    });

    it('generates one answer to a message that reaches both at once', async () => {
      const guest = await first.started(bot);
      const there = onSecond(guest);
      const message_id = randomUUID();
      const answers = await Promise.all([
        guest.send('Hello', { message_id }),
        there.send('Hello', { message_id }),
        guest.send('Hello', { message_id }),
        there.send('Hello', { message_id }),
      ]);
      for (const { status, body } of answers) {
        expect(status).to.equal(200);
        expect(body.message).to.deep.equal(answers[0].body.message);
      }
      expect(first.upstream.calls).to.have.length(1);
    });

    it('generates no second answer when the other node has just finished', async () => {
      const guest = await first.started(bot);
      const message_id = randomUUID();
      let answered: Promise<unknown> | null = null;
      // Between the look at the message and the lease the first node does all of it.
      second.host.hooks.addFilter('svc_chatbot_limit', async (limit) => {
        await (answered ??= guest.send('Hello', { message_id }));
        return limit;
      });
      const { status, body } = await onSecond(guest).send('Hello', { message_id });
      expect(status).to.equal(200);
      expect((await guest.send('Hello', { message_id })).body).to.deep.equal(body);
      expect(first.upstream.calls).to.have.length(1);
    });

    it('lets a page whose connection broke follow the answer on the other node', async () => {
      const guest = await first.started(bot);
      const message_id = randomUUID();
      const next = first.upstream.next();
      const stream = await guest.stream('Hello', { message_id });
      const turn = await next;
      turn.piece('Made on the first');
      await stream.until('delta');
      await stream.hangUp();
      const there = onSecond(guest);
      const following = await there.stream('Hello', { message_id });
      await following.until('accepted');
      turn.end();
      const done = (await following.whole()).at(-1);
      expect(done).to.have.nested.property('message.content', 'Made on the first');
      expect(first.upstream.calls).to.have.length(1);
    });

    it('refuses another message while one is answered on the other node, and stops it from there', async () => {
      const guest = await first.started(bot);
      const message_id = randomUUID();
      const next = first.upstream.next();
      const stream = await guest.stream('Tell me', { message_id });
      (await next).piece('Once');
      await stream.until('delta');
      const there = onSecond(guest);
      expect(
        (await there.post('messages', { conversation: guest.conversation, message_id: randomUUID(), text: 'Two' }))
          .status,
      ).to.equal(409);
      expect(
        (await there.post<{ stopped: boolean }>('stop', { conversation: guest.conversation, message_id })).body,
      ).to.deep.equal({ stopped: true });
      expect((await stream.whole()).at(-1)).to.have.nested.property('message.is_partial', true);
      expect((await there.start()).body.conversation?.messages[1]).to.deep.include({
        content: 'Once',
        is_partial: true,
      });
    });

    it('retries on the other node when one dies during an answer, and refunds the reservation', async () => {
      await first.change(bot.id, { limits: { guest: { amount: 1, unit: 'messages', per: 'day' } } });
      const guest = await first.started(bot);
      const message_id = randomUUID();
      const next = first.upstream.next();
      const stream = await guest.stream('Hello', { message_id });
      const turn = await next;
      await stream.until('accepted');
      // Its lease has expired, as it does without renewal.
      await first.host.database.knex('jobs').where({ name: 'chat-turn' }).update({ due_at: 1 });
      const there = onSecond(guest);
      const { status, body } = await there.send('Hello', { message_id });
      expect([status, body.message.content]).to.deep.equal([200, 'You said: Hello']);
      // The first one comes back: its answer counts for nothing.
      turn.piece('Too late');
      turn.end();
      await stream.whole();
      expect((await there.start()).body.conversation?.messages.map(({ content }) => content)).to.deep.equal([
        'Hello',
        'You said: Hello',
      ]);
      expect(
        (await there.post('messages', { conversation: guest.conversation, message_id: randomUUID(), text: 'Two' }))
          .status,
      ).to.equal(429);
    });

    it('lets a message be sent again to the other node when its node stops', async () => {
      const guest = await first.started(bot);
      const message_id = randomUUID();
      const next = second.upstream.next();
      const there = onSecond(guest);
      const stream = await there.stream('Hello', { message_id });
      (await next).piece('Half');
      await stream.until('delta');
      // Stopping waits for the open request and its job, for 14 seconds in all.
      hurry.begin();
      const stopping = second.host.stop();
      const events = await stream.whole().catch(() => stream.events);
      expect(events.at(-1)?.type).not.to.equal('done');
      await stopping;
      guest.conversation = there.conversation;
      expect((await guest.send('Hello', { message_id })).body.message.content).to.equal('You said: Hello');
    }).timeout(60_000);

    it('holds limits across both when 64 messages are sent at once', async () => {
      await first.change(bot.id, { limits: { guest: { amount: 5, unit: 'messages', per: 'day' } } });
      const guest = await first.started(bot);
      const there = onSecond(guest);
      const answers = await Promise.all(
        Array.from({ length: 64 }, (_, index) =>
          (index % 2 === 0 ? guest : there).post('messages', { message_id: randomUUID(), text: 'Hello' }),
        ),
      );
      expect(answers.filter(({ status }) => status === 200)).to.have.length(5);
      expect(answers.filter(({ status }) => status === 429)).to.have.length(59);
    }).timeout(60_000);
  });
});
