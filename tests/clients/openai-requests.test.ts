import { expect } from 'chai';
import { startDoor, type Door } from './openai-door.ts';

interface OpenAiError {
  readonly error: {
    readonly message: string;
    readonly param: string | null;
    readonly code: string;
    readonly svc: { readonly code: string };
  };
}

const call = (id: string) => ({ id, type: 'function', function: { name: 'find', arguments: '{}' } });
const calls = (...ids: string[]) => ({ role: 'assistant', content: null, tool_calls: ids.map(call) });
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'Found' });
const hello = { role: 'user', content: 'Hello' };

describe('requests of clients of the OpenAI-compatible routes', () => {
  let door: Door;
  before(async () => {
    door = await startDoor();
  });
  after(() => door.host.stop());

  const send = (body: object) => door.send('/chat/completions', body);
  const errorOf = async (body: object) => {
    const response = await send(body);
    return { status: response.status, ...(response.body as OpenAiError).error };
  };

  it('may ask for any length, which is the model’s to refuse', async () => {
    for (const limit of ['max_tokens', 'max_completion_tokens'])
      expect((await send({ model: 'openai/gpt-4.1', messages: [hello], [limit]: 200_000 })).status, limit).to.equal(
        200,
      );
  });

  it('are answered with all that front ends add, and name what the vendor lacks', async () => {
    const body = {
      messages: [
        { role: 'user', name: 'Ann', content: 'Hi' },
        { role: 'assistant', content: 'Hello', annotations: [], refusal: null, audio: null, parsed: null },
        { role: 'user', content: 'Again' },
      ],
      user: 'u1',
      metadata: { chat: '1' },
      prompt_cache_key: 'k',
      safety_identifier: 's',
      store: false,
      n: 1,
      logit_bias: {},
      logprobs: false,
      parallel_tool_calls: true,
      tool_choice: 'none',
      stream_options: null,
    };
    const ignored = async (model: string) => {
      const { status, headers } = await send({ ...body, model });
      expect(status, model).to.equal(200);
      return headers.get('x-svc-ignored-params');
    };
    expect(await ignored('openai/gpt-4.1')).to.equal(null);
    expect(await ignored('google/gemini-2.5-flash')).to.equal(
      'user, messages.name, metadata, prompt_cache_key, safety_identifier',
    );
    expect(await ignored('claude/claude-sonnet-5-5')).to.equal(
      'messages.name, metadata, prompt_cache_key, safety_identifier',
    );
    expect(await ignored('xai/grok-3')).to.equal(null);
  });

  it('name what was left out in the last event of a stream', async () => {
    const response = await fetch(`${door.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer the REST key of these tests', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'google/gemini-2.5-flash', messages: [hello], stream: true, user: 'u1' }),
    });
    expect(await response.text()).to.contain('"ignored_params":["user"]');
  });

  for (const model of ['claude/claude-sonnet-5-5', 'google/gemini-2.5-flash'])
    for (const [title, messages, param] of [
      ['a call without a result', [hello, calls('a', 'b'), result('a'), hello], 'messages[1].tool_calls[1]'],
      ['calls at the end', [hello, calls('a')], 'messages[1].tool_calls[0]'],
      ['a result without a call', [hello, result('a')], 'messages[1].tool_call_id'],
      ['two results of a call', [hello, calls('a'), result('a'), result('a')], 'messages[3].tool_call_id'],
      ['two calls of one id', [hello, calls('a', 'a'), result('a')], 'messages[1].tool_calls[1].id'],
      ['a late result', [hello, calls('a'), hello, result('a')], 'messages[1].tool_calls[0]'],
    ] as const)
      it(`are refused for ${title} before anything is spent, for ${model}`, async () => {
        const error = await errorOf({ model, messages });
        expect([error.status, error.param, error.svc.code]).to.deep.equal([400, param, 'rest_invalid_param']);
        expect(error.message).to.contain(param);
      });

  it('name the known spellings of a model whose prefix is no provider', async () => {
    const { message, code } = await errorOf({ model: 'anthropic/claude-sonnet-4-5', messages: [hello] });
    expect(code).to.equal('model_not_found');
    expect(message).to.equal(
      'There is no provider anthropic. Write the model as claude/<model>, openrouter/anthropic/claude-sonnet-4-5, or as bot:<id>.',
    );
    for (const model of ['nope/none', 'openai/', '/x', 'Claude-2/x']) {
      const error = await errorOf({ model, messages: [hello] });
      expect([error.status, error.code], model).to.deep.equal([404, 'model_not_found']);
    }
    for (const [path, body] of [
      ['/embeddings', { input: 'One.' }],
      ['/images/generations', { prompt: 'A lighthouse' }],
    ] as const)
      expect((await door.send(path, { model: 'anthropic/x', ...body })).status, path).to.equal(404);
  });

  it('name the parameter with images for a model that cannot see', async () => {
    const image = {
      type: 'image_url',
      image_url: {
        url: 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      },
    };
    const { param } = await errorOf({ model: 'claude/claude-2.1', messages: [{ role: 'user', content: [image] }] });
    expect(param).to.equal('messages');
  });

  it('get errors in the shape of OpenAI for unknown paths and methods', async () => {
    for (const [path, body] of [
      ['/completions', {}],
      ['/audio/speech', {}],
      ['/files', undefined],
      ['/chat/completions', undefined],
    ] as const) {
      const response = await door.send(path, body);
      const { error } = response.body as OpenAiError;
      expect([response.status, error.code, error.svc.code], path).to.deep.equal([404, 'unknown_url', 'rest_no_route']);
    }
  });

  it('list only the models that a named key may call', async () => {
    const list = async (key?: string): Promise<string[]> => {
      const response = await fetch(`${door.url}/models`, {
        headers: { authorization: `Bearer ${key ?? 'the REST key of these tests'}` },
      });
      return ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
    };
    const flags = ['--name=Google', '--routes=openai', '--providers=google', '--models=gemini-*', '--json'];
    const { out } = await door.host.cli('svc', 'key', 'create', ...flags);
    const { key } = JSON.parse(out) as { key: string };
    const all = await list();
    const listed = await list(key);
    expect(listed).to.deep.equal(all.filter((id) => id.startsWith('google/gemini-')));
    expect(listed.length).to.be.above(0);
  });
});
