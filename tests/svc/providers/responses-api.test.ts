import { expect } from 'chai';
import { createHooks } from '../../../host/hooks/hooks.ts';
import type { Reasoning } from '../../../plugins/svc/kit/reasoning.ts';
import type {
  Provider,
  ProviderConnection,
  ProviderError,
  ProviderSettings,
  TextRequest,
} from '../../../plugins/svc/providers/provider.ts';
import { createProviderRegistry } from '../../../plugins/svc/providers/registry.ts';
import { connectionTo, requestTo } from '../../conformance/exchange.ts';
import type { JsonBody } from '../../conformance/upstream.ts';
import { upstreams } from '../../conformance/upstreams.ts';
import { failureOf } from '../../helpers/failure-of.ts';

const registry = createProviderRegistry({ hooks: createHooks() });
const find = (id: string): Provider => registry.get(id)!;
const upstream = upstreams.find(({ id, format }) => id === 'openai' && format === 'responses')!;

const encrypted = {
  id: 'rs_1',
  type: 'reasoning',
  summary: [
    { type: 'summary_text', text: 'They greet.' },
    { type: 'summary_text', text: 'So do I.' },
  ],
  encrypted_content: 'gAAAAB',
};
const message = (...content: readonly object[]) => ({ id: 'msg_1', type: 'message', role: 'assistant', content });
const outputText = (text: string) => ({ type: 'output_text', text, annotations: [] });
const called = {
  id: 'fc_1',
  type: 'function_call',
  call_id: 'call_1',
  name: 'find_city',
  arguments: '{"name":"Paris"}',
};
const search = { id: 'ws_1', type: 'web_search_call', status: 'completed' };
const usage = {
  ...{ input_tokens: 30, output_tokens: 20, total_tokens: 50 },
  input_tokens_details: { cached_tokens: 10 },
  output_tokens_details: { reasoning_tokens: 5 },
};
const responseOf = (output: readonly object[], more: object = {}) => ({
  ...{ id: 'resp_1', object: 'response', model: 'o4-mini-2025-04-16', status: 'completed', error: null, output, usage },
  ...more,
});
const eventsOf = (...events: readonly object[]): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');

/** An upstream that gives this answer, whole or as events, and what it was asked. */
function answeringWith(...answers: readonly (object | string)[]) {
  const asked: JsonBody[] = [];
  const left = [...answers];
  const fetch: typeof globalThis.fetch = (_input, init) => {
    asked.push(JSON.parse(String(init?.body)) as JsonBody);
    const answer = left.length > 1 ? left.shift()! : left[0]!;
    const type = typeof answer === 'string' ? 'text/event-stream' : 'application/json';
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
    const isRefused = typeof answer === 'object' && !('output' in answer) && !('status' in answer);
    return Promise.resolve(new Response(text, { status: isRefused ? 400 : 200, headers: { 'content-type': type } }));
  };
  return { asked, fetch };
}

interface CallInit {
  readonly id?: string;
  readonly settings?: Partial<ProviderSettings>;
  readonly onReasoning?: ProviderConnection['onReasoning'];
}

/** What a call with this request sends, and its result. */
async function call(
  answer: object | string,
  request: Partial<TextRequest> = {},
  { id, settings, ...rest }: CallInit = {},
) {
  const { asked, fetch } = answeringWith(answer);
  const connection = connectionTo(upstream, { fetch, settings: { ...upstream.settings, ...settings }, ...rest });
  const { text } = find(id ?? 'openai');
  const given = requestTo(upstream, { model: 'o4-mini', ...request });
  const pieces: string[] = [];
  const result =
    typeof answer === 'string'
      ? await text!.stream!(given, connection, (piece) => void pieces.push(piece))
      : await text!.generate(given, connection);
  return { sent: asked[0]!, result, pieces };
}

const failing = async (answer: object | string): Promise<ProviderError> =>
  (await failureOf(call(answer))) as ProviderError;

describe('The setting `api` of a provider', () => {
  const own = {
    openai: 'https://api.openai.com/v1',
    azure: 'https://example.openai.azure.com',
    xai: 'https://api.x.ai/v1',
  };
  const formatOf = (id: string, settings: ProviderSettings, model = 'gpt-4.1') =>
    find(id).text!.format!(model, settings);

  for (const [id, base_url] of Object.entries(own))
    it(`is Responses at the address of ${id} by default, and Chat Completions at any other`, () => {
      for (const api of [undefined, 'auto']) {
        expect(formatOf(id, { base_url, api })).to.equal('responses');
        for (const other of [
          'http://127.0.0.1:8080/v1',
          'https://api.openai.com.example.com/v1',
          'https://gateway/api.x.ai',
        ])
          expect(formatOf(id, { base_url: other, api }), other).to.equal('chat');
      }
      expect(formatOf(id, { base_url, api: 'chat' })).to.equal('chat');
      expect(formatOf(id, { base_url: 'http://127.0.0.1:8080/v1', api: 'responses' })).to.equal('responses');
    });

  it('is Responses where no address is saved, but for Azure', () => {
    expect(['openai', 'xai', 'azure'].map((id) => formatOf(id, {}))).to.deep.equal(['responses', 'responses', 'chat']);
  });

  it('is Responses for resources of Azure AI Foundry, and never with the classic API', () => {
    const base_url = 'https://example.services.ai.azure.com/openai/v1';
    expect(formatOf('azure', { base_url })).to.equal('responses');
    for (const api of ['auto', 'responses'])
      expect(formatOf('azure', { base_url, api, api_version: '2024-10-21' })).to.equal('chat');
  });

  it('leaves models that OpenAI offers in Chat Completions alone to it', () => {
    for (const model of ['gpt-4o-search-preview', 'gpt-5-search-api', 'gpt-4o-audio-preview'])
      expect(formatOf('openai', {}, model), model).to.equal('chat');
  });

  it('is Chat Completions for DeepSeek and OpenRouter unless Responses is chosen', () => {
    for (const id of ['deepseek', 'openrouter']) {
      expect(formatOf(id, {})).to.equal('chat');
      expect(formatOf(id, { api: 'responses' })).to.equal('responses');
    }
  });
});

describe('Requests of the Responses API', () => {
  const answer = responseOf([message(outputText('Bonjour.'))]);

  it('have the reasoning, the text and the calls of an assistant in their order, and the results', async () => {
    const tools = [
      { name: 'find_city', description: 'Finds a city.', parameters: { type: 'object' } },
      { name: 'now', strict: true },
    ];
    const reasoning: Reasoning[] = [
      { text: 'They greet.', item: encrypted, format: 'responses' },
      { text: 'Stored there alone.', item: { id: 'rs_2', type: 'reasoning', summary: [] }, format: 'responses' },
      { text: 'Of another vendor.', item: { type: 'thinking', thinking: 'Hm.' }, format: 'messages' },
    ];
    const toolCalls = [{ id: 'call_1', name: 'find_city', arguments: '{"name":"Paris"}' }];
    const { sent } = await call(answer, {
      system: 'Be brief.',
      messages: [
        { role: 'user', content: 'Where is it?' },
        { role: 'assistant', content: 'I look.', toolCalls, reasoning },
        { role: 'tool', content: '48.9 N', toolCallId: 'call_1' },
        { role: 'assistant', content: '', toolCalls: [{ ...toolCalls[0]!, id: 'call_2' }] },
        { role: 'tool', content: '', toolCallId: 'call_2' },
      ],
      tools,
      toolChoice: { name: 'find_city' },
      parallelToolCalls: false,
      endUser: 'user-1',
      hints: { metadata: { page: '7' }, prompt_cache_key: 'k', safety_identifier: 's' },
      params: { reasoning_effort: 'high', max_completion_tokens: 900 },
    });
    const { call_id, name, arguments: given } = called;
    expect(sent).to.deep.equal({
      model: 'o4-mini',
      instructions: 'Be brief.',
      input: [
        { role: 'user', content: 'Where is it?' },
        encrypted,
        { role: 'assistant', content: 'I look.' },
        { type: 'function_call', call_id, name, arguments: given },
        { type: 'function_call_output', call_id, output: '48.9 N' },
        { type: 'function_call', call_id: 'call_2', name, arguments: given },
        { type: 'function_call_output', call_id: 'call_2', output: '' },
      ],
      store: false,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'high' },
      max_output_tokens: 900,
      tools: [
        { type: 'function', ...tools[0], strict: false },
        { type: 'function', name: 'now', parameters: null, strict: true },
      ],
      tool_choice: { type: 'function', name: 'find_city' },
      parallel_tool_calls: false,
      user: 'user-1',
      metadata: { page: '7' },
      prompt_cache_key: 'k',
      safety_identifier: 's',
    });
  });

  it('ask for encrypted reasoning of models that reason alone', async () => {
    const { sent } = await call(answer, { model: 'gpt-4.1' });
    expect(sent).to.not.have.property('include');
    const settings = { deployments: ['mine = o4-mini'] };
    expect((await call(answer, { model: 'mine' }, { id: 'azure', settings })).sent).to.have.property('include');
  });

  it('have the system text in a message for JSON, since OpenAI looks for the word there, and for xAI', async () => {
    const system = 'Answer in JSON.';
    const expected = [
      { role: 'system', content: system },
      { role: 'user', content: 'Say hello in French.' },
    ];
    const { sent } = await call(answer, { system, format: { type: 'json_object' } });
    expect(sent).to.deep.include({ input: expected, text: { format: { type: 'json_object' } } });
    expect(sent).to.not.have.property('instructions');
    expect((await call(answer, { system }, { id: 'xai' })).sent['input']).to.deep.equal(expected);
  });

  it('raise a length below the least one, and name it', async () => {
    const { sent, result } = await call(answer, { params: { max_completion_tokens: 1 } });
    expect([sent['max_output_tokens'], result.ignored]).to.deep.equal([16, ['max_completion_tokens']]);
  });

  it('leave out a parameter that the model refuses, and remember it', async () => {
    const refusal = {
      error: { message: "Unsupported parameter: 'reasoning.effort' is not supported with this model." },
    };
    const { asked, fetch } = answeringWith(refusal, answer);
    const settings = { ...upstream.settings, base_url: 'https://api.openai.com/v1/refusing' };
    const request = requestTo(upstream, { model: 'o4-mini', params: { reasoning_effort: 'low' } });
    const result = await find('openai').text!.generate(request, connectionTo(upstream, { fetch, settings }));
    expect(asked.map((body) => body['reasoning'])).to.deep.equal([{ effort: 'low' }, undefined]);
    expect(result.ignored).to.deep.equal(['reasoning_effort']);
  });

  it('go on as their caller sent them, but for the model and what the model refused', async () => {
    const body = {
      model: 'openai/o4-mini',
      input: [{ type: 'message', role: 'developer', content: 'Be brief.' }, search],
      tools: [{ type: 'web_search' }],
      reasoning: { effort: 'low', summary: 'auto' },
      temperature: 0.5,
      new_member: { a: null },
      stream: true,
    };
    const native = { format: 'responses', body, given: ['temperature', 'reasoning_effort'] } as const;
    const params = { temperature: 0.5, reasoning_effort: 'low' } as const;
    const { stream: _stream, ...rest } = body;
    const { sent } = await call(answer, { native, params });
    expect(sent).to.deep.equal({ ...rest, model: 'o4-mini' });
    const { temperature: _temperature, ...left } = rest;
    expect((await call(answer, { native, params: {} })).sent).to.deep.equal({
      ...left,
      model: 'o4-mini',
      reasoning: { summary: 'auto' },
    });
  });
});

describe('Answers of the Responses API', () => {
  it('have text, calls of functions, reasoning and usage; tools of the vendor are passed over', async () => {
    const { result } = await call(
      responseOf([encrypted, search, message(outputText('Bon'), outputText('jour.')), called]),
    );
    expect(result).to.deep.equal({
      content: 'Bonjour.',
      model: 'o4-mini-2025-04-16',
      ignored: [],
      usage: { input_tokens: 30, output_tokens: 20, total_tokens: 50 },
      tokenDetails: { cached_input: 10, reasoning: 5 },
      toolCalls: [{ id: 'call_1', name: 'find_city', arguments: '{"name":"Paris"}' }],
      reasoning: [{ text: 'They greet.\n\nSo do I.', item: encrypted, format: 'responses' }],
    });
  });

  it('have the reasoning itself where there is no summary', async () => {
    const item = { id: 'r', type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] };
    const { reasoning } = (await call(responseOf([item, message(outputText('Yes.'))]))).result;
    expect(reasoning).to.deep.equal([{ text: 'Hm.', item, format: 'responses' }]);
  });

  for (const [reason, finish] of [
    ['max_output_tokens', 'length'],
    ['content_filter', 'content_filter'],
  ] as const)
    it(`end as ${finish} for the reason ${reason}, also without a text`, async () => {
      const more = { status: 'incomplete', incomplete_details: { reason } };
      for (const output of [[message(outputText('Bon'))], [encrypted], []])
        expect((await call(responseOf(output, more))).result.finish).to.equal(finish);
    });

  it('end as content_filter with a refusal after a part of the text', async () => {
    const refusal = { type: 'refusal', refusal: 'No.' };
    const { result } = await call(responseOf([message(outputText('Well, '), refusal)]));
    expect([result.content, result.refusal, result.finish]).to.deep.equal(['Well, ', 'No.', 'content_filter']);
  });

  it('may be empty if the vendor’s tools did the work, else they are failures', async () => {
    expect((await call(responseOf([search]))).result.content).to.equal('');
    for (const output of [[], [encrypted], [message(outputText(''))]])
      expect(await failing(responseOf(output))).to.include({ kind: 'unreadable', status: 200 });
  });

  for (const [more, kind, said] of [
    [{ status: 'failed', error: { code: 'rate_limit_exceeded', message: 'Slow down.' } }, 'rate_limited', 'Slow down.'],
    [{ status: 'failed', error: { code: 'server_error', message: 'Oh.' } }, 'unavailable', 'Oh.'],
    [{ status: 'failed', error: null }, 'unavailable', 'status failed'],
    [{ status: 'cancelled' }, 'unavailable', 'status cancelled'],
    [{ status: 'queued' }, 'unavailable', 'status queued'],
    [{ status: 'incomplete', incomplete_details: { reason: 'new' } }, 'unavailable', 'status incomplete, new'],
  ] as const)
    it(`are failures with ${JSON.stringify(more)}, and keep the usage`, async () => {
      const error = await failing(responseOf([message(outputText('Bon'))], more));
      expect(error.kind).to.equal(kind);
      expect(error.message).to.include(said);
      expect(error.reported?.usage?.total_tokens).to.equal(50);
    });
});

describe('Streams of the Responses API', () => {
  const at = { item_id: 'msg_1', output_index: 1, content_index: 0 };
  const delta = (text: string) => ({ type: 'response.output_text.delta', ...at, delta: text });
  const summary = (text: string) => ({ type: 'response.reasoning_summary_text.delta', item_id: 'rs_1', delta: text });
  const part = (index: number) => ({
    type: 'response.reasoning_summary_part.added',
    ...{ item_id: 'rs_1', summary_index: index },
  });
  const done = (item: object) => ({ type: 'response.output_item.done', item });
  const last = responseOf([encrypted, message(outputText('Bonjour.')), called]);

  it('pass on the reasoning in its pieces, then its item, and the text', async () => {
    const seen: Reasoning[] = [];
    const onReasoning = (piece: Reasoning) => void seen.push(piece);
    const events = [part(0), summary('They '), summary('greet.'), part(1), summary('So do I.'), done(encrypted)];
    const { result, pieces } = await call(
      eventsOf(...events, delta('Bon'), delta('jour.'), { type: 'response.completed', response: last }),
      {},
      { onReasoning },
    );
    expect(seen.map(({ text }) => text).join('')).to.equal('They greet.\n\nSo do I.');
    expect(seen.at(-1)).to.deep.equal({ text: '', item: encrypted, format: 'responses' });
    expect(pieces).to.deep.equal(['Bon', 'jour.']);
    expect(result).to.deep.equal((await call(last)).result);
  });

  it('have the items that came before where the last event has none', async () => {
    const { result } = await call(
      eventsOf(delta('Bonjour.'), done(message(outputText('Bonjour.'))), done(called), {
        type: 'response.completed',
        response: responseOf([]),
      }),
    );
    expect([result.content, result.toolCalls?.length]).to.deep.equal(['Bonjour.', 1]);
  });

  it('are cut without their last event, whatever else ends them', async () => {
    for (const end of ['', 'data: [DONE]\n\n']) {
      const error = await failing(eventsOf(delta('Bon'), done(message(outputText('Bon')))) + end);
      expect([error.kind, error.message]).to.deep.equal(['connection', 'its response ended early.']);
      expect(error.reported).to.deep.include({ usage: null, written: 'Bon' });
    }
  });

  it('fail with the code of an error, inside the event or one of its own, and with the usage', async () => {
    const error = { code: 'rate_limit_exceeded', message: 'Slow down.' };
    const failed = responseOf([], { status: 'failed', error });
    for (const event of [
      { type: 'error', ...error, usage },
      { type: 'error', error, usage },
      { type: 'response.failed', response: failed },
    ]) {
      const thrown = await failing(eventsOf(delta('Bon'), event));
      expect([thrown.kind, thrown.message], event.type).to.deep.equal(['rate_limited', 'Slow down.']);
      expect(thrown.reported?.usage?.total_tokens).to.equal(50);
      expect(thrown.reported?.written).to.equal('Bon');
    }
  });
});
