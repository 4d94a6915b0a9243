import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import { ownIds } from '../../plugins/svc/kit/stored-objects.ts';
import { startSentDoor, type Format, type Members, type SentDoor } from './sent-door.ts';

const { resolve } = createRequire(import.meta.url);

/** Names of members that end as ids do, by the vendor's package, which its maker generates from the description of the API. */
function describedIds(entry: string, file: string): string[] {
  const text = readFileSync(new URL(file, `file://${resolve(entry)}`), 'utf8');
  return [...new Set([...text.matchAll(/^ +(\w+_ids?)\??:/gm)].map(([, name = '']) => name))];
}

const descriptions: readonly (readonly [Format, string, string, number])[] = [
  ['chat', 'openai', 'resources/chat/completions/completions.d.ts', 2],
  ['responses', 'openai', 'resources/responses/responses.d.ts', 15],
  ['messages', '@anthropic-ai/sdk', 'resources/messages/messages.d.ts', 9],
  ['messages', '@anthropic-ai/sdk', 'resources/beta/messages/messages.d.ts', 9],
];

const say = (content: unknown) => ({ role: 'user', content });
const hello = say('Hello');
const asks = (content: unknown): Members => ({ messages: [say([content])] });
const inputs = (...input: readonly object[]): Members => ({ input });
const tool = (one: object): Members => ({ tools: [one] });
const file = { type: 'file', file_id: 'file_1' };
const mcp = { type: 'mcp', server_label: 'mail' };

const stored: readonly (readonly [Format, string, Members])[] = [
  ['chat', 'messages[0].content[0].file.file_id', asks({ type: 'file', file: { file_id: 'file-1' } })],
  ['chat', 'messages[1].audio.id', { messages: [hello, { role: 'assistant', audio: { id: 'audio_1' } }] }],
  ['chat', 'audio.voice.id', { audio: { voice: { id: 'voice_1' }, format: 'wav' } }],
  ['messages', 'messages[0].content[0].source.file_id', asks({ type: 'image', source: file })],
  ['messages', 'messages[0].content[0].source.file_id', asks({ type: 'document', source: file })],
  ['messages', 'messages[0].content[0].file_id', asks({ type: 'container_upload', file_id: 'file_1' })],
  [
    'messages',
    'messages[0].content[0].content[0].source.file_id',
    asks({ type: 'tool_result', tool_use_id: 't', content: [{ type: 'document', source: file }] }),
  ],
  [
    'messages',
    'messages[0].content[0].content.content.source.file_id',
    asks({ type: 'web_fetch_tool_result', tool_use_id: 't', content: { content: { type: 'document', source: file } } }),
  ],
  ['messages', 'container', { container: 'container_1' }],
  ['messages', 'container.id', { container: { id: 'container_1' } }],
  ['messages', 'container.skills[0].skill_id', { container: { skills: [{ type: 'custom', skill_id: 'skill_1' }] } }],
  ['messages', 'thread', { thread: { type: 'continue', previous_message_id: 'msg_1' } }],
  ['messages', 'diagnostics.previous_message_id', { diagnostics: { previous_message_id: 'msg_1' } }],
  ['responses', 'previous_response_id', { previous_response_id: 'resp_1' }],
  ['responses', 'conversation', { conversation: 'conv_1' }],
  ['responses', 'conversation', { conversation: { id: 'conv_1' } }],
  ['responses', 'input[0].content[0].file_id', inputs(say([{ type: 'input_file', file_id: 'file-1' }]))],
  ['responses', 'input[0].content[0].file_id', inputs(say([{ type: 'input_image', file_id: 'file-1' }]))],
  [
    'responses',
    'input[0].output[0].file_id',
    inputs({ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_file', file_id: 'file-1' }] }),
  ],
  [
    'responses',
    'input[0].output.file_id',
    inputs({ type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot', file_id: 'file-1' } }),
  ],
  ['responses', 'tools[0].vector_store_ids', tool({ type: 'file_search', vector_store_ids: ['vs_1'] })],
  ['responses', 'tools[0].container', tool({ type: 'code_interpreter', container: 'cntr_1' })],
  [
    'responses',
    'tools[0].container.file_ids',
    tool({ type: 'code_interpreter', container: { type: 'auto', file_ids: ['file-1'] } }),
  ],
  [
    'responses',
    'tools[0].environment.container_id',
    tool({ type: 'shell', environment: { type: 'container_reference', container_id: 'cntr_1' } }),
  ],
  [
    'responses',
    'tools[0].environment.skills[0].skill_id',
    tool({
      type: 'shell',
      environment: { type: 'container_auto', skills: [{ type: 'skill_reference', skill_id: 'skill_1' }] },
    }),
  ],
  [
    'responses',
    'tools[0].input_image_mask.file_id',
    tool({ type: 'image_generation', input_image_mask: { file_id: 'file-1' } }),
  ],
  ['responses', 'tools[0].connector_id', tool({ ...mcp, connector_id: 'connector_gmail' })],
  ['responses', 'tools[0].tunnel_id', tool({ ...mcp, tunnel_id: 'tunnel_1' })],
  ['responses', 'tools[0]', tool(mcp)],
  ['responses', 'input[0].tools[0]', inputs({ type: 'additional_tools', role: 'developer', tools: [mcp] })],
  ['responses', 'input[0]', inputs({ type: 'item_reference', id: 'msg_1' })],
  ['responses', 'input[1]', inputs(hello, { id: 'msg_1' })],
  ['responses', 'input[1]', inputs(hello, { type: 'image_generation_call', id: 'ig_1', result: null, size: 'auto' })],
  ['responses', 'input[1]', inputs(hello, { type: 'message', role: 'assistant', id: 'msg_1', status: 'completed' })],
  ...[
    ...['reasoning', 'compaction', 'file_search_call', 'web_search_call', 'code_interpreter_call', 'mcp_call'],
    ...['computer_call', 'shell_call', 'function_call', 'program', 'an_item_of_the_future'],
  ].map((type) => ['responses', 'input[1]', inputs(hello, { type, id: 'id_1', status: 'completed' })] as const),
];

const annotations = [
  { type: 'container_file_citation', container_id: 'cntr_1', file_id: 'cfile_1', filename: 'a.csv' },
  { type: 'file_citation', file_id: 'file-1', index: 0, filename: 'a.pdf' },
];
const text = { type: 'output_text', text: 'Hi.', annotations };
const output = { type: 'code_execution_output', file_id: 'file_1' };
const ownSchema = { type: 'object', properties: { file_id: { type: 'string' } }, file_id: 'x' };

/** What clients send back from answers, and what is the caller's own. */
const sent: readonly (readonly [string, Format, Members])[] = [
  [
    'items of an answer with their content',
    'responses',
    inputs(
      hello,
      { type: 'reasoning', id: 'rs_1', summary: [] },
      { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'gAAA' },
      { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [text] },
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'news' } },
      { type: 'file_search_call', id: 'fs_1', queries: ['a'], results: [{ file_id: 'file-1', text: 'A.' }] },
      { type: 'code_interpreter_call', id: 'ci_1', code: '1', container_id: 'cntr_1', outputs: null },
      { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'iVBORw0KGgo=' },
      { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{"file_id":"x"}' },
      { type: 'function_call_output', id: 'fco_1', call_id: 'c', output: '' },
      { type: 'mcp_list_tools', id: 'mcpl_1', server_label: 'm', tools: [{ name: 'f', input_schema: ownSchema }] },
      { type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAA' },
    ),
  ],
  [
    'tools that name nothing stored',
    'responses',
    {
      tools: [
        { type: 'function', name: 'f', parameters: ownSchema, strict: null },
        { type: 'code_interpreter', container: { type: 'auto', file_ids: [] } },
        { type: 'mcp', server_label: 'mine', server_url: 'https://mcp.example.com' },
      ],
      metadata: { file_id: 'x' },
      previous_response_id: null,
    },
  ],
  [
    'a conversation with calls of tools',
    'chat',
    {
      messages: [
        hello,
        { role: 'assistant', content: 'Hi.', audio: null, annotations: [{ type: 'file', file: { file_id: 'x' } }] },
        { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: 'c', content: 'Done.' },
      ],
      session_id: 'mine',
    },
  ],
  [
    'blocks of an answer',
    'messages',
    {
      messages: [
        hello,
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 't1', name: 'f', input: ownSchema },
            { type: 'server_tool_use', id: 's1', name: 'code_execution', input: { code: '1' } },
            {
              type: 'code_execution_tool_result',
              tool_use_id: 's1',
              content: { type: 'code_execution_result', content: [output] },
            },
            { type: 'text', text: 'Hi.', citations: [{ type: 'char_location', file_id: 'file_1' }] },
          ],
        },
        say([{ type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'Done.' }] }]),
      ],
      tools: [{ name: 'f', input_schema: ownSchema }],
      container: { skills: [{ type: 'anthropic', skill_id: 'xlsx' }] },
      metadata: { user_id: 'u' },
    },
  ],
];

describe('what is stored in the account of a vendor', () => {
  let door: SentDoor;
  let key: string;
  before(async () => {
    door = await startSentDoor();
    key = await door.createKey('--routes=openai,anthropic');
  });
  after(() => door.stop());

  async function expectRefused([format, param, body]: (typeof stored)[number]): Promise<void> {
    const calls = door.received.length;
    const { status, code, ...rest } = await door.ask(format, body, key);
    expect([status, code, rest.param], rest.message).to.deep.equal([403, 'rest_svc_key_stored_text', param]);
    expect(rest.message).to.contain(`cannot use ${param}: other keys may have stored what it names.`);
    expect(door.received.length).to.equal(calls);
  }

  for (const one of stored)
    it(`is for the REST key alone: ${one[1]} of ${one[0]}: ${JSON.stringify(one[2]).slice(0, 80)}`, async () => {
      await expectRefused(one);
      expect((await door.ask(one[0], one[2])).status).to.equal(200);
      expect(door.received.at(-1)).to.deep.include(one[2]);
    });

  for (const [format, entry, path, least] of descriptions)
    it(`is for the REST key alone by each id that ${path} describes`, async () => {
      const ids = describedIds(entry, path);
      expect(ids).to.have.length.of.at.least(least);
      for (const name of ids.filter((id) => !ownIds.includes(id)))
        await expectRefused([format, `x.${name}`, { x: { [name]: name.endsWith('s') ? ['1'] : '1' } }]);
    });

  for (const [what, format, body] of sent)
    it(`is not what a named key sends with ${what}`, async () => {
      const { status, message } = await door.ask(format, body, key);
      expect(status, message).to.equal(200);
      expect(door.received.at(-1)).to.deep.include(body);
    });

  it('is left out by a lenient key where its provider has another format, also before a failover', async () => {
    const lenient = await door.createKey('--routes=openai,anthropic', '--lenient');
    const body = inputs(
      say([
        { type: 'input_file', file_id: 'file-1' },
        { type: 'input_text', text: 'Hi' },
      ]),
    );
    const claude = { ...body, model: 'claude/claude-haiku-4-5' };
    const left = await door.ask('responses', claude, lenient);
    expect(left.status, left.message).to.equal(200);
    expect(JSON.stringify(door.received.at(-1))).not.to.contain('file-1');
    const { code } = await door.ask('responses', body, lenient);
    expect(code).to.equal('rest_svc_key_stored_text');
    const text = [{ provider: 'openai', model: 'gpt-4.1' }];
    await door.host.options.update('svc_failover', { enabled: true, rest: true, text, images: [], embeddings: [] });
    door.settings['claude'] = { base_url: 'http://127.0.0.1:9' };
    const calls = door.received.length;
    const failed = await door.ask('responses', claude, lenient);
    expect(failed.status, failed.message).to.be.at.least(400);
    expect(door.received.length).to.equal(calls);
    expect((await door.ask('responses', { ...claude, input: 'Hi' }, lenient)).status).to.equal(200);
  });
});
