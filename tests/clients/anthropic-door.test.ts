import { expect } from 'chai';
import Anthropic from '@anthropic-ai/sdk';
import { failureOf } from '../helpers/failure-of.ts';
import { chatEvents, claudeEvents, claudeMessage, startAnthropicDoor, type AnthropicDoor } from './anthropic-door.ts';
import { restKey } from './openai-door.ts';

const find: Anthropic.Tool = {
  name: 'find',
  description: 'Finds things.',
  input_schema: { type: 'object', properties: { q: { type: 'integer' } } },
};
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const ask = (model: string): Anthropic.MessageCreateParamsNonStreaming => ({
  model,
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Hi' }],
});
const hello = ask('claude/claude-sonnet-4-5');

describe('the client @anthropic-ai/sdk', () => {
  let door: AnthropicDoor;
  let client: Anthropic;
  before(async () => {
    door = await startAnthropicDoor();
    client = door.client();
  });
  after(() => door.stop());

  it('gets a message of Claude as Claude wrote it, by the key in either header', async () => {
    const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'otters' } };
    const content = [search, { type: 'text', text: 'Hello.', citations: null }];
    door.play({ body: claudeMessage(content) });
    for (const one of [client, new Anthropic({ authToken: restKey, apiKey: null, baseURL: client.baseURL })]) {
      const message = await one.messages.create(hello);
      expect(message.content).to.deep.equal(content);
      expect([message.model, message.stop_reason]).to.deep.equal([hello.model, 'end_turn']);
      expect(message.usage).to.deep.include({
        input_tokens: 10,
        cache_read_input_tokens: 4,
        cache_creation_input_tokens: 2,
        output_tokens: 5,
      });
    }
  });

  it('has the request id of messages, streams and errors', async () => {
    door.play({ body: claudeMessage([{ type: 'text', text: 'Hello.' }]) });
    const asked = client.messages.create(hello);
    const { response, request_id: id } = await asked.withResponse();
    expect([id, (await asked)._request_id]).to.deep.equal(Array(2).fill(response.headers.get('x-request-id')));
    expect(id).to.match(/^[\w-]{8,}$/);
    door.play({ events: claudeEvents([{ type: 'text', text: 'Hello.' }]) });
    const stream = client.messages.stream(hello);
    await stream.finalMessage();
    expect(stream.request_id).to.match(/^[\w-]{8,}$/);
    door.play({ status: 400, body: { type: 'error', error: { type: 'invalid_request_error', message: 'No.' } } });
    for (const run of [
      () => client.messages.create(hello),
      () => door.client('wrong').messages.create(hello),
      () => client.messages.create({ ...hello, model: 'nobody/m' }),
      () => client.post('/v1/unknown', { body: {} }),
    ]) {
      const error = (await failureOf(run())) as InstanceType<typeof Anthropic.APIError>;
      expect([error.requestID, error.error], error.message).to.deep.equal([
        error.headers?.get('x-request-id'),
        { ...(error.error as object), request_id: error.requestID },
      ]);
    }
  });

  it('gets a pause of Claude, whole and streamed', async () => {
    const content = [{ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }];
    door.play({ body: claudeMessage(content, 'pause_turn') });
    expect((await client.messages.create(hello)).stop_reason).to.equal('pause_turn');
    door.play({ events: claudeEvents(content, 'pause_turn') });
    const message = await client.messages.stream(hello).finalMessage();
    expect([message.stop_reason, message.content]).to.deep.equal(['pause_turn', content]);
  });

  it('streams five turns of tools with Claude, whose thinking comes back signed', async () => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Find five.' }];
    for (let turn = 1; turn <= 5; turn += 1) {
      const thinking = { type: 'thinking', thinking: `Turn ${turn}.`, signature: `c2ln${turn}` };
      const call = { type: 'tool_use', id: `toolu_${turn}`, name: 'find', input: { q: turn } };
      door.play({ events: claudeEvents([thinking, call], 'tool_use') });
      const message = await client.messages
        .stream({ ...hello, messages, tools: [find], thinking: { type: 'enabled', budget_tokens: 1024 } })
        .finalMessage();
      expect(door.received()[0]?.body['messages']).to.deep.equal(messages);
      expect([message.content, message.stop_reason]).to.deep.equal([[thinking, call], 'tool_use']);
      messages.push({ role: 'assistant', content: message.content });
      messages.push({
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: `toolu_${turn}`, content: `${turn}` }],
      });
    }
    door.play({ events: claudeEvents([{ type: 'text', text: 'Done.' }]) });
    const texts: string[] = [];
    const last = client.messages.stream({ ...hello, messages, tools: [find] }).on('text', (text) => texts.push(text));
    expect((await last.finalMessage()).usage.output_tokens).to.equal(5);
    expect(texts).to.deep.equal(['Done.']);
    expect(door.received()[0]?.body['messages']).to.deep.equal(messages);
  });

  it('streams five turns of tools with OpenAI', async () => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Find five.' }];
    const request = { ...ask('openai/gpt-4.1'), messages, system: 'Be brief.', tools: [find] };
    for (let turn = 1; turn <= 5; turn += 1) {
      const called = { name: 'find', arguments: `{"q":${turn}}` };
      door.play({ events: chatEvents({ call: { id: `call_${turn}`, function: called } }) });
      const message = await client.messages.stream(request).finalMessage();
      expect(message.content).to.deep.equal([
        { type: 'tool_use', id: `call_${turn}`, name: 'find', input: { q: turn } },
      ]);
      expect([message.stop_reason, message.model]).to.deep.equal(['tool_use', 'openai/gpt-4.1']);
      messages.push({ role: 'assistant', content: message.content });
      messages.push({
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: `call_${turn}`, content: `${turn}` }],
      });
    }
    door.play({ events: chatEvents({ text: 'Done.' }) });
    const message = await client.messages.stream(request).finalMessage();
    expect(message.content).to.deep.equal([{ type: 'text', text: 'Done.' }]);
    expect(message.usage).to.deep.include({ input_tokens: 12, cache_read_input_tokens: 4, output_tokens: 5 });
    const sent = door.received()[0]!.body['messages'] as { role: string; content: unknown }[];
    expect(sent.map(({ role }) => role)).to.deep.equal([
      'system',
      'user',
      ...Array.from({ length: 5 }, () => ['assistant', 'tool']).flat(),
    ]);
    expect(sent.at(-1)).to.deep.equal({ role: 'tool', tool_call_id: 'call_5', content: '5' });
  });

  it('streams the thinking of another vendor, and sends it back to it', async () => {
    const called = { id: 'call_1', function: { name: 'find', arguments: '{"q":1}' } };
    const request = { ...ask('deepseek/deepseek-reasoner'), tools: [find] };
    door.play({ events: chatEvents({ thought: ['Let me ', 'see.'], call: called }) });
    const pieces: string[] = [];
    const stream = client.messages.stream(request).on('thinking', (piece) => pieces.push(piece));
    const message = await stream.finalMessage();
    expect(pieces).to.deep.equal(['Let me ', 'see.']);
    expect(message.content.map(({ type }) => type)).to.deep.equal(['thinking', 'tool_use']);
    const [thinking] = message.content as [Anthropic.ThinkingBlock];
    expect([thinking.thinking, thinking.signature]).to.deep.equal(['Let me see.', '']);
    const result = { type: 'tool_result' as const, tool_use_id: 'call_1', content: '1' };
    const messages = [
      ...request.messages,
      { role: 'assistant' as const, content: message.content },
      { role: 'user' as const, content: [result] },
    ];
    door.play({ events: chatEvents({ text: 'Done.' }) });
    await client.messages.stream({ ...request, messages }).finalMessage();
    const sent = door.received()[0]!.body['messages'] as { reasoning_content?: string }[];
    expect(sent[1]?.reasoning_content).to.equal('Let me see.');
  });

  it('gets calls as the model wrote them, and no input that it did not write', async () => {
    const message = (args: string, finish_reason: string) => ({
      model: 'gpt-4.1',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'find', arguments: args } }],
          },
          finish_reason,
        },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    });
    const request = { ...ask('openai/gpt-4.1'), tools: [find] };
    door.play({ body: message('{"q":', 'tool_calls') });
    expect(String(await failureOf(client.messages.create(request)))).to.contain('call of find are not a JSON object');
    door.play({ body: message('{"q":', 'length') });
    const cut = await client.messages.create(request);
    expect([cut.stop_reason, cut.content]).to.deep.equal(['max_tokens', []]);
    door.play({ events: chatEvents({ call: { id: 'c', function: { name: 'find', arguments: '{"q":' } } }) });
    const { text } = await door.post('/messages', { ...request, stream: true });
    expect(text).to.contain('"partial_json":"{\\"q\\":"');
  });

  it('sends images', async () => {
    const source = { type: 'base64', media_type: 'image/png', data: png } as const;
    const messages = [{ role: 'user' as const, content: [{ type: 'image' as const, source }] }];
    door.play({ body: claudeMessage([{ type: 'text', text: 'A dot.' }]) });
    await client.messages.create({ ...hello, messages });
    expect(door.received()[0]?.body['messages']).to.deep.equal(messages);
    door.play({ events: chatEvents({ text: 'A dot.' }) });
    await client.messages.stream({ ...ask('openai/gpt-4.1'), messages }).finalMessage();
    expect(JSON.stringify(door.received()[0]?.body['messages'])).to.contain(`data:image/png;base64,${png}`);
  });

  for (const [status, type, of] of [
    [400, 'invalid_request_error', Anthropic.BadRequestError],
    [429, 'rate_limit_error', Anthropic.RateLimitError],
    [500, 'api_error', Anthropic.InternalServerError],
    [529, 'overloaded_error', Anthropic.InternalServerError],
  ] as const)
    it(`throws the error of its type where Claude answers ${status}`, async () => {
      door.play({ status, body: { type: 'error', error: { type, message: 'Its own sentence.' } } });
      // What is tried again takes longer than a stream waits to begin.
      for (const stream of status === 400 ? [false, true] : [false]) {
        const error = (await failureOf(client.messages.create({ ...hello, stream }))) as InstanceType<typeof of>;
        expect(error).to.be.instanceOf(of);
        const body = error.error as {
          error: { type: string; message: string; svc: { code: string } };
          request_id: string;
        };
        expect(body.error.type).to.equal(type);
        expect(body.error.message).to.contain('Its own sentence.');
        expect(body.error.svc.code).to.match(/^rest_svc_provider_/);
        expect(body.request_id).to.match(/^[\w-]{8,}$/);
      }
    });

  it('throws for a wrong key, a model that is not there and a request that is none', async () => {
    expect(await failureOf(door.client('wrong').messages.create(hello))).to.be.instanceOf(
      Anthropic.AuthenticationError,
    );
    expect(await failureOf(client.messages.create(ask('nope/x')))).to.be.instanceOf(Anthropic.NotFoundError);
    expect(await failureOf(client.messages.create({ ...hello, messages: [] }))).to.be.instanceOf(
      Anthropic.BadRequestError,
    );
    const elsewhere = await failureOf(client.models.list());
    expect(elsewhere).to.be.instanceOf(Anthropic.NotFoundError);
    expect((elsewhere as { error: object }).error).to.have.property('type', 'error');
  });

  it('throws for an error after a stream began', async () => {
    const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    door.play({ events: [...claudeEvents([{ type: 'text', text: 'Hel' }]).slice(0, 3), overloaded] });
    const texts: string[] = [];
    const stream = client.messages.stream(hello).on('text', (text) => texts.push(text));
    expect(String(await failureOf(stream.finalMessage()))).to.contain('Overloaded');
    expect(texts).to.deep.equal(['Hel']);
  });

  it('aborts the call of the vendor', async () => {
    door.play({ events: claudeEvents([{ type: 'text', text: 'Hel' }]).slice(0, 3), isCut: true });
    const stream = client.messages.stream(hello);
    stream.on('text', () => stream.abort());
    expect(await failureOf(stream.finalMessage())).to.be.instanceOf(Anthropic.APIUserAbortError);
  });

  it('counts tokens: Claude itself, others by an estimate', async () => {
    door.play({ body: { input_tokens: 123 } });
    const { max_tokens: _max, ...counted } = hello;
    expect(await client.messages.countTokens({ ...counted, tools: [find] })).to.deep.equal({ input_tokens: 123 });
    expect(door.received().map(({ path, body }) => [path, body['model'], body['tools']])).to.deep.equal([
      ['/v1/messages/count_tokens', 'claude-sonnet-4-5', [find]],
    ]);
    door.play();
    const few = await client.messages.countTokens({ ...counted, model: 'openai/gpt-4.1' });
    const more = await client.messages.countTokens({ ...counted, model: 'openai/gpt-4.1', tools: [find] });
    expect(few.input_tokens).to.be.within(4, 20);
    expect(more.input_tokens).to.be.above(few.input_tokens);
    expect(door.received()).to.deep.equal([]);
  });
});
