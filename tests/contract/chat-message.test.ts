import { expect } from 'chai';
import { say, startChatService, type ChatService } from './chat-service.ts';
import { completion } from './upstream.ts';

describe('POST /chat/{bot_id}/message', () => {
  let service: ChatService;
  before(async () => {
    service = await startChatService();
  });
  beforeEach(() => {
    service.upstream.answer();
  });
  after(() => service.stop());

  interface Sent {
    readonly model: string;
    readonly messages: readonly { readonly role: string; readonly content: string }[];
    readonly [name: string]: unknown;
  }
  const sent = (): Sent => service.upstream.requests[0] as unknown as Sent;

  it('returns exactly the fields and types of the contract', async () => {
    const bot = await service.bot();
    const { status, headers, body } = await service.chat(bot.id, say('Hello'));
    expect([status, body]).to.deep.equal([
      200,
      {
        reply: 'Hello there.',
        usage: { input_tokens: 7, output_tokens: 3, total_tokens: 10 },
        bot_id: bot.id,
        model: 'far-model-0125',
      },
    ]);
    expect(headers.get('content-type')).to.match(/^application\/json/);
    expect([headers.get('x-svc-ignored-params'), headers.get('x-svc-usage-estimated')]).to.deep.equal([null, null]);
  });

  it("uses the bot's saved settings, and changed ones from the next call on", async () => {
    const bot = await service.bot({ temperature: 0.3, max_completion_tokens: 77 });
    await service.chat(bot.id, say('Hi', 'Hello.', 'And now?'));
    expect(sent()).to.deep.include({ model: 'gpt-4o-mini', temperature: 0.3 });
    expect(sent()['max_completion_tokens'] ?? sent()['max_tokens']).to.equal(77);
    expect(sent().messages).to.deep.equal([
      { role: 'system', content: 'You help customers.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello.' },
      { role: 'user', content: 'And now?' },
    ]);
    await service.host.cli(
      'svc',
      'bot',
      'update',
      '--json',
      JSON.stringify({ id: bot.id, temperature: null, model: '', instructions: '' }),
    );
    service.upstream.answer();
    await service.chat(bot.id, say('Hello'));
    expect(sent().model).to.equal('saved-model');
    expect(sent()).not.to.have.property('temperature');
    expect(sent().messages).to.deep.equal([{ role: 'user', content: 'Hello' }]);
  });

  it('uses the global temperature if the bot has none', async () => {
    await service.host.options.update('svc_ai_params', { temperature: 1.2, max_completion_tokens: 9 });
    await service.chat((await service.bot()).id, say('Hello'));
    await service.host.options.delete('svc_ai_params');
    expect(sent()).to.deep.include({ temperature: 1.2 });
    expect(sent()['max_completion_tokens'] ?? sent()['max_tokens']).to.equal(4000);
  });

  it('sends only the newest messages, up to the limit of the bot', async () => {
    const bot = await service.bot({ max_messages: 3, instructions: '' });
    await service.chat(bot.id, say('1', '2', '3', '4', '5'));
    expect(sent().messages.map(({ content }) => content)).to.deep.equal(['3', '4', '5']);
    service.upstream.answer();
    await service.chat(
      (await service.bot({ instructions: '' })).id,
      say(...Array.from({ length: 31 }, (_, place) => String(place))),
    );
    expect(sent().messages.map(({ content }) => Number(content))).to.deep.equal(
      Array.from({ length: 15 }, (_, place) => 16 + place),
    );
  });

  it('can cut a conversation before an answer, with every provider', async () => {
    await service.host.cli('svc', 'sandbox', 'on');
    try {
      for (const provider of ['openai', 'azure', 'google', 'openrouter', 'claude', 'deepseek', 'xai', 'ollama']) {
        const bot = await service.bot({ provider, model: '', max_messages: 2 });
        const { status, text } = await service.chat(bot.id, say('1', '2', '3'));
        expect(status, `${provider}: ${text}`).to.equal(200);
      }
    } finally {
      await service.host.cli('svc', 'sandbox', 'off');
    }
  });

  it('replaces [date] in the site’s time zone, and [username] with Guest', async () => {
    const bot = await service.bot({ instructions: 'Today is [date], you talk with [username]. [other]' });
    await service.chat(bot.id, say('What is [date]?'));
    expect(sent().messages.map(({ content }) => content)).to.deep.equal([
      'Today is 2026-01-01, you talk with Guest. [other]',
      'What is [date]?',
    ]);
  });

  it('accepts the key as a parameter, and forwards no unknown parameters', async () => {
    const bot = await service.bot();
    const answer = await service.chat(
      bot.id,
      {
        ...say('Hello'),
        svc_api_key: 'the REST key of these tests',
        more: 'unknown',
        stream: false,
        messages: [{ role: 'user', content: 'Hello', name: 'x' }],
      },
      {},
    );
    expect(answer.status).to.equal(200);
    expect(JSON.stringify(service.upstream.requests)).not.to.match(/svc_api_key|these tests|unknown|"name"/);
  });

  it('names parameters that the provider does not support, and estimates tokens that it does not report', async () => {
    const bot = await service.bot({ model: 'o3-mini', temperature: 0.5 });
    const { usage: _usage, ...without } = completion;
    service.upstream.answer({ body: without });
    const { status, headers, body } = await service.chat(bot.id, say('Hello'));
    expect([status, headers.get('x-svc-ignored-params'), headers.get('x-svc-usage-estimated')]).to.deep.equal([
      200,
      'temperature',
      'true',
    ]);
    expect(body.usage).to.have.all.keys('input_tokens', 'output_tokens', 'total_tokens');
    expect(Object.values(body.usage)).to.satisfy((counts: number[]) =>
      counts.every((count) => Number.isInteger(count) && count > 0),
    );
    expect(body.usage.total_tokens).to.equal(body.usage.input_tokens + body.usage.output_tokens);
  });

  it("records the call in the ledger under the bot, and ignores the bot's limits", async () => {
    const bot = await service.bot({
      limits: { guest: { amount: 1 }, user: { amount: 1 } },
      moderation: { banned_words: ['hello'] },
      consent: { required: true },
    });
    for (let call = 0; call < 3; call += 1) expect((await service.chat(bot.id, say('Hello'))).status).to.equal(200);
    await service.clock.advance(2_000);
    const rows = await service.host.database.knex('svc_usage').where({ bot_id: bot.id });
    expect(rows).to.have.length(3);
    expect(rows[0]).to.include({ module: 'chatbots', route: '/chat/{bot_id}/message', provider: 'openai' });
  });

  it('emits no events and stores nothing without a conversation_uuid', async () => {
    const seen: string[] = [];
    const undo = service.host.hooks.addAction('svc_event_emit', (name: string) => void seen.push(name), 1);
    await service.chat((await service.bot()).id, say('Hello'));
    await service.chat((await service.bot()).id, {
      ...say('Hello'),
      conversation_uuid: '0b6f3f5e-6f0d-4f7c-9d0c-3c1e8a4f2b11',
    });
    undo();
    expect(seen).to.deep.equal([]);
    expect(
      (await service.host.database.knex('svc_webhook_deliveries').count({ count: '*' }).first())?.['count'],
    ).to.equal(0);
    expect(await service.host.database.knex('svc_conversations').select('uuid')).to.deep.equal([
      { uuid: '0b6f3f5e-6f0d-4f7c-9d0c-3c1e8a4f2b11' },
    ]);
  });

  it('lets plugins change prompt and answer, and notifies them of both', async () => {
    const bot = await service.bot();
    const notified: unknown[] = [];
    const { hooks } = service.host;
    const undo = [
      hooks.addFilter('svc_chatbot_prompt', (prompt, turn) => ({
        ...prompt,
        model: 'another',
        system: `${prompt.system} Be brief.`,
        contexts: [...prompt.contexts, `Bot ${String(turn.bot.id)}`],
        messages: [...prompt.messages.slice(0, -1), { role: 'user', content: 'Changed' }],
      })),
      hooks.addFilter('svc_chatbot_reply', (content, reply) => `${content} (${reply.model})`),
      hooks.addAction(
        'svc_chatbot_replied',
        (reply, turn) =>
          void notified.push([reply.content, reply.usage.total_tokens, turn.bot.id, turn.messages.length]),
      ),
    ];
    const { body } = await service.chat(bot.id, say('Hello'));
    undo.forEach((stop) => {
      stop();
    });
    expect(body.reply).to.equal('Hello there. (far-model-0125)');
    expect(sent()).to.deep.include({
      model: 'another',
      messages: [
        { role: 'system', content: `You help customers. Be brief.\n\nBot ${String(bot.id)}` },
        { role: 'user', content: 'Changed' },
      ],
    });
    expect(notified).to.deep.equal([['Hello there. (far-model-0125)', 10, bot.id, 1]]);
  });

  it('is described in OpenAPI', async () => {
    const response = await service.host.fetch('/wp-json/svc/v1/openapi.json');
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a document of any shape.
    const { paths } = (await response.json()) as { paths: Record<string, any> };
    const operation = Object.entries(paths).find(([path]) => path.endsWith('/chat/{bot_id}/message'))?.[1].post;
    expect(operation.summary).to.equal('Send a conversation to a chatbot.');
    expect(operation.description)
      .to.contain('conversation_uuid')
      .and.contain('Idempotency-Key')
      .and.contain('not to calls with the REST key');
    expect(Object.keys(operation.responses)).to.include.members([
      '200',
      '400',
      '401',
      '404',
      '409',
      '429',
      '502',
      '504',
    ]);
  });
});
