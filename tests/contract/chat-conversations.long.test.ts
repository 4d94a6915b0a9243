import { expect } from 'chai';
import { createConversationStore } from '../../plugins/svc/modules/chatbots/conversations/conversation-store.ts';
import { describeHosts } from '../helpers/dialects.ts';
import { completion } from './upstream.ts';
import { key, say, startChatService, type ChatService } from './chat-service.ts';

const uuid = '0b6f3f5e-6f0d-4f7c-9d0c-3c1e8a4f2b11';

describeHosts('a conversation_uuid of POST /chat/{bot_id}/message', ({ location }) => {
  let service: ChatService;
  beforeEach(async () => {
    const { databaseUrl, dataDir } = location();
    service = await startChatService(databaseUrl ?? dataDir);
  });
  afterEach(() => service.stop());

  const store = () => createConversationStore({ host: service.host });
  const storedMessages = async (): Promise<[string, string][]> =>
    (await store().messages((await store().find(uuid))?.id ?? 0)).map(({ role, content }) => [role, content]);

  it('stores each chat turn with usage, model and cost, as a REST call without a visitor', async () => {
    const bot = await service.bot();
    await service.host.options.update('svc_prices', [
      { provider: 'openai', model: 'far-model-*', input: 2, output: 4 },
    ]);
    expect(
      (await service.chat(bot.id, { ...say('Old', 'Older', 'Hello'), conversation_uuid: uuid.toUpperCase() })).status,
    ).to.equal(200);
    await service.clock.advance(5_000);
    expect((await service.chat(bot.id, { ...say('And now?'), conversation_uuid: uuid })).status).to.equal(200);
    const conversation = await store().find(uuid);
    expect(conversation).to.deep.include({
      uuid,
      botId: bot.id,
      module: 'rest_api',
      userId: 0,
      sessionId: null,
      messageCount: 4,
      ip: '',
      pageUrl: '',
      consentedAt: null,
    });
    expect((conversation?.lastMessageAt ?? 0) - (conversation?.createdAt ?? 0)).to.be.at.least(5_000);
    expect(await storedMessages()).to.deep.equal([
      ['user', 'Hello'],
      ['assistant', 'Hello there.'],
      ['user', 'And now?'],
      ['assistant', 'Hello there.'],
    ]);
    const [, answer] = await store().messages(conversation?.id ?? 0);
    expect(answer).to.deep.include({
      provider: 'OpenAI',
      model: 'far-model-0125',
      usage: { input_tokens: 7, output_tokens: 3, total_tokens: 10 },
      cost: 26,
      isPartial: false,
      feedback: 'none',
    });
  });

  it('stores a chat turn twice when it is sent twice, and once with an Idempotency-Key', async () => {
    const bot = await service.bot();
    const send = (headers = key): Promise<unknown> =>
      service.chat(bot.id, { ...say('Hello'), conversation_uuid: uuid }, headers);
    await send();
    await send();
    expect(await storedMessages()).to.have.length(4);
    await Promise.all([
      send({ ...key, 'idempotency-key': 'a' } as typeof key),
      send({ ...key, 'idempotency-key': 'a' } as typeof key),
    ]);
    expect(await storedMessages()).to.have.length(6);
    await send({ ...key, 'idempotency-key': 'b' } as typeof key);
    expect(await storedMessages()).to.have.length(8);
  });

  it('is created once by concurrent calls, and no chat turn is split or lost', async () => {
    const bot = await service.bot();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, place) =>
        service.chat(bot.id, { ...say(`Message ${String(place)}`), conversation_uuid: uuid }),
      ),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal(Array.from({ length: 12 }, () => 200));
    const all = await storedMessages();
    expect(
      all
        .filter((_, place) => place % 2 === 0)
        .map(([role, content]) => [role, content])
        .sort(),
    ).to.deep.equal(Array.from({ length: 12 }, (_, place) => ['user', `Message ${String(place)}`]).sort());
    expect(all.filter((_, place) => place % 2 === 1).every(([role]) => role === 'assistant')).to.equal(true);
    expect(await service.host.database.knex('svc_conversations').count({ count: '*' }).first()).to.satisfy(
      ({ count }: { count: unknown }) => Number(count) === 1,
    );
  });

  it('of another bot or of a visitor is refused before the provider is called, and nothing is added to it', async () => {
    const [bot, other] = [await service.bot(), await service.bot()];
    await service.chat(other.id, { ...say('Hello'), conversation_uuid: uuid });
    const visitors = '22222222-2222-4222-8222-222222222222';
    const guests = await store().start({
      uuid: visitors,
      botId: bot.id,
      userId: 0,
      sessionId: 'session',
      module: 'chatbot',
      pageUrl: '',
      ip: '',
      consentedAt: null,
    });
    service.upstream.answer();
    for (const taken of [uuid, visitors]) {
      const { status, body } = await service.chat(bot.id, { ...say('Let me in'), conversation_uuid: taken });
      expect([status, body.code, body.data.status]).to.deep.equal([409, 'rest_svc_conversation_taken', 409]);
      expect(body.message).to.contain(taken);
    }
    expect(service.upstream.requests).to.have.length(0);
    expect(await storedMessages()).to.have.length(2);
    expect(await store().messages(guests.id)).to.deep.equal([]);
  });

  it('belongs to the key that began it, over all keys and nodes', async () => {
    const bot = await service.bot();
    const createKey = async (name: string): Promise<typeof key> => {
      const { out } = await service.host.cli('svc', 'key', 'create', `--name=${name}`, '--routes=chat', '--json');
      return { authorization: `Bearer ${(JSON.parse(out) as { key: string }).key}` };
    };
    const [one, two] = [await createKey('One'), await createKey('Two')];
    const send = async (headers: typeof key, id: string) =>
      (await service.chat(bot.id, { ...say('Hello'), conversation_uuid: id }, headers)).status;
    expect([await send(one, uuid), await send(one, uuid)]).to.deep.equal([200, 200]);
    service.upstream.answer();
    expect([await send(two, uuid), await send(key, uuid)]).to.deep.equal([409, 409]);
    expect(service.upstream.requests).to.have.length(0);
    expect(await storedMessages()).to.have.length(4);
    const ofRestKey = '33333333-3333-4333-8333-333333333333';
    expect([await send(key, ofRestKey), await send(one, ofRestKey)]).to.deep.equal([200, 409]);
    const found = await service.host.database.knex('svc_conversations').orderBy('id').select('key_id');
    expect(found.map(({ key_id: id }: { key_id: unknown }) => Number(id))).to.deep.equal([1, 0]);
  });

  it('of a version that stored no key belongs to the key that continues it next', async () => {
    const bot = await service.bot();
    const { out } = await service.host.cli('svc', 'key', 'create', '--name=One', '--routes=chat', '--json');
    const named = { authorization: `Bearer ${(JSON.parse(out) as { key: string }).key}` };
    const old = { uuid, botId: bot.id, userId: 0, sessionId: null, module: 'rest_api', pageUrl: '', ip: '' };
    await store().start({ ...old, consentedAt: null });
    const statuses = await Promise.all(
      [named, key].map(
        async (headers) => (await service.chat(bot.id, { ...say('Hello'), conversation_uuid: uuid }, headers)).status,
      ),
    );
    // Both at once: one gets it.
    expect([...statuses].sort()).to.deep.equal([200, 409]);
    expect(await storedMessages()).to.have.length(2);
  });

  it('that another bot creates during the answer is refused, and keeps its messages', async () => {
    const [bot, other] = [await service.bot(), await service.bot()];
    const undo = service.host.hooks.addAction('svc_chatbot_replied', async () => {
      await store().start({
        uuid,
        botId: other.id,
        userId: 0,
        sessionId: null,
        module: 'rest_api',
        pageUrl: '',
        ip: '',
        consentedAt: null,
      });
    });
    const { status, body } = await service.chat(bot.id, { ...say('Hello'), conversation_uuid: uuid });
    undo();
    expect([status, body.code]).to.deep.equal([409, 'rest_svc_conversation_taken']);
    expect(await storedMessages()).to.deep.equal([]);
  });

  it('is refused by a bot that stores no conversations; without one the bot answers', async () => {
    const bot = await service.bot({ privacy: { keep: false } });
    const { status, body } = await service.chat(bot.id, { ...say('Hello'), conversation_uuid: uuid });
    expect([status, body.code]).to.deep.equal([400, 'rest_svc_conversations_not_kept']);
    expect((await service.chat(bot.id, say('Hello'))).status).to.equal(200);
    expect(await service.host.database.knex('svc_conversations').select('id')).to.deep.equal([]);
  });

  it('stores texts with any characters, also those of providers', async () => {
    const bot = await service.bot();
    const text = '店 🛒, %_\\\'"';
    service.upstream.answer({
      body: {
        ...completion,
        choices: [
          { index: 0, message: { role: 'assistant', content: `NUL \u0000, half \ud83d` }, finish_reason: 'stop' },
        ],
      },
    });
    const { status, text: response } = await service.chat(bot.id, { ...say(text), conversation_uuid: uuid });
    expect(status, response).to.equal(200);
    expect(await storedMessages()).to.deep.equal([
      ['user', text],
      ['assistant', 'NUL \ufffd, half \ufffd'],
    ]);
  });
});
