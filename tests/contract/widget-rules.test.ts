import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { FormResponse, SendEvent } from '../../plugins/svc/modules/chatbots/widget/protocol.ts';
import { submissionsTable } from '../../plugins/svc/modules/chatbots/forms/submission-tables.ts';
import { startWebhookReceiver } from './webhook-receiver.ts';
import { describeWidget, type Failure, type Guest } from './widget-site.ts';

type Fields = Readonly<Record<string, unknown>>;

// eslint-disable-next-line max-params -- a table's cells, one after the other.
const rule = (id: string, event: string, action: Fields, conditions: readonly Fields[] = []): Fields => ({
  id,
  name: id,
  enabled: true,
  event,
  conditions,
  action,
  priority: 10,
});
const says = (value: string): Fields => ({ fact: 'message', operator: 'contains', value });
const lead = {
  id: 'lead',
  name: 'Lead',
  intro: '',
  submit_label: 'Send',
  thanks: 'Thank you!',
  elements: [
    { id: 'name', type: 'text', label: 'Name', required: true, help: '', placeholder: '', options: [] },
    { id: 'mail', type: 'email', label: 'E-mail', required: true, help: '', placeholder: '', options: [] },
  ],
};

describeWidget('rules of a chatbot in the widget', (site) => {
  it('reply instead of the model', async () => {
    const guest = await site().started(
      await site().bot({
        rules: [rule('hours', 'message_received', { type: 'reply', text: 'We are open from 9 to 5.' }, [says('open')])],
      }),
    );
    const stream = await guest.stream('When are you open?');
    const events = await stream.whole();
    expect(events.map(({ type }) => type)).to.deep.equal(['accepted', 'delta', 'done']);
    expect((events.at(-1) as Extract<SendEvent, { type: 'done' }>).message.content).to.equal(
      'We are open from 9 to 5.',
    );
    expect(site().upstream.calls).to.have.length(0);
    expect((await guest.start()).body.conversation?.messages).to.have.length(2);
    expect((await guest.send('Something else')).body.message.content).to.equal('You said: Something else');
  });

  it('call a URL with the facts of the conversation, in the background; a guarded address is refused', async () => {
    const receiver = await startWebhookReceiver();
    try {
      const guest = await site().started(
        await site().bot({
          rules: [
            rule('inside', 'message_received', { type: 'call_url', url: 'http://169.254.169.254/latest' }),
            rule('crm', 'message_received', { type: 'call_url', url: receiver.url }, [
              { fact: 'message', operator: 'matches', value: '\\bB-\\d{4}\\b' },
            ]),
          ],
        }),
      );
      expect((await guest.send('Hello')).body.message.content).to.equal('You said: Hello');
      expect((await guest.send('My order is b-1234')).body.message.content).to.equal('You said: My order is b-1234');
      const [request] = await receiver.first(1);
      expect(JSON.parse(request!.body.toString())).to.deep.include({
        rule: 'crm',
        event: 'message_received',
        message: 'My order is b-1234',
        conversation: guest.conversation,
        bot: { id: guest.bot, name: 'Shop assistant' },
      });
    } finally {
      await receiver.stop();
    }
  });

  it('refuse patterns that are not linear and URLs that cannot be called', async () => {
    const refused = async (operator: string, value: string, url = 'https://example.com'): Promise<string> => {
      const condition = { fact: 'message', operator, value };
      const action = { type: 'call_url', url };
      const given = JSON.stringify({ rules: [rule('crm', 'message_received', action, [condition])] });
      return (await site().host.cli('svc', 'bot', 'create', '--json', given)).err;
    };
    expect(await refused('matches', '(?=a)b')).to.contain('Look-around such as (?=…) and back-references');
    expect(await refused('matches', '(a)\\1')).to.contain('rules[0].conditions[0].value is not a pattern');
    expect(await refused('matches', '(?:(?:a?){30}){30}')).to.contain('is too large');
    expect(await refused('matches', ' ')).to.contain('must hold a pattern');
    expect(await refused('contains', 'a', 'file:///etc/passwd')).to.contain('must be an http or https URL');
    expect(await refused('contains', 'a', 'https://me:secret@example.com')).to.contain('user name');
  });

  it('block a message with their text: nothing is stored or generated', async () => {
    const guest = await site().started(
      await site().bot({
        rules: [rule('no', 'message_received', { type: 'block', text: 'Not about that.' }, [says('politics')])],
      }),
    );
    const { status, body } = await guest.send('Let us talk politics');
    expect([status, (body as unknown as Failure).code, (body as unknown as Failure).message]).to.deep.equal([
      403,
      'rest_svc_message_refused',
      'Not about that.',
    ]);
    expect((await guest.start()).body.conversation).to.equal(null);
    expect(site().upstream.calls).to.have.length(0);
  });

  it('add to the prompt, at the start of a conversation and later', async () => {
    const rules = [
      rule('first', 'session_started', { type: 'add_context', text: 'The visitor is new.' }),
      rule('page', 'message_received', { type: 'add_context', text: 'The visitor is at {page_url}.' }, [
        { fact: 'page_url', operator: 'contains', value: '/contact' },
      ]),
    ];
    const guest = await site().started(await site().bot({ instructions: 'Be kind.', rules }));
    await guest.send('Hello', { page_url: 'https://shop.example.com/contact' });
    await guest.send('Hello again');
    const systemTexts = site().upstream.calls.map(({ messages }) => messages[0]?.content ?? '');
    expect(systemTexts[0])
      .to.contain('Be kind.')
      .and.contain('The visitor is new.')
      .and.contain('The visitor is at https://shop.example.com/contact.');
    expect(systemTexts[1]).to.contain('Be kind.').and.not.contain('The visitor');
  });

  it('set variables for later rules, store values with the conversation, and call hooks once with the event', async () => {
    const rules = [
      rule('vip', 'message_received', { type: 'set_variable', name: 'vip', value: 'yes' }, [says('gold card')]),
      rule('keep', 'message_received', { type: 'store', name: 'Wish', value: '{message}' }, [says('gold card')]),
      rule('crm', 'message_received', { type: 'call_hook', name: 'crm' }, [says('gold card')]),
      rule('greet', 'message_received', { type: 'reply', text: 'Welcome back, dear member.' }, [
        { fact: 'variable:vip', operator: 'equals', value: 'yes' },
        says('hello'),
      ]),
    ];
    const bot = await site().bot({ rules });
    const guest = await site().started(bot);
    const calls: unknown[] = [];
    site().host.hooks.addAction('svc_chatbot_rule_crm', (call) => {
      calls.push(call);
    });
    const message_id = randomUUID();
    await guest.send('I have a gold card', { message_id, page_url: 'https://shop.example.com/' });
    await guest.send('I have a gold card', { message_id });
    expect((await guest.send('Hello')).body.message.content).to.equal('Welcome back, dear member.');
    expect(calls).to.have.length(1);
    expect(calls[0]).to.deep.include({
      event: 'message_received',
      conversation: guest.conversation,
      message: 'I have a gold card',
      page_url: 'https://shop.example.com/',
      variables: { vip: 'yes' },
      user: { id: 0, displayName: '', roles: [] },
    });
    const row = (await site().host.database.knex('svc_conversations').where({ uuid: guest.conversation }).first()) as {
      variables: string;
      stored: string;
    };
    expect([JSON.parse(row.variables), JSON.parse(row.stored)]).to.deep.equal([
      { vip: 'yes' },
      [{ name: 'Wish', value: 'I have a gold card' }],
    ]);
  });

  it('reply to a failure, and show a form', async () => {
    const rules = [
      rule('sorry', 'error', { type: 'display_form', form_id: 'lead' }),
      rule('limit', 'error', { type: 'reply', text: 'Too much to do just now.' }, [
        { fact: 'error_code', operator: 'equals', value: 'rest_svc_provider_rejected' },
      ]),
    ];
    const guest = await site().started(await site().bot({ rules, forms: [lead] }));
    site().upstream.answer = (turn) => {
      turn.fail(400);
    };
    const { status, body } = await guest.send('Hello');
    expect(status).to.equal(200);
    expect(body.message.content).to.equal('Too much to do just now.');
    expect(body.form?.id).to.equal('lead');
    site().upstream.answer = (turn) => {
      turn.fail(403);
    };
    const second = await guest.send('Hello again');
    expect([second.status, second.body.message.content, second.body.form?.id]).to.deep.equal([200, '', 'lead']);
  });

  it('show a form with an answer, also when it is replayed; the submission is checked, stored, and answered by rules', async () => {
    const rules = [
      rule('show', 'message_received', { type: 'display_form', form_id: 'lead' }, [says('call')]),
      rule('crm', 'form_submitted', { type: 'call_hook', name: 'lead' }),
      rule('thanks', 'form_submitted', { type: 'reply', text: 'We will call you, {field:name}.' }, [
        { fact: 'form_id', operator: 'equals', value: 'lead' },
      ]),
    ];
    const bot = await site().bot({ rules, forms: [lead] });
    const guest = await site().started(bot);
    const calls: { fields: unknown }[] = [];
    site().host.hooks.addAction('svc_chatbot_rule_lead', (call: { fields: unknown }) => {
      calls.push(call);
    });
    const message_id = randomUUID();
    expect((await guest.send('Please call me', { message_id })).body.form).to.deep.include({
      id: 'lead',
      submit_label: 'Send',
    });
    expect((await guest.send('Please call me', { message_id })).body.form?.id).to.equal('lead');
    const submit = (submission_id: string, values: Fields) =>
      guest.post<FormResponse & Failure>('forms/lead', { conversation: guest.conversation, submission_id, values });
    const bad = await submit(randomUUID(), { name: '', mail: 'nonsense' });
    expect(bad.status).to.equal(400);
    expect(bad.body.code).to.equal('rest_invalid_param');
    expect(bad.body.data['params']).to.have.all.keys('name', 'mail');
    const id = randomUUID();
    const good = await submit(id, { name: 'Ada', mail: 'ada@example.com', more: 'left out' });
    expect(good.body).to.deep.include({ thanks: 'Thank you!', form: null });
    expect(good.body.message?.content).to.equal('We will call you, Ada.');
    expect((await submit(id, { name: 'Ada', mail: 'ada@example.com' })).body).to.deep.equal(good.body);
    expect(calls).to.have.length(1);
    expect(calls[0]?.fields).to.deep.include({ name: 'Ada' });
    const { body } = await guest.start();
    expect(body.conversation?.messages.map(({ content }) => content)).to.deep.equal([
      'Please call me',
      'You said: Please call me',
      'We will call you, Ada.',
    ]);
  });
});

describeWidget('hidden fields of chat forms', (site) => {
  const sources = ['page_url', 'page_title', 'query:utm_source', 'user_id', 'user_name', 'user_email'];
  const hidden = sources.map((source, at) => ({ id: `h${String(at)}`, type: 'hidden', label: source, source }));
  const forms = [{ ...lead, elements: [{ id: 'note', type: 'text', label: 'Note' }, ...hidden] }];
  const rules = [rule('show', 'message_received', { type: 'display_form', form_id: 'lead' })];
  const page_url = 'https://shop.example.com/?utm_source=spring';

  it('are not shown, and filled by the server: the user is the one who is signed in, whatever was sent', async () => {
    const { host } = site();
    const bot = await site().bot({ forms, rules });
    const ada = await site().user('ada');
    const forged = { note: 'Hi', ...Object.fromEntries(hidden.map(({ id }) => [id, 'forged'])) };
    const submitted = async (guest: Guest): Promise<Fields> => {
      expect((await guest.send('Hello')).body.form?.elements.map(({ id }) => id)).to.deep.equal(['note']);
      const sent = {
        conversation: guest.conversation,
        submission_id: randomUUID(),
        values: forged,
        page_url,
        page_title: 'A small\n shop',
      };
      expect((await guest.post('forms/lead', sent)).status).to.equal(200);
      const stored: unknown = await host.database
        .knex(submissionsTable)
        .where({ uuid: sent.submission_id })
        .first('answers');
      return (JSON.parse((stored as { answers: string }).answers) as { inputs: Fields }).inputs;
    };
    const seen = { note: 'Hi', h0: page_url, h1: 'A small shop', h2: 'spring' };
    expect(await submitted(await site().started(bot))).to.deep.equal({ ...seen, h3: '', h4: '', h5: '' });
    const user = await host.users.find('ada');
    expect(await submitted(await site().started(bot, { origin: host.url, cookie: ada.cookie }))).to.deep.equal({
      ...seen,
      h3: String(ada.id),
      h4: user?.displayName,
      h5: user?.email,
    });
  });

  it('are refused without a source, or if they are required', async () => {
    const refused = async (element: Fields): Promise<string> => {
      const [form] = forms;
      const given = { forms: [{ ...form, elements: [{ id: 'x', label: 'X', ...element }] }] };
      return (await site().host.cli('svc', 'bot', 'create', '--json', JSON.stringify(given))).err;
    };
    expect(await refused({ type: 'hidden' })).to.contain('elements[0].source must name what fills the field');
    expect(await refused({ type: 'hidden', source: 'password' })).to.contain('must be page_url, page_title, query:');
    expect(await refused({ type: 'text', source: 'page_url' })).to.contain('is only for fields of type hidden');
    expect(await refused({ type: 'hidden', source: 'page_url', required: true })).to.contain('must be false');
  });
});

describeWidget('feedback in the widget', (site) => {
  it('is stored with the answer until it is removed, and refused if the bot does not allow it', async () => {
    const bot = await site().bot();
    const guest = await site().started(bot);
    const { body } = await guest.send('Hello');
    const rate = (fields: Fields) =>
      guest.post('feedback', { conversation: guest.conversation, message_id: body.message.id, ...fields });
    expect(await rate({ value: 'down', comment: ' Too short ' })).to.deep.include({
      status: 200,
      body: { value: 'down', comment: 'Too short' },
    });
    expect((await guest.start()).body.conversation?.messages[1]?.feedback).to.equal('down');
    expect(await rate({ value: 'none', comment: 'x' })).to.deep.include({ body: { value: 'none', comment: '' } });
    expect((await rate({ value: 'maybe' })).status).to.equal(400);
    const asked = (await guest.start()).body.conversation?.messages[0]?.id;
    expect((await rate({ message_id: asked, value: 'up' })).status).to.equal(404);
    await site().change(bot.id, { feedback: false });
    expect((await rate({ value: 'up' })).status).to.equal(403);
  });
});
