import { expect } from 'chai';
import { sealReasoning } from '../../plugins/svc/kit/reasoning.ts';
import { compile } from '../rest/openapi/check-document.ts';
import { chatEvents, claudeMessage, startAnthropicDoor, type AnthropicDoor, type Json } from './anthropic-door.ts';
import { restKey } from './openai-door.ts';

const completion = {
  model: 'gpt-4.1',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
};
const answer = claudeMessage([{ type: 'text', text: 'Hello.' }]);
const cached = { cache_control: { type: 'ephemeral' } };
const claude = 'claude/claude-sonnet-4-5';
const hello = { max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] };

/** As Claude Code sends it. */
const code = {
  max_tokens: 32_000,
  system: [
    { type: 'text', text: 'You are an agent.', ...cached },
    { type: 'text', text: 'Be brief.', ...cached },
  ],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'List.' }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'A list.', signature: 'c2ln' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'toolu_1', name: 'tool_1', input: { path: '.' } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          content: [{ type: 'text', text: 'a.ts' }],
          is_error: true,
          ...cached,
        },
        { type: 'text', text: 'Go on.', ...cached },
      ],
    },
  ],
  tools: Array.from({ length: 20 }, (_, index) => ({
    name: `tool_${index}`,
    description: 'A tool.',
    input_schema: { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: {} },
  })),
  metadata: { user_id: 'user_1' },
  thinking: { type: 'enabled', budget_tokens: 31_999 },
  context_management: { edits: [] },
};

describe('requests in Anthropic’s format', () => {
  let door: AnthropicDoor;
  before(async () => {
    door = await startAnthropicDoor();
  });
  after(() => door.stop());

  const ignoredOf = (headers: Headers): string[] => headers.get('x-svc-ignored-params')?.split(', ') ?? [];
  const sent = (): Json => door.received()[0]!.body;

  it('of Claude Code reach Claude unchanged, with their beta features', async () => {
    door.play({ body: answer });
    const beta = 'claude-code-20250219,interleaved-thinking-2025-05-14';
    await door.client(restKey, { 'anthropic-beta': beta }).post('/v1/messages', { body: { ...code, model: claude } });
    expect(sent()).to.deep.equal({ ...code, model: 'claude-sonnet-4-5' });
    expect(door.received()[0]!.headers['anthropic-beta']).to.equal(beta);
  });

  const lost = ['cache_control', 'context_management', 'is_error', 'messages.thinking'];

  it('of Claude Code reach OpenAI translated, and what has no effect there is named', async () => {
    door.play({ body: completion });
    const { status, headers, text, body } = await door.post('/messages', { ...code, model: 'openai/gpt-5.6-terra' });
    expect(status, text).to.equal(200);
    expect(ignoredOf(headers)).to.have.members(lost);
    expect((body['svc'] as Json)['ignored_params']).to.have.members(lost);
    const { messages, tools, reasoning_effort, max_completion_tokens, user } = sent();
    expect([reasoning_effort, max_completion_tokens, user]).to.deep.equal(['high', 32_000, 'user_1']);
    expect(tools).to.have.length(20);
    expect(messages).to.deep.equal([
      { role: 'system', content: 'You are an agent.\n\nBe brief.' },
      { role: 'user', content: 'List.' },
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [{ id: 'toolu_1', type: 'function', function: { name: 'tool_1', arguments: '{"path":"."}' } }],
      },
      { role: 'tool', tool_call_id: 'toolu_1', content: 'a.ts' },
      { role: 'user', content: 'Go on.' },
    ]);
  });

  it('say tool choices, formats, stop sequences and the end of thinking as OpenAI does', async () => {
    door.play({ body: completion });
    const request = {
      ...hello,
      model: 'openai/gpt-4.1',
      tools: [code.tools[0]],
      tool_choice: { type: 'tool', name: 'tool_0', disable_parallel_tool_use: true },
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
      stop_sequences: ['END'],
      temperature: 0.5,
      // A model that does not think needs no word for it.
      thinking: { type: 'disabled' },
    };
    const { status, text } = await door.post('/messages', request);
    expect(status, text).to.equal(200);
    const { tool_choice, parallel_tool_calls, response_format, stop, temperature, reasoning_effort } = sent();
    expect(tool_choice).to.deep.equal({ type: 'function', function: { name: 'tool_0' } });
    expect([parallel_tool_calls, stop, temperature, reasoning_effort]).to.deep.equal([false, ['END'], 0.5, undefined]);
    expect(response_format).to.deep.include({ type: 'json_schema' });
  });

  for (const [param, members] of [
    ['tools[0].type', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    ['mcp_servers', { mcp_servers: [{ type: 'url', url: 'https://example.com', name: 'm' }] }],
    ['container', { container: 'container_1' }],
    ['unknown', { unknown: 1 }],
    ['output_config.task_budget', { output_config: { task_budget: {} } }],
    [
      'messages[0].content[1].type',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Hi' },
              { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'u' } },
            ],
          },
        ],
      },
    ],
  ] as const)
    it(`that OpenAI cannot answer are refused, or answered without it for a lenient key: ${param}`, async () => {
      const request = { ...hello, model: 'openai/gpt-4.1', ...members };
      const lenient = await door.createKey('--routes=anthropic', '--lenient');
      door.play({ body: completion });
      const { status, body } = await door.post('/messages', request);
      expect([status, ((body['error'] as Json)['svc'] as Json)['param']]).to.deep.equal([400, param]);
      expect(door.received()).to.deep.equal([]);
      const { headers } = await door.post('/messages', request, lenient);
      expect(ignoredOf(headers)).to.deep.equal([param]);
      expect(Object.keys(sent())).not.to.include.members(['tools', 'unknown']);
      door.play({ body: answer });
      await door.post('/messages', { ...request, model: claude });
      expect(sent()).to.deep.equal({ ...request, model: 'claude-sonnet-4-5' });
    });

  it('are refused for a document alone by its name, and for nothing but it with a lenient key', async () => {
    const document = { type: 'document', source: { type: 'url', url: 'u' } };
    const request = { ...hello, model: 'openai/gpt-4.1', messages: [{ role: 'user', content: [document] }] };
    const paramOf = ({ body }: { readonly body: Json }) => ((body['error'] as Json)['svc'] as Json)['param'];
    expect(paramOf(await door.post('/messages', request))).to.equal('messages[0].content[0].type');
    const lenient = await door.createKey('--routes=anthropic', '--lenient');
    expect(paramOf(await door.post('/messages', request, lenient))).to.equal('messages');
  });

  it('are refused by the names of Anthropic', async () => {
    const { status, body } = await door.post('/messages', {
      ...hello,
      model: 'openai/gpt-4.1',
      top_k: 4,
      thinking: { type: 'enabled', budget_tokens: 2000 },
    });
    expect(status).to.equal(400);
    expect(JSON.stringify(body)).to.match(/does not support (top_k|thinking)\./);
  });

  it('return the thinking of other vendors to them alone', async () => {
    const item = { type: 'reasoning', id: 'rs_1', encrypted_content: 'x' };
    const signature = sealReasoning({ item, format: 'responses' });
    const messages = [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Of OpenAI.', signature },
          { type: 'redacted_thinking', data: signature },
          { type: 'redacted_thinking', data: 'b2Y=' },
          { type: 'text', text: 'Hello' },
        ],
      },
      { role: 'user', content: 'Again' },
    ];
    door.play({ body: answer });
    await door.post('/messages', { ...hello, messages, model: claude });
    expect(sent()['messages']).to.deep.equal([
      messages[0],
      {
        role: 'assistant',
        content: [
          { type: 'redacted_thinking', data: 'b2Y=' },
          { type: 'text', text: 'Hello' },
        ],
      },
      messages[2],
    ]);
  });

  it('need a result for each call, and a header of features that is one', async () => {
    const [, called] = code.messages;
    for (const [messages, param] of [
      [[called, { role: 'user', content: 'Hi' }], 'messages[0].content[2]'],
      [[{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x' }] }], 'messages[0].content[0].tool_use_id'],
      [[{ role: 'user', content: 7 }], 'messages[0].content'],
    ] as const) {
      const { status, body } = await door.post('/messages', { ...hello, model: 'openai/gpt-4.1', messages });
      expect([status, (body['error'] as Json)['message']]).to.satisfy(
        ([code, text]: [number, string]) => code === 400 && text.startsWith(`${param} `),
      );
    }
    const odd = door
      .client(restKey, { 'anthropic-beta': 'a;b' })
      .post('/v1/messages', { body: { ...hello, model: claude } });
    expect(String(await odd.catch((error: unknown) => error))).to.contain('anthropic-beta must be a list');
  });

  it('are limited by the scopes of their key, for models that their tools name too', async () => {
    const other = await door.createKey('--routes=openai');
    const some = await door.createKey('--routes=anthropic', '--providers=claude', '--models=claude-sonnet-4-5');
    const advisor = [{ type: 'advisor_20260301', name: 'advisor', model: 'claude-opus-4-8' }];
    door.play({ body: answer });
    for (const [key, request, status] of [
      [other, { model: claude }, 403],
      [some, { model: 'openai/gpt-4.1' }, 403],
      [some, { model: 'claude/claude-opus-4-8' }, 403],
      [some, { model: claude, tools: advisor }, 403],
      [some, { model: claude, tools: [{ name: 'f', input_schema: { properties: { model: {} }, model: 'x' } }] }, 200],
      [restKey, { model: claude, tools: advisor }, 200],
    ] as const)
      for (const path of status === 200 ? ['/messages'] : ['/messages', '/messages/count_tokens']) {
        const { status: given, text } = await door.post(path, { ...hello, ...request }, key);
        expect(given, text).to.equal(status);
      }
  });

  it('count against the limit and the budget of their key', async () => {
    const limited = await door.createKey('--routes=anthropic', '--requests-per-minute=1');
    door.play({ body: { input_tokens: 5 } });
    expect((await door.post('/messages/count_tokens', { ...hello, model: claude }, limited)).status).to.equal(200);
    const second = await door.post('/messages/count_tokens', { ...hello, model: claude }, limited);
    expect([second.status, (second.body['error'] as Json)['type']]).to.deep.equal([429, 'rate_limit_error']);

    const budget = { id: 'few', name: 'Few', unit: 'calls', amount: 1 };
    const { code: exit, err } = await door.host.cli('svc', 'budget', 'set', JSON.stringify(budget));
    expect(exit, err).to.equal(0);
    door.play({ body: answer });
    const statuses: number[] = [];
    for (const stream of [false, true, true])
      statuses.push((await door.post('/messages', { ...hello, model: claude, stream })).status);
    expect(statuses.at(-1)).to.equal(429);
    await door.host.cli('svc', 'budget', 'delete', 'few');
  });

  it('of administrators can be a dry run', async () => {
    door.play({ body: answer });
    const {
      code: exit,
      out,
      err,
    } = await door.host.cli(
      ...[
        'svc',
        'key',
        'explain',
        'rest',
        '--route=anthropic',
        '--provider=claude',
        '--model=claude-sonnet-4-5',
        '--json',
      ],
    );
    expect(exit, err).to.equal(0);
    const { allowed, calls } = JSON.parse(out) as { allowed: boolean; calls: readonly Json[] };
    expect(allowed).to.equal(true);
    expect(calls[0]).to.deep.include({ provider: 'claude', model: 'claude-sonnet-4-5', output_tokens: 1024 });
    expect(door.received()).to.deep.equal([]);
  });

  it('talk to chatbots, whose settings decide the rest', async () => {
    const settings = JSON.stringify({ name: 'Shop', provider: 'openai', model: 'gpt-4.1' });
    const { out } = await door.host.cli('svc', 'bot', 'create', '--json', settings);
    const { id } = JSON.parse(out) as { id: number };
    const model = `bot:${String(id)}`;
    door.play({ body: completion });
    const { status, headers, body, text } = await door.post('/messages', {
      ...hello,
      model,
      system: 'Be rude.',
      temperature: 1,
    });
    expect(status, text).to.equal(200);
    expect([body['model'], body['content']]).to.deep.equal([model, [{ type: 'text', text: 'Hello.' }]]);
    expect(ignoredOf(headers)).to.include.members(['system', 'temperature', 'max_tokens']);
    expect((await door.post('/messages', { ...hello, model, tools: code.tools })).status).to.equal(400);
    door.play({ events: chatEvents({ text: 'Hello.' }) });
    expect((await door.post('/messages', { ...hello, model, stream: true })).text).to.contain('"text_delta"');
    expect((await door.post('/messages/count_tokens', { ...hello, model })).body['input_tokens']).to.be.above(0);
  });

  it('have filters of plugins applied: what they change reaches Claude', async () => {
    const undo = door.host.hooks.addFilter('svc_text_request', (call) => ({
      ...call,
      messages: call.messages.map((message) => ({ ...message, content: message.content.replace('secret', '…') })),
    }));
    door.play({ body: answer });
    const request = { ...hello, model: claude, unknown: 1 };
    await door.post('/messages', request);
    expect(sent()).to.deep.include({ unknown: 1 });
    const changed = { ...request, messages: [{ role: 'user', content: 'A secret' }] };
    expect((await door.post('/messages', changed)).status).to.equal(400);
    const { unknown: _unknown, ...plain } = changed;
    door.play({ body: answer });
    await door.post('/messages', plain);
    expect(JSON.stringify(sent())).to.contain('A …').and.not.contain('secret');
    undo();
  });

  it('have responses and errors as the OpenAPI document describes them', async () => {
    const document = (await door.host.rest.openapi('svc-anthropic/v1'))!;
    type Content = { readonly content: { readonly 'application/json': { readonly schema: object } } };
    const schemaOf = (path: string, status: number): object => {
      const found = (document.paths[path]!['post']!['responses'] as Record<string, object>)[status]!;
      const name = String((found as { $ref?: string }).$ref ?? '').replace('#/components/responses/', '');
      return ((name === '' ? found : document.components['responses']![name]) as Content).content['application/json']
        .schema;
    };
    for (const [path, request, status] of [
      ['/messages', { ...hello, model: 'openai/gpt-4.1' }, 200],
      ['/messages', { model: 'openai/gpt-4.1' }, 400],
      ['/messages/count_tokens', { ...hello, model: 'openai/gpt-4.1' }, 200],
    ] as const) {
      door.play({ body: completion });
      const { status: given, body, text } = await door.post(path, request);
      expect(given, text).to.equal(status);
      expect(compile(document, schemaOf(path, status))(body), text).to.equal(true);
    }
  });
});
