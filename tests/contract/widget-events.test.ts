import { randomUUID } from 'node:crypto';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { expect } from 'chai';
import { createSystemClock } from '../../host/clock.ts';
import { serviceEvents } from '../../plugins/svc/events.ts';
import type { Envelope } from '../../plugins/svc/webhooks/event.ts';
import { describeHosts } from '../helpers/dialects.ts';
import { contractFields } from './webhook-fields.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';
import { startWidgetSite, type Guest, type WidgetSite } from './widget-site.ts';
import { until } from '../helpers/until.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- events are compared, not typed.
type Event = Envelope & { readonly data: any };

const form = {
  id: 'call-me',
  name: 'Call me back',
  submit_label: 'Send',
  thanks: 'We will call.',
  intro: '',
  elements: [
    { id: 'first', type: 'text', label: 'First name', required: true, help: '', placeholder: '', options: [] },
    { id: 'mail', type: 'email', label: 'E-mail', required: true, help: '', placeholder: '', options: [] },
    {
      id: 'when',
      type: 'select',
      label: 'When',
      required: false,
      help: '',
      placeholder: '',
      options: [
        { value: 'am', label: 'In the morning' },
        { value: 'pm', label: 'In the afternoon' },
      ],
    },
    { id: 'page', type: 'hidden', label: 'Page', source: 'page_url' },
  ],
};
const showForm = {
  id: 'show',
  name: 'Show',
  enabled: true,
  event: 'message_received',
  conditions: [{ fact: 'message', operator: 'contains', value: 'call' }],
  action: { type: 'display_form', form_id: 'call-me' },
  priority: 10,
};

describeHosts('events of the chat widget', ({ location }) => {
  // Inside, so that the sites have stopped when their database is removed.
  describe('on a separate site', () => {
    let site: WidgetSite;
    let receiver: WebhookReceiver;

    beforeEach(async function () {
      this.timeout(60_000);
      const { databaseUrl, dataDir } = location();
      site = await startWidgetSite({ database: databaseUrl ?? dataDir, clock: createSystemClock() });
      receiver = await startWebhookReceiver();
      await site.host.cli('svc', 'webhook', 'on');
      const { code, err } = await site.host.cli(
        'svc',
        'webhook',
        'add',
        '--json',
        JSON.stringify({
          name: 'Shop',
          url: receiver.url,
          events: serviceEvents.map(({ name }) => name),
          ordered: true,
        }),
      );
      if (code !== 0) throw new Error(err);
    });
    afterEach(async () => {
      await site.stop();
      await receiver.stop();
    });

    const received = async (count: number): Promise<readonly Event[]> =>
      (await receiver.first(count)).map(({ body }) => JSON.parse(body.toString()) as Event);
    /** A last event of a conversation of its own, after which nothing of the others can come any more. */
    const noneBut = async (count: number): Promise<void> => {
      const last = await site.started(await site.bot({ name: 'The last one' }));
      await last.send('The end');
      const all = await received(count + 3);
      expect(all.slice(0, count).map(({ data }) => data.bot.name)).not.to.include('The last one');
    };
    const check = (event: Event): void => {
      const definition = serviceEvents.find(({ name }) => name === event.type);
      const ajv = addFormats.default(new Ajv({ allErrors: true, allowUnionTypes: true }));
      expect(ajv.validate(definition?.schema ?? false, event.data), `${event.type}: ${ajv.errorsText()}`).to.equal(
        true,
      );
      const missing = (contractFields[event.type] ?? []).filter(
        (path) =>
          path !== 'actor.user_id' &&
          path
            .split('.')
            .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], event.data) ===
            undefined,
      );
      expect(missing, event.type).to.deep.equal([]);
    };

    it('all five arrive in order, once each, with every field of their schemas', async () => {
      const bot = await site.bot({ forms: [form], rules: [showForm] });
      const guest = await site.started(bot);
      await act(guest);
      const events = await received(5);
      for (const event of events) check(event);
      expect(events.map(({ type }) => type)).to.deep.equal([
        'chatbot.session_started',
        'chatbot.user_message_submitted',
        'chatbot.response_generated',
        'chatbot.fb_submitted',
        'chatbot.form_submitted',
      ]);
      expect(events.map(({ source }) => [source.module, source.origin])).to.deep.equal([
        ['chatbot', 'frontend_session_started'],
        ['chatbot', 'frontend_user_message'],
        ['chatbot', 'frontend_response_completed'],
        ['chatbot', 'frontend_feedback'],
        ['chatbot', 'frontend_rule_form_submission'],
      ]);
      const [started, asked, answered, rated, submitted] = events as [Event, Event, Event, Event, Event];
      expect(events.map(({ resource }) => [resource?.type, resource?.id])).to.deep.equal([
        ['conversation', guest.conversation],
        ['conversation_message', asked.data.message.id],
        ['conversation_message', answered.data.response.id],
        ['conversation_message', answered.data.response.id],
        ['chatbot_form_submission', submitted.data.submission.id],
      ]);
      expect(started.data).to.deep.include({
        bot: { id: bot.id, name: 'Shop assistant' },
        conversation: { id: guest.conversation, message_count: 1 },
        actor: { type: 'guest' },
        ai: { provider: 'OpenAI', model: 'gpt-4o-mini' },
      });
      expect(asked.data.message.text).to.equal('Please call me');
      expect(answered.data).to.deep.include({
        conversation: { id: guest.conversation, message_count: 2 },
        ai: { provider: 'OpenAI', model: 'gpt-4o-mini-answered' },
      });
      expect(answered.data.response.text).to.equal('You said: Please call me');
      expect(rated.data.feedback).to.deep.equal({
        value: 'up',
        message_id: answered.data.response.id,
        comment: 'Well done',
      });
      expect(submitted.data).to.deep.include({
        form: { id: 'call-me', name: 'Call me back' },
        page: { id: 42, url: 'https://shop.example.com/contact' },
      });
      expect(submitted.data.inputs).to.deep.include({
        first: 'Ada',
        mail: 'ada@example.com',
        when: 'pm',
        page: 'https://shop.example.com/contact',
        email: 'ada@example.com',
        first_name: 'Ada',
      });
      expect(submitted.data.display_values.when).to.equal('In the afternoon');
      expect(new Set(events.map(({ idempotency_key: key }) => key)).size).to.equal(5);
      await noneBut(5);
    });

    /** Everything a visitor can do, each act sent three times, twice of them at once. */
    async function act(guest: Guest): Promise<void> {
      const message_id = randomUUID();
      const ask = () => guest.send('Please call me', { message_id });
      const [{ body }] = await Promise.all([ask(), ask()]);
      await ask();
      expect(body.form?.id).to.equal('call-me');
      const rate = () =>
        guest.post('feedback', {
          conversation: guest.conversation,
          message_id: body.message.id,
          value: 'up',
          comment: 'Well done',
        });
      await Promise.all([rate(), rate()]);
      await rate();
      const submission_id = randomUUID();
      const submit = () =>
        guest.post('forms/call-me', {
          conversation: guest.conversation,
          submission_id,
          values: { first: 'Ada', mail: 'ada@example.com', when: 'pm' },
          page_url: 'https://shop.example.com/contact',
          page_id: 42,
        });
      await Promise.all([submit(), submit()]);
      expect((await submit()).body).to.deep.include({ thanks: 'We will call.', message: null });
    }

    it('arrive once even if the conversation is not stored', async () => {
      const guest = await site.started(await site.bot({ forms: [form], rules: [showForm], privacy: { keep: false } }));
      await act(guest);
      const events = await received(5);
      expect(events.map(({ type }) => type)).to.deep.equal([
        'chatbot.session_started',
        'chatbot.user_message_submitted',
        'chatbot.response_generated',
        'chatbot.fb_submitted',
        'chatbot.form_submitted',
      ]);
      await noneBut(5);
      // The texts do not stay in the delivery log either.
      const { knex } = site.host.database;
      const texts = async (): Promise<string[]> =>
        ((await knex('svc_webhook_events').orderBy('id').limit(5).pluck('body')) as Buffer[]).map((body) =>
          Buffer.from(body).toString(),
        );
      await until('events without texts', async () => (await texts()).every((text) => text === ''));
    });

    it('are emitted for each change of a rating, under separate keys', async () => {
      const guest = await site.started(await site.bot());
      const { body } = await guest.send('Hello');
      for (const value of ['up', 'down', 'none', 'up', 'up'])
        await guest.post('feedback', { conversation: guest.conversation, message_id: body.message.id, value });
      const events = (await received(7)).slice(3);
      expect(events.map(({ data }) => data.feedback.value)).to.deep.equal(['up', 'down', 'none', 'up']);
      expect(new Set(events.map(({ idempotency_key: key }) => key)).size).to.equal(4);
      await noneBut(7);
    });

    it('are not emitted for refused, stopped or failed messages, and once more for a regenerated answer', async () => {
      const bot = await site.bot({ moderation: { banned_words: ['never'], banned_addresses: [], message: 'No.' } });
      const guest = await site.started(bot);
      await guest.send('never');
      const message_id = randomUUID();
      site.upstream.answer = (turn) => {
        turn.fail(400);
      };
      await guest.send('Hello', { message_id });
      site.upstream.answer = (turn) => {
        turn.piece('Yes');
        turn.end();
      };
      await guest.send('Hello', { message_id });
      await guest.send('Hello', { message_id, regenerate: true });
      const events = await received(4);
      expect(events.map(({ type }) => type.replace('chatbot.', ''))).to.deep.equal([
        'session_started',
        'user_message_submitted',
        'response_generated',
        'response_generated',
      ]);
      expect(new Set(events.map(({ idempotency_key: key }) => key)).size).to.equal(4);
      await noneBut(4);
    });

    it('name the signed-in user of the site', async () => {
      const user = await site.user('ada');
      const guest = await site.started(await site.bot(), { origin: site.host.url, cookie: user.cookie });
      await guest.send('Hello');
      const events = await received(3);
      for (const event of events) {
        check(event);
        expect(event.data.actor).to.deep.equal({ type: 'user', user_id: user.id });
      }
    });
  });
});
