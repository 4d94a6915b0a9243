import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { embed, generateText, jsonSchema, Output, streamText, tool, type ToolSet } from 'ai';
import { expect } from 'chai';
import type { TestHost } from '#testing';
import { startStreamingUpstream, type StreamingUpstream } from '../contract/streaming-upstream.ts';
import { restKey, startDoor, type Door } from './openai-door.ts';

const models = ['openai/gpt-4.1', 'google/gemini-2.5-flash', 'claude/claude-sonnet-5-5'];
const parameters = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
  additionalProperties: false,
};

describe('other clients of the OpenAI-compatible routes', () => {
  let door: Door;
  let host: TestHost;
  let upstream: StreamingUpstream;
  before(async () => {
    [door, upstream] = await Promise.all([startDoor(), startStreamingUpstream()]);
    host = door.host;
    host.hooks.addFilter(
      'svc_provider_settings',
      (settings: Readonly<Record<string, unknown>>, id: string) =>
        id === 'xai' ? { ...settings, base_url: upstream.url } : settings,
      99,
    );
  });
  after(async () => {
    await host.stop();
    await upstream.stop();
  });

  describe('the AI SDK', () => {
    const client = () =>
      createOpenAICompatible({
        name: 'svc',
        baseURL: door.url,
        apiKey: restKey,
        includeUsage: true,
        supportsStructuredOutputs: true,
      });

    for (const name of models) {
      it(`generates, streams, calls tools and writes JSON with ${name}`, async () => {
        const model = client().chatModel(name);
        const { text, usage } = await generateText({ model, prompt: 'echo: Hello', maxRetries: 0 });
        expect([text, (usage.totalTokens ?? 0) > 0]).to.deep.equal(['Hello', true]);
        let streamed = '';
        for await (const piece of streamText({ model, prompt: 'echo: One two three four five', maxRetries: 0 })
          .textStream)
          streamed += piece;
        expect(streamed).to.equal('One two three four five');
        const weather = tool({ description: 'The weather.', inputSchema: jsonSchema<{ city: string }>(parameters) });
        const called = await generateText({
          model,
          prompt: 'Oslo',
          tools: { weather } as unknown as ToolSet,
          maxRetries: 0,
        });
        expect(called.toolCalls.map(({ toolName, input }) => [toolName, input])).to.deep.equal([
          ['weather', { city: 'Oslo' }],
        ]);
        const { output } = await generateText({
          model,
          prompt: 'Soup',
          output: Output.object({ schema: jsonSchema<{ city: string }>(parameters) }),
          maxRetries: 0,
        });
        expect(output).to.deep.equal({ city: 'Soup' });
      });
    }

    it('embeds', async () => {
      const model = client().embeddingModel('openai/text-embedding-3-small');
      expect((await embed({ model, value: 'One.', maxRetries: 0 })).embedding.length).to.be.above(100);
    });
  });

  describe('LangChain', () => {
    const client = (model: string) =>
      new ChatOpenAI({ model, apiKey: restKey, configuration: { baseURL: door.url }, maxRetries: 0 });

    for (const name of models) {
      it(`generates, streams, calls tools and writes JSON with ${name}`, async () => {
        const model = client(name);
        expect((await model.invoke('echo: Hello')).content).to.equal('Hello');
        let streamed = '';
        for await (const { content } of await model.stream('echo: One two three four five'))
          streamed += content as string;
        expect(streamed).to.equal('One two three four five');
        const weather = {
          type: 'function' as const,
          function: { name: 'weather', description: 'The weather.', parameters },
        };
        const called = await model.bindTools([weather]).invoke('Oslo');
        expect(called.tool_calls?.map(({ name: tool, args }) => [tool, args])).to.deep.equal([
          ['weather', { city: 'Oslo' }],
        ]);
        const structured = model.withStructuredOutput<{ city: string }>(
          { title: 'place', ...parameters },
          { method: 'jsonSchema' },
        );
        expect(await structured.invoke('Soup')).to.deep.equal({ city: 'Soup' });
      });
    }

    it('embeds', async () => {
      const embeddings = new OpenAIEmbeddings({
        model: 'openai/text-embedding-3-small',
        apiKey: restKey,
        configuration: { baseURL: door.url },
      });
      expect((await embeddings.embedQuery('One.')).length).to.be.above(100);
    });
  });

  const messages = [{ role: 'user', content: 'Hello' }];
  const grok = { model: 'xai/grok-3', messages };
  const claude = { model: 'claude/claude-sonnet-5-5', messages };
  const privateImages = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      type: 'image_url',
      image_url: { url: `http://127.0.0.1:9/${String(index)}.png` },
    }));

  for (const [title, body, param, code] of [
    ['an unknown parameter', { ...claude, logit_bias: { 1: 1 } }, 'logit_bias', 'unknown_parameter'],
    ['more than one text', { ...grok, n: 2 }, 'n', 'invalid_value'],
    ['no model', { messages }, 'model', 'missing_required_parameter'],
    ['an unknown chatbot', { model: 'bot:99', messages }, null, 'model_not_found'],
    ['a parameter that the model refuses', { ...claude, seed: 1 }, 'seed', 'unsupported_parameter'],
    [
      'sound',
      { ...claude, messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] },
      'messages[0].content[0].type',
      'invalid_value',
    ],
    ['a prefix that is no provider', { model: 'anthropic/claude-sonnet-4-5', messages }, 'model', 'model_not_found'],
    ['a model of nobody', { model: 'nope/none', messages }, 'model', 'model_not_found'],
    [
      'a conversation of blank messages',
      { ...grok, messages: [{ role: 'user', content: ' \n' }] },
      'messages',
      'rest_svc_invalid_messages',
    ],
    ['a choice of no tool', { ...claude, tool_choice: 'auto' }, 'tool_choice', 'invalid_value'],
    [
      'a format without a schema',
      { ...claude, response_format: { type: 'json_schema' } },
      'response_format.json_schema',
      'invalid_value',
    ],
    ['options of no stream', { ...grok, stream_options: {} }, 'stream_options', 'invalid_value'],
    [
      'an image of a private address',
      { ...claude, messages: [{ role: 'user', content: privateImages(1) }] },
      'messages[0].content[0].image_url.url',
      'invalid_value',
    ],
    [
      'more addresses of images than 20',
      { ...claude, messages: [{ role: 'user', content: privateImages(21) }] },
      'messages[0].content[20].image_url.url',
      'invalid_value',
    ],
    // No image is asked for before model, scopes and budget are known to allow the call.
    [
      'an image for an unknown chatbot',
      { model: 'bot:99', messages: [{ role: 'user', content: privateImages(1) }] },
      'messages[0].content',
      'unsupported_parameter',
    ],
    [
      'an image for a model that cannot see',
      { model: 'claude/claude-2.1', messages: [{ role: 'user', content: privateImages(1) }] },
      'messages',
      'rest_svc_model_cannot_see',
    ],
    ['text that is not JSON', '{', null, 'rest_invalid_json'],
  ] as const)
    it(`refuse ${title} in the shape of OpenAI, with the service's own error inside`, async () => {
      const calls = upstream.calls.length;
      const response = await door.send('/chat/completions', body);
      const { error } = response.body as { error: Record<string, unknown> };
      expect([error['param'], error['code'], error['type']]).to.deep.equal([param, code, 'invalid_request_error']);
      expect(error['svc']).to.deep.include({ status: response.status });
      expect((error['svc'] as { code: string }).code).to.match(/^rest_/);
      expect(upstream.calls.length).to.equal(calls);
    });

  it('look at the scopes of the key and its budget before they fetch an image', async () => {
    const ask = async (...flags: string[]): Promise<unknown> => {
      const { out } = await host.cli('svc', 'key', 'create', '--name=Images', '--json', ...flags);
      const { key } = JSON.parse(out) as { key: string };
      const response = await fetch(`${door.url}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          ...claude,
          messages: [{ role: 'user', content: privateImages(1) }],
        }),
      });
      const { error } = (await response.json()) as { error: { svc: { code: string } } };
      return [response.status, error.svc.code];
    };
    expect(await ask('--routes=openai')).to.deep.equal([400, 'rest_invalid_param']);
    expect(await ask('--routes=openai', '--providers=xai')).to.deep.equal([403, 'rest_svc_key_out_of_scope']);
    const budget = { id: 'images', name: 'Images', unit: 'tokens', amount: 1 };
    expect((await host.cli('svc', 'budget', 'set', JSON.stringify(budget))).code).to.equal(0);
    expect(await ask('--routes=openai')).to.deep.equal([429, 'rest_svc_budget_exhausted']);
    expect((await host.cli('svc', 'budget', 'delete', 'images')).code).to.equal(0);
  });

  it('answer for a chatbot, whose settings decide everything else', async () => {
    const { out } = await host.cli(
      'svc',
      'bot',
      'create',
      '--json',
      JSON.stringify({ name: 'Helper', provider: 'xai', model: 'grok-3', instructions: 'Help.' }),
    );
    const model = `bot:${String((JSON.parse(out) as { id: number }).id)}`;
    expect((await client(model).invoke('Hello')).content).to.equal('You said: Hello');
    expect(upstream.calls.at(-1)?.messages[0]).to.deep.equal({ role: 'system', content: 'Help.' });
    const chatty = [{ role: 'system', content: 'Be brief.' }, ...messages];
    const usual = { model, messages: chatty, temperature: 1, max_tokens: 50, user: 'ada' };
    const { body, headers } = await door.send('/chat/completions', usual);
    expect((body as { svc: { provider: string } }).svc.provider).to.equal('xai');
    expect(headers.get('x-svc-ignored-params')).to.equal('temperature, max_tokens, user, messages[0]');
    expect(upstream.calls.at(-1)?.messages[0]).to.deep.equal({ role: 'system', content: 'Help.' });
    const refused = await door.send('/chat/completions', {
      model,
      messages,
      tools: [{ type: 'function', function: { name: 'weather', parameters } }],
    });
    expect((refused.body as { error: { param: string } }).error.param).to.equal('tools');
    const models = async (): Promise<string[]> =>
      ((await door.send('/models')).body as { data: { id: string }[] }).data.map(({ id }) => id);
    expect(await models()).to.include(model);
    await host.cli(
      'svc',
      'bot',
      'update',
      '--json',
      JSON.stringify({ id: Number(model.slice(4)), status: 'inactive' }),
    );
    expect(await models()).to.not.include(model);
    const { status } = await door.send('/chat/completions', { model, messages });
    expect(status).to.equal(404);
  });

  const client = (model: string) =>
    new ChatOpenAI({ model, apiKey: restKey, configuration: { baseURL: door.url }, maxRetries: 0 });

  it('send an error after the first text as an event', async () => {
    upstream.answer = (turn) => {
      turn.piece('One');
      setTimeout(() => turn.cut(), 100);
    };
    const response = await fetch(`${door.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${restKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...grok, stream: true }),
    });
    const text = await response.text();
    expect(text).to.contain('"content":"One"').and.to.contain('"code":"rest_svc_provider_error"');
    expect(text).not.to.contain('[DONE]');
  });

  it('answer an error before the first text with its status', async () => {
    upstream.answer = (turn) => turn.fail(400, 'Too long.');
    const { status, body } = await door.send('/chat/completions', { ...grok, stream: true });
    const { error } = body as { error: { message: string; svc: { provider: string } } };
    expect([status, error.message, error.svc.provider]).to.deep.equal([
      400,
      'xAI refused the request: Too long.',
      'xai',
    ]);
  });

  it('begin a stream while the upstream is silent, and send a later error as an event', async () => {
    const coming = upstream.next();
    const response = await fetch(`${door.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${restKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...grok, stream: true }),
    });
    // The upstream has sent nothing so far.
    const reader = response.body!.getReader();
    const first = Buffer.from((await reader.read()).value!).toString();
    expect([response.status, first]).to.deep.equal([200, ': \n\n']);
    (await coming).fail(400, 'Too long.');
    let text = '';
    for (let step = await reader.read(); !step.done; step = await reader.read())
      text += Buffer.from(step.value).toString();
    expect(text).to.contain('xAI refused the request: Too long.');
    expect(text).not.to.contain('[DONE]');
  });

  it('abort the upstream call when the client disconnects', async () => {
    const controller = new AbortController();
    const coming = upstream.next();
    const sent = fetch(`${door.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${restKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...grok, stream: true }),
      signal: controller.signal,
    });
    const turn = await coming;
    turn.piece('One');
    await (await sent).body?.getReader().read();
    controller.abort();
    await turn.closed;
  });

  it('change texts by the filters of /generate', async () => {
    const undo = host.hooks.addFilter('svc_text_response', (response) => ({ ...response, content: 'Changed' }));
    let streamed = '';
    for await (const { content } of await client('openai/gpt-4.1').stream('echo: Hello')) streamed += content as string;
    undo();
    expect(streamed).to.equal('Changed');
  });
});
