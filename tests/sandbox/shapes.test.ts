import { expect } from 'chai';
import { expectShape } from './helpers/answer-schemas.ts';
import { addresses, call } from './helpers/call.ts';
import type { Called } from './helpers/call.ts';
import { openSandbox } from './helpers/open-sandbox.ts';
import type { OpenSandbox } from './helpers/open-sandbox.ts';

/** Members OpenAI's specification requires and these speakers of its format truly leave out. */
const leftOut: Readonly<Record<string, readonly string[]>> = {
  deepseek: ['refusal'],
  xai: ['logprobs'],
  ollama: ['refusal', 'logprobs'],
};

describe('shapes of the sandbox answers', () => {
  let sandbox: OpenSandbox;
  before(async () => {
    sandbox = await openSandbox();
  });
  after(() => sandbox.close());

  const ask = (
    id: string,
    { model = 'any-model', extra = {}, last = false }: { model?: string; extra?: object; last?: boolean } = {},
  ): Promise<Called> => {
    const speakers = addresses.filter((address) => address.id === id);
    const speaker = (last ? speakers.at(-1) : speakers[0])!;
    return call(sandbox.url + speaker.path(model), {
      headers: speaker.headers('sandbox'),
      body: { ...speaker.body(model), ...extra },
    });
  };
  const events = (text: string): unknown[] =>
    [...text.matchAll(/^data: (\{.*\})\r?$/gm)].map(([, json = '']) => JSON.parse(json) as unknown);

  for (const id of ['openai', 'openrouter', 'deepseek', 'xai', 'ollama', 'azure']) {
    it(`follows OpenAI's specification as ${id}, whole and streamed`, async () => {
      for (const last of [false, true]) {
        const { status, json } = await ask(id, { last });
        expect(status).to.equal(200);
        expectShape('openai', 'CreateChatCompletionResponse', { value: json, leftOut: leftOut[id] ?? [] });
        const { text, headers } = await ask(id, {
          last,
          extra: { stream: true, stream_options: { include_usage: true } },
        });
        expect(headers.get('content-type')).to.contain('text/event-stream');
        expect(text).to.match(/data: \[DONE\]\n\n$/);
        const chunks = events(text).filter((chunk) => (chunk as { id: string }).id !== '');
        // The usage is null in every chunk but the last, which the specification says in words alone.
        for (const chunk of chunks as { usage?: unknown }[]) {
          const value = chunk.usage === null ? { ...chunk, usage: undefined } : chunk;
          expectShape('openai', 'CreateChatCompletionStreamResponse', {
            value: JSON.parse(JSON.stringify(value)) as unknown,
          });
        }
      }
    });
  }

  it('follows the specification of Messages, whole', async () => {
    expectShape('anthropic', 'Message', { value: (await ask('claude')).json });
    expectShape('anthropic', 'Message', {
      value: (await ask('claude', { extra: { stop_sequences: ['Sandbox'] } })).json,
    });
  });

  it('streams Messages as the six kinds of events in their order', async () => {
    const { text } = await ask('claude', { extra: { stream: true, max_tokens: 2 } });
    expect([...text.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name)).to.deep.equal([
      'message_start',
      'content_block_start',
      'ping',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
  });

  it('follows the specification of generateContent, whole and streamed', async () => {
    const { json } = await ask('google', { model: 'gemini-3.5-flash' });
    expectShape('gemini', 'GenerateContentResponse', { value: json });
    const google = addresses.find(({ id }) => id === 'google')!;
    const stream = `${sandbox.url}/google/v1beta/models/gemini-3.5-flash:streamGenerateContent`;
    const sse = await call(`${stream}?alt=sse`, { headers: google.headers('sandbox'), body: google.body('') });
    const array = await call(`${stream}?key=sandbox`, { body: google.body('') });
    expect(array.json).to.deep.equal(events(sse.text));
    for (const value of events(sse.text)) expectShape('gemini', 'GenerateContentResponse', { value });
  });

  it("follows Ollama's own specification: chat, tags and version", async () => {
    const body = { model: 'llama3.2', messages: [{ role: 'user', content: 'Hello' }], options: { num_predict: 4 } };
    const whole = await call(`${sandbox.url}/ollama/api/chat`, { body: { ...body, stream: false } });
    expectShape('ollama', 'ChatResponse', { value: whole.json });
    const lines = (await call(`${sandbox.url}/ollama/api/chat`, { body })).text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { message: { content: string } });
    for (const value of lines) expectShape('ollama', 'ChatStreamEvent', { value });
    expect(lines.map(({ message }) => message.content).join('')).to.equal(
      (whole.json as { message: { content: string } }).message.content,
    );
    expectShape('ollama', 'ListResponse', { value: (await call(`${sandbox.url}/ollama/api/tags`)).json });
    expectShape('ollama', 'VersionResponse', { value: (await call(`${sandbox.url}/ollama/api/version`)).json });
  });

  it("lists models in each provider's shape", async () => {
    const headers = {
      authorization: 'Bearer sandbox',
      'x-api-key': 'sandbox',
      'anthropic-version': '2023-06-01',
      'x-goog-api-key': 'sandbox',
    };
    const list = async (path: string): Promise<unknown> => (await call(sandbox.url + path, { headers })).json;
    for (const path of ['/openai/v1', '/xai/v1', '/ollama/v1'])
      expectShape('openai', 'ListModelsResponse', { value: await list(`${path}/models`) });
    expectShape('openai', 'ListModelsResponse', { value: await list('/deepseek/v1/models'), leftOut: ['created'] });
    expectShape('openai', 'ListModelsResponse', {
      value: await list('/azure/openai/models?api-version=2024-10-21'),
      leftOut: ['created', 'owned_by'],
    });
    expectShape('openai', 'Model', { value: await list('/openai/v1/models/gpt-4o') });
    expectShape('gemini', 'ListModelsResponse', { value: await list('/google/v1beta/models') });
    expectShape('gemini', 'Model', { value: await list('/google/v1beta/models/gemini-3.5-flash') });
    expect(await list('/openrouter/api/v1/models'))
      .to.have.property('data')
      .that.is.an('array')
      .with.nested.property('[0].pricing');
    expect(await list('/claude/v1/models')).to.include({ has_more: false, first_id: 'claude-sonnet-5-5' });
  });

  it('keeps the small differences of the speakers', async () => {
    const openai = (await ask('openai', { model: 'gpt-4o-mini' })).json as Record<string, unknown>;
    expect(openai).to.include({ model: 'gpt-4o-mini-2024-07-18', service_tier: 'default' });
    expect(openai['id']).to.match(/^chatcmpl-/);
    const router = (await ask('openrouter')).json as Record<string, unknown>;
    expect(router)
      .to.include({ provider: 'Sandbox' })
      .and.have.nested.property('choices[0].native_finish_reason', 'stop');
    expect(router['id']).to.match(/^gen-\d+-/);
    const thinking = (await ask('deepseek', { model: 'deepseek-reasoner' })).json as object;
    expect(thinking).to.have.nested.property('choices[0].message.reasoning_content').that.contains('Sandbox reasoning');
    expect(thinking).to.have.nested.property('usage.prompt_cache_miss_tokens', 3 + 2);
    const grok = (await ask('xai', { model: 'grok-4.5' })).json as { usage: Record<string, number> };
    expect(grok.usage['total_tokens']).to.be.above(grok.usage['prompt_tokens']! + grok.usage['completion_tokens']!);
    expect((await ask('ollama')).json).to.include({ system_fingerprint: 'fp_ollama' });
    expect((await ask('azure')).json).to.have.nested.property(
      'choices[0].content_filter_results.hate.severity',
      'safe',
    );
    expect((await ask('azure', { extra: { stream: true } })).text).to.match(
      /^data: \{"choices":\[\],"created":0,"id":""/,
    );
  });
});
