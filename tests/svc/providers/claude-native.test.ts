import { expect } from 'chai';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSystemClock } from '../../../host/clock.ts';
import { provider as claude } from '../../../plugins/svc/providers/claude.provider.ts';
import type { ProviderConnection, TextRequest } from '../../../plugins/svc/providers/provider.ts';
import { silentLog } from '../../helpers/silent-log.ts';
import { openUpstreamFetch } from '../../helpers/upstream-http.ts';

type Json = Readonly<Record<string, unknown>>;

const thinking = { type: 'thinking', thinking: 'Let me see.', signature: 'c2ln' };
const redacted = { type: 'redacted_thinking', data: 'aGlkZGVu' };
const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'otters' } };
const answer = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [thinking, redacted, search, { type: 'text', text: 'Hello.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 5, output_tokens: 9 },
};
const events: readonly Json[] = [
  { type: 'message_start', message: { ...answer, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Let me ' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'see.' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2ln' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: redacted },
  { type: 'content_block_stop', index: 1 },
  { type: 'ping' },
  { type: 'content_block_start', index: 2, content_block: search },
  { type: 'content_block_stop', index: 2 },
  { type: 'content_block_start', index: 3, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 3, delta: { type: 'text_delta', text: 'Hello.' } },
  { type: 'content_block_stop', index: 3 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
];
const reasoning = [
  { text: 'Let me see.', item: thinking, format: 'messages' },
  { text: '', item: redacted, format: 'messages' },
];

describe('Claude', () => {
  const pool = openUpstreamFetch();
  let server: Server;
  let received: { readonly body: Json; readonly headers: IncomingHttpHeaders };
  let whole: Json = answer;
  before(async () => {
    server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const body = JSON.parse(Buffer.concat(parts).toString()) as Json;
        received = { body, headers: request.headers };
        if (body['stream'] !== true)
          return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole));
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(events.map((event) => `event: ${event['type']}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  beforeEach(() => {
    whole = answer;
  });
  after(async () => {
    await pool.close();
    server.close();
    server.closeAllConnections();
  });

  const connection = (members: Partial<ProviderConnection> = {}): ProviderConnection => ({
    settings: { api_key: 'test-key', base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    fetch: pool.fetch,
    clock: createSystemClock(),
    log: silentLog,
    timeout: 10_000,
    ...members,
  });
  const plain: TextRequest = {
    model: 'claude-sonnet-4-5',
    system: null,
    messages: [{ role: 'user', content: 'Hi' }],
    params: {},
  };
  const sent: Json = {
    model: 'claude/claude-sonnet-4-5',
    max_tokens: 2_000,
    temperature: 0.5,
    thinking: { type: 'adaptive' },
    output_config: { effort: 'low', format: { type: 'json_schema', schema: {} } },
    messages: [
      { role: 'assistant', content: [thinking] },
      { role: 'system', content: 'Now.' },
    ],
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
    unknown: [{ member: null }],
  };
  const native: TextRequest = {
    ...plain,
    params: { max_completion_tokens: 2_000, temperature: 0.5, reasoning_effort: 'low' },
    native: {
      format: 'messages',
      body: sent,
      given: ['max_completion_tokens', 'temperature', 'reasoning_effort'],
      headers: { 'anthropic-beta': 'mcp-client-2025-11-20' },
    },
  };

  it('gets a request in its own format as it was sent, but for the name of the model', async () => {
    const result = await claude.text!.generate(native, connection());
    expect(received.body).to.deep.equal({ ...sent, model: 'claude-sonnet-4-5' });
    expect(received.headers['anthropic-beta']).to.equal('mcp-client-2025-11-20');
    expect(result.native).to.deep.equal(answer);
    expect([result.content, result.ignored]).to.deep.equal(['Hello.', []]);
  });

  it('gets it without the parameters that the model refused', async () => {
    await claude.text!.generate({ ...native, params: { max_completion_tokens: 2_000 } }, connection());
    const { temperature: _temperature, thinking: _thinking, ...rest } = sent;
    expect(received.body).to.deep.equal({
      ...rest,
      model: 'claude-sonnet-4-5',
      output_config: { format: { type: 'json_schema', schema: {} } },
    });
  });

  it('is not judged where it answers in its own format', async () => {
    for (const members of [
      { content: [], stop_reason: 'end_turn' },
      { content: [search], stop_reason: 'pause_turn' },
    ]) {
      whole = { ...answer, ...members };
      expect((await claude.text!.generate(native, connection())).native).to.deep.equal(whole);
    }
    whole = { ...answer, stop_reason: 'pause_turn' };
    expect((await claude.text!.generate(plain, connection())).content).to.equal('Hello.');
  });

  it('returns what it thought, and gets it back before the text and the calls', async () => {
    const result = await claude.text!.generate(plain, connection());
    expect(result.reasoning).to.deep.equal(reasoning);
    expect(result).not.to.have.property('native');
    const call = { id: 'toolu_1', name: 'find', arguments: '{"q":1}' };
    const other = { text: 'Of another vendor.', item: { id: 'rs_1' }, format: 'responses' as const };
    await claude.text!.generate(
      {
        ...plain,
        messages: [
          ...plain.messages,
          { role: 'assistant', content: '', toolCalls: [call], reasoning: [other, ...result.reasoning!] },
          { role: 'tool', content: '1', toolCallId: 'toolu_1' },
        ],
      },
      connection(),
    );
    expect((received.body['messages'] as Json[])[1]).to.deep.equal({
      role: 'assistant',
      content: [thinking, redacted, { type: 'tool_use', id: 'toolu_1', name: 'find', input: { q: 1 } }],
    });
  });

  it('streams what it thought in pieces, then each block whole', async () => {
    const pieces: unknown[] = [];
    const texts: string[] = [];
    const result = await claude.text!.stream!(
      plain,
      connection({ onReasoning: (piece) => pieces.push(piece) }),
      (text) => texts.push(text),
    );
    expect(pieces).to.deep.equal([
      { text: 'Let me ' },
      { text: 'see.' },
      { text: '', item: thinking, format: 'messages' },
      { text: '', item: redacted, format: 'messages' },
    ]);
    expect([result.reasoning, texts]).to.deep.equal([reasoning, ['Hello.']]);
  });

  it('streams the events of its content to a request in its own format', async () => {
    const passed: Json[] = [];
    const result = await claude.text!.stream!(native, connection({ onEvent: (event) => passed.push(event) }), () => {});
    expect(received.body['stream']).to.equal(true);
    expect(passed).to.deep.equal(events.filter(({ type }) => /^(message_start|content_)/.test(String(type))));
    expect(result.native).to.deep.include({ id: 'msg_1', stop_reason: 'end_turn', usage: answer.usage });
    passed.length = 0;
    await claude.text!.stream!(plain, connection({ onEvent: (event) => passed.push(event) }), () => {});
    expect(passed).to.deep.equal([]);
  });
});
