import { expect } from 'chai';
import { RestError, type Logger } from '#plugin-api';
import { createFakeClock } from '#testing';
import { createHooks } from '../../../../../host/hooks/hooks.ts';
import { createFindKnowledge } from '../../../../../plugins/svc/modules/knowledge-base/find-knowledge.ts';
import type { GeneratedText, GenerateTextInput } from '../../../../../plugins/svc/ai/generate-text.ts';
import type { SearchInput, SearchResult } from '../../../../../plugins/svc/ai/search-vectors.ts';
import type { Bot } from '../../../../../plugins/svc/modules/chatbots/bots/bot.ts';
import { botSchema } from '../../../../../plugins/svc/modules/chatbots/bots/schema/bot-schema.ts';
import { fillDefaults } from '#plugin-api';
import { createReplies } from '../../../../../plugins/svc/modules/chatbots/reply/create-reply.ts';
import type { ReplyInput } from '../../../../../plugins/svc/modules/chatbots/reply/reply.ts';
import { failureOf } from '../../../../helpers/failure-of.ts';
import { silentLog } from '../../../../helpers/silent-log.ts';

const generated: GeneratedText = {
  content: 'Hello there.',
  usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
  providerId: 'openai',
  provider: 'OpenAI',
  model: 'gpt-x',
  ignored: ['seed'],
  usageEstimated: true,
  cost: 70,
};
const knowledge = {
  enabled: true,
  store: 'qdrant',
  target: 'notes',
  namespace: 'shop',
  embedding_provider: 'openai',
  embedding_model: 'e',
  top_k: 2,
};

function botWith(settings: object = {}): Bot {
  return {
    ...(fillDefaults(botSchema, {
      provider: 'openai',
      model: 'gpt-x',
      instructions: 'Help [username] on [date].',
      ...settings,
    }) as Bot),
    id: 7,
    created_at: 0,
    updated_at: 0,
  };
}

function open({
  text = async () => generated,
  search = async () => ({ found: [], metric: 'cosine' as const, usage: { input_tokens: 1, total_tokens: 1 } }),
  log = silentLog,
}: {
  text?: (input: GenerateTextInput) => Promise<GeneratedText>;
  search?: (input: SearchInput) => Promise<SearchResult>;
  log?: Logger;
} = {}) {
  const asked: GenerateTextInput[] = [];
  const searched: SearchInput[] = [];
  const hooks = createHooks();
  const clock = createFakeClock();
  const reply = createReplies({
    host: { hooks, clock, log, site: { timezone: () => Promise.resolve('Pacific/Auckland') } as never },
    generateText: (input) => {
      asked.push(input);
      return text(input);
    },
    findKnowledge: createFindKnowledge({
      host: { hooks, clock },
      searchVectors: (input) => {
        searched.push(input);
        return search(input);
      },
    }),
  });
  const ask = (changes: Partial<ReplyInput> = {}) =>
    reply({
      bot: botWith(),
      messages: [{ role: 'user', content: 'Hi' }],
      conversation: null,
      origin: { module: 'chatbots', route: null, botId: 7 },
      ...changes,
    });
  return { ask, asked, searched, hooks, clock };
}

const pieces =
  (...texts: string[]) =>
  async ({ onText }: GenerateTextInput): Promise<GeneratedText> => {
    for (const text of texts) onText?.(text);
    return { ...generated, content: texts.join('') };
  };

describe('an answer of a bot', () => {
  it('sends the settings of the bot to the provider, with the bot for the ledger', async () => {
    const { ask, asked } = open();
    const { signal } = new AbortController();
    await ask({
      bot: botWith({ temperature: 0.5 }),
      user: { id: 3, displayName: 'Ada [date]', roles: [] },
      contexts: ['It is [date].'],
      signal,
    });
    expect(asked[0]).to.deep.include({
      provider: 'openai',
      model: 'gpt-x',
      params: { temperature: 0.5, max_completion_tokens: 4000 },
      origin: { module: 'chatbots', route: null, botId: 7 },
      signal,
    });
    // Auckland is a day ahead at noon in London, and what placeholders bring in is not looked at again.
    expect(asked[0]).to.deep.include({
      systemInstruction: 'Help Ada [date] on 2026-01-01.\n\nIt is 2026-01-01.',
      placeholders: false,
    });
    expect(asked[0]?.messages).to.deep.equal([{ role: 'user', content: 'Hi' }]);
  });

  it('drops blank messages before it counts the newest', async () => {
    const { ask, asked } = open();
    await ask({
      bot: botWith({ max_messages: 2 }),
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'b' },
        { role: 'assistant', content: ' ' },
        { role: 'user', content: 'c' },
      ],
    });
    expect(asked[0]?.messages.map(({ content }) => content)).to.deep.equal(['b', 'c']);
  });

  it('has the cost of the call to the provider, which may be unknown', async () => {
    expect(await open().ask()).to.deep.equal({ ...generated, sources: [], cost: 70 });
    expect((await open({ text: async () => ({ ...generated, cost: null }) }).ask()).cost).to.equal(null);
  });

  it('is passed on piece by piece, after the sources', async () => {
    const events: unknown[] = [];
    const search = async (): Promise<SearchResult> => ({
      found: [{ id: 'a', content: 'Text', metadata: { title: 'T', url: 'https://a.example/' }, score: 0.9 }],
      metric: 'cosine',
      usage: { input_tokens: 1, total_tokens: 1 },
    });
    const { ask, searched } = open({ text: pieces('Hel', 'lo'), search });
    const { content, sources } = await ask({
      bot: botWith({ knowledge }),
      onText: (piece) => events.push(piece),
      onSources: (given) => events.push(given),
    });
    expect(events).to.deep.equal([[{ title: 'T', url: 'https://a.example/', score: 90 }], 'Hel', 'lo']);
    expect([content, sources]).to.deep.equal(['Hello', events[0]]);
    expect(searched[0]).to.deep.include({
      store: 'qdrant',
      target: 'notes',
      namespace: 'shop',
      text: 'Hi',
      embedding: { provider: 'openai', model: 'e' },
      limit: 2,
      origin: { module: 'chatbots', route: null, botId: 7 },
    });
  });

  it('shows no sources if the bot shows none, and looks for none without knowledge', async () => {
    const search = async (): Promise<SearchResult> => ({
      found: [{ id: 'a', content: 'Text', metadata: {}, score: 0.9 }],
      metric: 'cosine',
      usage: { input_tokens: 1, total_tokens: 1 },
    });
    const { ask, asked, searched } = open({ search });
    let shown = 0;
    expect(
      (await ask({ bot: botWith({ knowledge: { ...knowledge, show_sources: false } }), onSources: () => (shown += 1) }))
        .sources,
    ).to.deep.equal([]);
    expect(asked[0]?.systemInstruction).to.contain('Text');
    await ask({ onSources: () => (shown += 1) });
    expect([shown, searched.length]).to.deep.equal([0, 1]);
  });

  it('is not streamed if a plugin forbids it: visitors see the filtered text', async () => {
    const { ask, hooks } = open({ text: pieces('my ', 'secret') });
    hooks.addFilter('svc_chatbot_reply', (content) => content.replace('secret', '***'));
    const streamed: string[] = [];
    expect((await ask({ onText: (piece) => streamed.push(piece) })).content).to.equal('my ***');
    expect(streamed).to.deep.equal(['my ', 'secret']);
    hooks.addFilter('svc_chatbot_streams', (_streams, { bot }) => bot.id !== 7);
    streamed.length = 0;
    expect((await ask({ onText: (piece) => streamed.push(piece) })).content).to.equal('my ***');
    expect(streamed).to.deep.equal(['my ***']);
  });

  it('that fails reports the same error to plugins and the caller', async () => {
    const failure = new RestError({ code: 'rest_svc_provider_error', status: 502, message: 'It broke.' });
    const { ask, hooks } = open({ text: () => Promise.reject(failure) });
    const told: unknown[] = [];
    hooks.addAction('svc_chatbot_reply_failed', (error, turn) => told.push([error, turn.conversation]));
    hooks.addAction('svc_chatbot_replied', () => told.push('replied'));
    expect(await failureOf(ask({ conversation: 'c' }))).to.equal(failure);
    expect(told).to.deep.equal([[failure, 'c']]);
  });

  it('is generated without knowledge when that fails, but not after the visitor stopped', async () => {
    const warned: unknown[] = [];
    const log: Logger = { ...silentLog, warn: (message) => void warned.push(message) };
    const caller = new AbortController();
    const { ask, asked, hooks } = open({ log, search: () => Promise.reject(new Error('The store is away.')) });
    let failed = 0;
    hooks.addAction('svc_chatbot_knowledge_failed', () => void (failed += 1));
    expect((await ask({ bot: botWith({ knowledge }) })).content).to.equal('Hello there.');
    expect([warned, failed, asked.length]).to.deep.equal([
      ['Knowledge lookup failed; the chatbot answers without it'],
      1,
      1,
    ]);
    caller.abort();
    expect(await failureOf(ask({ bot: botWith({ knowledge }), signal: caller.signal }))).to.include({
      message: 'The store is away.',
    });
    expect([failed, asked.length]).to.deep.equal([1, 1]);
  });

  it('waits at most ten seconds for its knowledge', async () => {
    const hanging = ({ signal }: SearchInput): Promise<SearchResult> =>
      new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));
    const { ask, clock, hooks } = open({ search: hanging });
    const told: unknown[] = [];
    hooks.addAction('svc_chatbot_knowledge_failed', (error) => told.push((error as Error).message));
    const answer = ask({ bot: botWith({ knowledge }) });
    await clock.advance(9_999);
    expect(told).to.deep.equal([]);
    await clock.advance(1);
    expect((await answer).content).to.equal('Hello there.');
    expect(told).to.deep.equal(['The search of the knowledge base timed out after 10 seconds.']);
  });

  it('shortens the query for knowledge to what models accept', async () => {
    const { ask, searched } = open();
    await ask({ bot: botWith({ knowledge }), messages: [{ role: 'user', content: 'x'.repeat(30_000) }] });
    expect(searched[0]?.text).to.have.length(8_000);
  });
});
