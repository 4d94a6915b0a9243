import { expect } from 'chai';
import OpenAI, { APIError } from 'openai';
import { startService, restKey, type Service } from '../contract/service.ts';
import { startUpstream, type Upstream, type UpstreamResponse } from '../contract/upstream.ts';
import { failureOf } from '../helpers/failure-of.ts';

type Input = OpenAI.Responses.ResponseInputItem[];

const encrypted = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'gAAAAB' };
const search = { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'news' } };
const part = { type: 'output_text', text: 'It rains.', annotations: [], logprobs: [] };
const message = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [part] };
const whole = {
  ...{
    id: 'resp_vendor',
    object: 'response',
    created_at: 1767225600,
    model: 'o4-mini-2025-04-16',
    status: 'completed',
  },
  ...{ error: null, incomplete_details: null, output: [encrypted, search, message], new_member: 1 },
  usage: { input_tokens: 7, output_tokens: 3, total_tokens: 10 },
};
const eventsOf = (...events: readonly object[]): UpstreamResponse => ({
  headers: { 'content-type': 'text/event-stream' },
  body: events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''),
});
const at = { item_id: 'msg_1', output_index: 2, content_index: 0 };
const created = { type: 'response.created', sequence_number: 0, response: { ...whole, output: [], usage: null } };
const content = [
  { type: 'response.output_item.added', sequence_number: 5, output_index: 0, item: search },
  { type: 'response.web_search_call.searching', sequence_number: 6, output_index: 1, item_id: 'ws_1' },
  { type: 'response.output_text.delta', sequence_number: 7, ...at, delta: 'It rains.', logprobs: [] },
];
const completed = { type: 'response.completed', sequence_number: 9, response: whole };

const sent = {
  model: 'openai/o4-mini',
  input: [
    { type: 'message', role: 'developer', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] },
  ],
  tools: [{ type: 'web_search' }, { type: 'function', name: 'f', parameters: { type: 'object' }, strict: null }],
  include: ['web_search_call.action.sources'],
  previous_response_id: 'resp_0',
  new_member: { a: null },
} as unknown as OpenAI.Responses.ResponseCreateParamsNonStreaming;

describe('the route responses over the Responses API of a vendor', () => {
  let service: Service;
  let client: OpenAI;
  before(async () => {
    service = await startService();
    service.host.hooks.addFilter('svc_provider_settings', (settings: Readonly<Record<string, unknown>>, id: string) =>
      id === 'openai' ? { ...settings, api: 'responses' } : settings,
    );
    const baseURL = `${service.host.url}/wp-json/svc-openai/v1`;
    client = new OpenAI({ apiKey: restKey, baseURL, maxRetries: 0 });
  });
  after(() => service.stop());

  const streamed = async (body = sent): Promise<OpenAI.Responses.ResponseStreamEvent[]> => {
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of await client.responses.create({ ...body, stream: true })) events.push(event);
    return events;
  };

  it('sends the request as it came but for the model, and returns the response as it is but for its name', async () => {
    service.upstream.answer({ body: whole });
    const response = await client.responses.create(sent);
    expect(service.upstream.requests.at(-1)).to.deep.equal({ ...sent, model: 'o4-mini' });
    const { output_text, svc, ...rest } = response as typeof response & { svc: object };
    expect(output_text).to.equal('It rains.');
    expect(rest).to.deep.equal({ ...whole, model: 'openai/o4-mini' });
    expect(svc).to.deep.equal({ provider: 'openai', model: 'o4-mini-2025-04-16' });
  });

  it('passes on the events of the vendor with numbers in their order', async () => {
    service.upstream.answer(eventsOf(created, ...content, completed));
    const events = await streamed();
    expect(service.upstream.requests.at(-1)).to.deep.equal({ ...sent, model: 'o4-mini', stream: true });
    expect(events.map(({ type }) => type)).to.deep.equal([
      'response.created',
      'response.in_progress',
      ...content.map(({ type }) => type),
      'response.completed',
    ]);
    const [first] = events as [OpenAI.Responses.ResponseCreatedEvent];
    expect([first.response.id, first.response.model]).to.deep.equal(['resp_vendor', 'openai/o4-mini']);
    expect(events.slice(2, 5)).to.deep.equal(content.map((event, index) => ({ ...event, sequence_number: index + 2 })));
    const last = events.at(-1) as OpenAI.Responses.ResponseCompletedEvent;
    expect([last.sequence_number, last.response.id, last.response.output]).to.deep.equal([
      5,
      'resp_vendor',
      whole.output,
    ]);
  });

  it('repeats a stream that failed before its content, and not after it', async () => {
    const failure = { type: 'error', code: 'server_error', message: 'The server had an error', param: null };
    service.upstream.answer(eventsOf(created, failure), eventsOf(created, ...content, completed));
    expect((await streamed()).at(-1)?.type).to.equal('response.completed');
    service.upstream.answer(eventsOf(created, ...content, failure));
    const before = service.upstream.requests.length;
    const error = (await failureOf(streamed())) as APIError;
    expect([error.code, service.upstream.requests.length - before]).to.deep.equal(['rest_svc_provider_error', 1]);
    expect(error.message).to.contain('The server had an error');
  });

  it('ends a stream that failed with response.failed, after the error', async () => {
    service.upstream.answer(eventsOf(created, ...content));
    const response = await client.responses.create({ ...sent, stream: true }).asResponse();
    const events = (await response.text()).split('\n\n').filter(Boolean);
    const names = events.map((event) => /^event: (.*)$/m.exec(event)?.[1]);
    expect(names.slice(-2)).to.deep.equal(['error', 'response.failed']);
    expect(events.at(-1)).to.contain('"status":"failed"').and.contain('ended early');
  });

  it('leaves a vendor’s error its status, its parameter and its sentence', async () => {
    const error = {
      message: "Invalid 'temperature'.",
      type: 'invalid_request_error',
      param: 'temperature',
      code: null,
    };
    service.upstream.answer({ status: 400, body: { error } });
    const failure = (await failureOf(client.responses.create(sent))) as APIError;
    expect([failure.status, failure.message.includes("Invalid 'temperature'.")]).to.deep.equal([400, true]);
  });

  it('ends the request to the vendor when the client gives up', async () => {
    service.upstream.answer({ instead: 'hang' });
    const controller = new AbortController();
    const asked = service.upstream.asked();
    const failure = failureOf(client.responses.create(sent, { signal: controller.signal }));
    await asked;
    controller.abort();
    expect(await failure).to.be.instanceOf(OpenAI.APIUserAbortError);
  });

  it('translates the request for chat/completions, with the reasoning that came before', async () => {
    service.upstream.answer({ body: whole });
    const { choices } = await client.chat.completions.create({
      model: 'openai/o4-mini',
      messages: [{ role: 'user', content: 'How is the weather?' }],
    });
    expect(choices[0]?.message.content).to.equal('It rains.');
    expect(service.upstream.requests.at(-1)).to.deep.equal({
      ...{ model: 'o4-mini', store: false, include: ['reasoning.encrypted_content'] },
      input: [{ role: 'user', content: 'How is the weather?' }],
    });
  });

  it('gives a filter of texts the request in the words of the service', async () => {
    service.upstream.answer({ body: whole });
    const filter = <Call extends { messages: readonly object[] }>(call: Call) => ({
      ...call,
      messages: [{ role: 'user', content: 'Changed.' }],
    });
    service.host.hooks.addFilter('svc_text_request', filter);
    try {
      await client.responses.create({ model: 'openai/o4-mini', input: 'Hello' });
      expect(service.upstream.requests.at(-1)?.['input']).to.deep.equal([{ role: 'user', content: 'Changed.' }]);
      const error = (await failureOf(client.responses.create(sent))) as APIError;
      expect([error.status, error.param]).to.deep.equal([400, 'input[1].content[0]']);
    } finally {
      service.host.hooks.removeFilter('svc_text_request', filter);
    }
  });
});

describe('reasoning of another vendor at the route responses', () => {
  let service: Service;
  let claude: Upstream;
  let client: OpenAI;
  const thinking = { type: 'thinking', thinking: 'They want the weather.', signature: 'EqQB' };
  const use = { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Oslo' } };
  const usage = { input_tokens: 7, output_tokens: 3 };
  const said = (blocks: readonly object[], stop_reason: string) => ({
    body: { ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'c', stop_reason, usage }, content: blocks },
  });
  before(async () => {
    service = await startService();
    claude = await startUpstream();
    const base_url = claude.url.replace(/\/v1$/, '');
    service.host.hooks.addFilter('svc_provider_settings', (settings: Readonly<Record<string, unknown>>, id: string) =>
      id === 'claude' ? { ...settings, api_key: 'sk-claude', base_url } : settings,
    );
    client = new OpenAI({ apiKey: restKey, baseURL: `${service.host.url}/wp-json/svc-openai/v1`, maxRetries: 0 });
  });
  after(async () => {
    await service.stop();
    await claude.stop();
  });

  const tools = [{ type: 'function' as const, name: 'get_weather', parameters: { type: 'object' }, strict: false }];
  for (const isStreamed of [false, true])
    it(`comes sealed and goes back as it was, ${isStreamed ? 'streamed' : 'whole'}`, async () => {
      claude.answer(said([thinking, use], 'tool_use'), said([{ type: 'text', text: 'It rains.' }], 'end_turn'));
      const ask = (input: Input) => {
        const body = { model: 'claude/claude-sonnet-4-5', input, tools, reasoning: { effort: 'low' as const } };
        return isStreamed ? client.responses.stream(body).finalResponse() : client.responses.create(body);
      };
      const input: Input = [{ role: 'user', content: 'How is Oslo?' }];
      const first = await ask(input);
      const [reasoning, call] = first.output;
      if (reasoning?.type !== 'reasoning' || call?.type !== 'function_call') throw new Error('Other items came.');
      expect(reasoning.summary).to.deep.equal([{ type: 'summary_text', text: thinking.thinking }]);
      expect(reasoning.encrypted_content).to.be.a('string').and.not.contain('weather');
      const output = { type: 'function_call_output' as const, call_id: call.call_id, output: 'Rain' };
      const second = await ask([...input, ...(first.output as Input), output]);
      expect(second.output_text).to.equal('It rains.');
      const messages = claude.requests.at(-1)?.['messages'] as { role: string; content: object[] }[];
      expect(messages[1]).to.deep.equal({ role: 'assistant', content: [thinking, use] });
    });
});
