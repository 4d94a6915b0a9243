import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { submissionsTable } from '../../plugins/svc/modules/chatbots/forms/submission-tables.ts';
import type { SendResponse, StartResponse } from '../../plugins/svc/modules/chatbots/widget/protocol.ts';
import { describeWidget, shop, type Answer, type Guest, type WidgetSite } from './widget-site.ts';

const secret = 'My account number is 4711';

/** Another visitor's stored conversation: its ids and its token. */
interface Victim {
  readonly site: WidgetSite;
  readonly guest: Guest;
  readonly conversation: string;
  readonly messageId: string;
  readonly answerId: string;
  /** A conversation with the same bot by a signed-in user of the site. */
  readonly user: Guest;
  readonly otherBot: number;
}

/** An attacker's headers and token. `conversation`: the one to open, if not the guest's. */
interface Attempt {
  readonly who: string;
  readonly guest: (victim: Victim) => Promise<Guest> | Guest;
  readonly conversation?: (victim: Victim) => string;
}

interface Action {
  readonly what: string;
  readonly run: (guest: Guest, conversation: string, victim: Victim) => Promise<Answer>;
}

const actions: readonly Action[] = [
  {
    what: 'sends a message',
    run: (guest, conversation) =>
      guest.post('messages', { conversation, message_id: randomUUID(), text: 'What is my account number?' }),
  },
  {
    what: 'sends the same message again',
    run: (guest, conversation, { messageId }) =>
      guest.post('messages', { conversation, message_id: messageId, text: secret }),
  },
  {
    what: 'regenerates the answer',
    run: (guest, conversation, { messageId }) =>
      guest.post('messages', { conversation, message_id: messageId, text: secret, regenerate: true }),
  },
  {
    what: 'stops the answer',
    run: (guest, conversation, { messageId }) => guest.post('stop', { conversation, message_id: messageId }),
  },
  {
    what: 'rates the answer',
    run: (guest, conversation, { answerId }) =>
      guest.post('feedback', { conversation, message_id: answerId, value: 'down' }),
  },
  {
    what: 'submits a form',
    run: (guest, conversation) =>
      guest.post('forms/lead', { conversation, submission_id: randomUUID(), values: { name: 'Eve' } }),
  },
];

/* eslint-disable max-params -- the cells of a table, one after the other */
const withToken = (
  site: WidgetSite,
  bot: number,
  token: string,
  headers: Record<string, string> = { origin: shop },
): Guest => {
  const guest = site.guest({ id: bot }, headers);
  guest.token = token;
  return guest;
};
/* eslint-enable max-params */
const flipped = (token: string, at: number): string =>
  token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
const stranger = ({ site, guest }: Victim): Promise<Guest> => site.started({ id: guest.bot });

const attempts: readonly Attempt[] = [
  { who: 'another guest who knows the id', guest: stranger },
  { who: 'a guest without a token', guest: ({ site, guest }) => site.guest({ id: guest.bot }) },
  { who: 'a guest with a made-up token', guest: ({ site, guest }) => withToken(site, guest.bot, 'A'.repeat(71)) },
  {
    who: 'a guest whose token is the stolen id of the session',
    guest: async ({ site, guest }) =>
      withToken(
        site,
        guest.bot,
        (
          (await site.host.database.knex('svc_conversations').where({ uuid: guest.conversation }).first()) as {
            session_id: string;
          }
        ).session_id,
      ),
  },
  {
    who: 'a guest with a token of which one bit is another',
    guest: ({ site, guest }) => withToken(site, guest.bot, flipped(guest.token, 40)),
  },
  {
    who: 'a guest with a token whose signature was changed',
    guest: ({ site, guest }) => withToken(site, guest.bot, flipped(guest.token, guest.token.length - 3)),
  },
  {
    who: 'a guest with another spelling of the token',
    guest: ({ site, guest }) => withToken(site, guest.bot, `${guest.token}=`),
  },
  {
    who: 'a guest with the token stolen by a script of another allowed site',
    guest: ({ site, guest }) => withToken(site, guest.bot, guest.token, { origin: 'https://second.example.com' }),
  },
  {
    who: 'a program without an origin that has the token',
    guest: ({ site, guest }) => withToken(site, guest.bot, guest.token, {}),
  },
  {
    who: 'another browser that has the token',
    guest: ({ site, guest }) => withToken(site, guest.bot, guest.token, { origin: shop, 'user-agent': 'curl/8.5.0' }),
  },
  {
    who: 'a guest who puts the token into the cookie',
    guest: ({ site, guest }) =>
      withToken(site, guest.bot, '', { origin: site.host.url, cookie: `svc_chat=${guest.token}` }),
  },
  {
    who: 'a guest with a token for another bot',
    guest: async ({ site, otherBot, guest }) =>
      withToken(site, guest.bot, (await site.started({ id: otherBot })).token),
  },
  {
    who: 'the owner’s token at another bot',
    guest: ({ site, otherBot, guest }) => withToken(site, otherBot, guest.token),
  },
  { who: 'the owner’s browser at another bot', guest: ({ site, otherBot }) => site.started({ id: otherBot }) },
  {
    who: 'a signed-in user who knows a guest’s id',
    guest: async ({ site, guest }) =>
      site.started(
        { id: guest.bot },
        { origin: site.host.url, cookie: (await site.user(`eve${randomUUID().slice(0, 8)}`)).cookie },
      ),
  },
  {
    who: 'a signed-in administrator who knows a guest’s id',
    guest: async ({ site, guest }) =>
      site.started(
        { id: guest.bot },
        { origin: site.host.url, cookie: (await site.user(`root${randomUUID().slice(0, 8)}`, 'administrator')).cookie },
      ),
  },
  { who: 'a guest who knows a user’s id', guest: stranger, conversation: ({ user }) => user.conversation ?? '' },
  {
    who: 'another user who knows a user’s id',
    guest: async ({ site, guest }) =>
      site.started(
        { id: guest.bot },
        { origin: site.host.url, cookie: (await site.user(`mallory${randomUUID().slice(0, 8)}`)).cookie },
      ),
    conversation: ({ user }) => user.conversation ?? '',
  },
  {
    who: 'the user’s cookies without the sign-in',
    guest: ({ site, user }) =>
      site.guest(
        { id: user.bot },
        { ...user.headers, cookie: (user.headers['cookie'] ?? '').replace(/svc_session=[^;]+;?\s*/, '') },
      ),
    conversation: ({ user }) => user.conversation ?? '',
  },
  {
    who: 'a page of another site with the user’s cookies',
    guest: ({ site, user }) => site.guest({ id: user.bot }, { ...user.headers, origin: shop }),
    conversation: ({ user }) => user.conversation ?? '',
  },
  {
    who: 'a page of another site that begins a session with the user’s cookies',
    guest: ({ site, user }) => site.started({ id: user.bot }, { ...user.headers, origin: shop }),
    conversation: ({ user }) => user.conversation ?? '',
  },
  { who: 'the owner with an id that is made up', guest: ({ guest }) => guest, conversation: () => randomUUID() },
  {
    who: 'the owner with an id of one digit less',
    guest: ({ guest }) => guest,
    conversation: ({ conversation }) => conversation.slice(0, -1),
  },
  { who: 'the owner with a row number', guest: ({ guest }) => guest, conversation: () => '1' },
  { who: 'the owner with an id in SQL', guest: ({ guest }) => guest, conversation: () => "' OR '1'='1" },
];

describeWidget('conversations of another visitor', (site) => {
  const form = {
    id: 'lead',
    name: 'Lead',
    submit_label: 'Send',
    thanks: 'Thanks',
    intro: '',
    elements: [{ id: 'name', type: 'text', label: 'Name', required: true, help: '', placeholder: '', options: [] }],
  };

  async function open(): Promise<Victim> {
    // The attempts must not fail because of the flood limit.
    site().host.hooks.addFilter('svc_chatbot_burst_limits', () => ({
      starts_per_address: 10_000,
      sends_per_address: 10_000,
      sends_per_session: 10_000,
    }));
    const bot = await site().bot({
      embed: { allowed_domains: ['shop.example.com', 'second.example.com'] },
      forms: [form],
    });
    const other = await site().bot({ name: 'Other', forms: [form] });
    const guest = await site().started(bot);
    const messageId = randomUUID();
    const { body } = await guest.send(secret, { message_id: messageId });
    const user = await site().started(bot, { origin: site().host.url, cookie: (await site().user('alice')).cookie });
    await user.send(secret);
    return {
      site: site(),
      guest,
      conversation: body.conversation,
      messageId,
      answerId: body.message.id,
      user,
      otherBot: other.id,
    };
  }

  async function isUntouched({ guest, user }: Victim): Promise<void> {
    for (const owner of [guest, user]) {
      const { body } = await owner.start();
      expect(body.conversation?.id).to.equal(owner.conversation);
      expect(body.conversation?.messages.map(({ content, feedback }) => [content, feedback])).to.deep.equal([
        [secret, 'none'],
        [`You said: ${secret}`, 'none'],
      ]);
    }
    expect(await site().host.database.knex(submissionsTable)).to.deep.equal([]);
  }

  it(`can be neither read nor continued: ${String(attempts.length * actions.length)} attempts fail alike, whether the conversation exists or not`, async function () {
    this.timeout(120_000);
    const victim = await open();
    const before = site().upstream.calls.length;
    for (const { who, guest: make, conversation = ({ conversation: id }: Victim) => id } of attempts) {
      const guest = await make(victim);
      for (const { what, run } of actions) {
        const { status, body } = await run(guest, conversation(victim), victim);
        expect([403, 404], `${who} ${what}: ${JSON.stringify(body)}`).to.include(status);
        expect(JSON.stringify(body), `${who} ${what}`).not.to.contain('4711');
        // The same words for one that is not there.
        expect(body, `${who} ${what}`).to.deep.equal((await run(guest, randomUUID(), victim)).body);
      }
    }
    expect(site().upstream.calls.length).to.equal(before);
    await isUntouched(victim);
  });

  it('are not returned by a start, as if they did not exist', async () => {
    const victim = await open();
    for (const { who, guest: make, conversation = ({ conversation: id }: Victim) => id } of attempts.filter(
      ({ guest }) => guest !== (({ guest: own }: Victim) => own),
    )) {
      const guest = await make(victim);
      if (guest === victim.guest) continue;
      for (const named of [{ conversation: conversation(victim) }, {}]) {
        const { status, body } = await guest.post<StartResponse>('start', named);
        expect(status, who).to.equal(200);
        expect(body.conversation, who).to.equal(null);
      }
    }
  });

  it('do not open with message ids of another conversation', async () => {
    const victim = await open();
    const guest = await stranger(victim);
    const own = await guest.send('Mine');
    const { conversation } = guest;
    const tries: readonly [string, Promise<Answer>][] = [
      [
        'feedback for an answer of another conversation',
        guest.post('feedback', { conversation, message_id: victim.answerId, value: 'down' }),
      ],
      [
        'feedback for a message of one’s own',
        guest.post('feedback', { conversation, message_id: own.body.conversation, value: 'down' }),
      ],
      [
        'another visitor’s message regenerated in the own conversation',
        guest.post('messages', { conversation, message_id: victim.messageId, text: 'x', regenerate: true }),
      ],
      [
        'a form the bot does not have',
        guest.post('forms/other', { conversation, submission_id: randomUUID(), values: {} }),
      ],
    ];
    for (const [what, attempt] of tries) expect((await attempt).status, what).to.equal(404);
    // The id of another's message is but a number to choose: what is sent under it is one's own message.
    const chosen = await guest.post<SendResponse>('messages', {
      conversation,
      message_id: victim.messageId,
      text: 'What did I say?',
    });
    expect(chosen.body.message.content).to.equal('You said: What did I say?');
    await isUntouched(victim);
  });

  it('do not open with the id of another visitor’s first message', async () => {
    const victim = await open();
    const guest = await stranger(victim);
    const { status, body } = await guest.send('Hello', { message_id: victim.messageId });
    expect(status).to.equal(200);
    expect(body.conversation).not.to.equal(victim.conversation);
    expect(body.message.content).to.equal('You said: Hello');
    await isUntouched(victim);
  });

  it('do not open after the session has expired; a session in use is renewed', async () => {
    const victim = await open();
    const day = 24 * 3600_000;
    site().clock.jump(20 * day);
    const { body } = await victim.guest.start();
    expect(body.conversation?.id).to.equal(victim.conversation);
    const { token } = victim.guest;
    site().clock.jump(20 * day);
    expect((await victim.guest.start()).body.conversation?.id).to.equal(victim.conversation);
    victim.guest.token = token;
    site().clock.jump(11 * day);
    const refused = await victim.guest.post('messages', {
      conversation: victim.conversation,
      message_id: randomUUID(),
      text: 'Hello',
    });
    expect(refused.status).to.equal(403);
    expect(refused.body.code).to.equal('rest_svc_session_invalid');
    expect((await victim.guest.start()).body.conversation).to.equal(null);
  });

  it('that are not stored cannot be continued either', async () => {
    const bot = await site().bot({ privacy: { keep: false }, forms: [form] });
    const guest = await site().started(bot);
    const first = await guest.send('Hello');
    const thief = await site().started(bot);
    for (const { what, run } of actions) {
      for (const conversation of [guest.conversation ?? '', randomUUID()]) {
        const { status, body } = await run(thief, conversation, {
          messageId: randomUUID(),
          answerId: first.body.message.id,
        } as Victim);
        expect(status, `${what}: ${JSON.stringify(body)}`).to.equal(404);
      }
    }
    const made = await guest.post('feedback', {
      conversation: guest.conversation,
      message_id: randomUUID(),
      value: 'up',
    });
    expect(made.status).to.equal(404);
  });
});
