import { expect } from 'chai';
import { startSentDoor, type Format, type Members, type SentDoor } from './sent-door.ts';

const schema = { type: 'object', properties: { model: { type: 'string' } }, models: ['x/y'], model: 'x/y' };
const large = { model: 'x/large' };
const advisor = { type: 'advisor_20260301', name: 'advisor', model: 'claude-opus-4-7' };

describe('a key that is limited to models', () => {
  let door: SentDoor;
  let key: string;
  let open: string;
  before(async () => {
    door = await startSentDoor();
    key = await door.createKey('--routes=openai,anthropic', '--models=cheap*,gpt-4.1,claude-haiku-4-5');
    open = await door.createKey('--routes=openai,anthropic');
  });
  after(() => door.stop());

  const named: readonly (readonly [Format, string, Members])[] = [
    ['chat', 'x/large', { models: ['cheap', 'x/large'], type: 'function' }],
    ['chat', 'x/large', { models: [['x/large']] }],
    ['chat', 'x/large', { plugins: [{ type: 'function', analysis_models: ['x/large'] }] }],
    ['chat', 'x/large', { tools: [{ type: 'openrouter:advisor', function: { parameters: large } }] }],
    ['chat', 'x/large', { tools: [{ type: 'function', function: { name: 'f', parameters: {} }, ...large }] }],
    ['chat', 'x/large', { messages: [{ role: 'user', content: 'Hi', ...large }] }],
    ['chat', 'x/large', { fallbacks: ['x/large'] }],
    ['chat', 'x/large', { 'tools[function].function.parameters': large }],
    ['messages', 'claude-opus-4-7', { tools: [{ ...advisor, input_schema: schema }] }],
    ['messages', 'claude-opus-4-7', { tools: [{ ...advisor, type: 'function' }] }],
    ['messages', 'default', { fallbacks: 'default' }],
    ['messages', 'x/large', { type: 'tool_use', input: large }],
    ['responses', 'gpt-image-2', { tools: [{ type: 'image_generation', model: 'gpt-image-2' }] }],
    ['responses', 'gpt-image-2', { input: [{ type: 'tool_search_output', tools: [{ model: 'gpt-image-2' }] }] }],
    ['responses', 'x/large', { type: 'function', parameters: large }],
    ['responses', 'x/large', { moderation: large }],
  ];
  for (const [format, model, body] of named)
    it(`cannot name another one in ${format}: ${JSON.stringify(body).slice(0, 90)}`, async () => {
      const calls = door.received.length;
      const { status, code, message } = await door.ask(format, body, key);
      expect([status, code], message).to.deep.equal([403, 'rest_svc_key_out_of_scope']);
      expect(message).to.contain(`the model ${model}`);
      expect(door.received.length).to.equal(calls);
      expect((await door.ask(format, body)).status).to.equal(200);
    });

  const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}', parsed_arguments: large } };
  const use = { type: 'tool_use', id: 't1', name: 'f', input: large };
  const result = { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'Done.', ...large }] };
  const own: readonly (readonly [Format, Members])[] = [
    ['chat', { models: ['cheap-2'], plugins: [{ id: 'fusion', model: 'cheap-3' }], metadata: large }],
    ['chat', { tools: [{ type: 'function', function: { name: 'f', parameters: schema } }] }],
    ['chat', { functions: [{ name: 'f', parameters: schema }] }],
    ['chat', { response_format: { type: 'json_schema', json_schema: { name: 'a', schema } } }],
    [
      'chat',
      {
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', tool_calls: [call] },
          { role: 'tool', tool_call_id: 'c1', content: 'Done.' },
        ],
      },
    ],
    ['messages', { tools: [{ name: 'f', input_schema: schema, input_examples: [large] }] }],
    ['messages', { output_config: { format: { type: 'json_schema', schema } } }],
    [
      'messages',
      {
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: [use] },
          { role: 'user', content: [result] },
        ],
      },
    ],
    ['responses', { tools: [{ type: 'function', name: 'f', parameters: schema, strict: null }] }],
    ['responses', { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function', parameters: schema }] }] }],
    ['responses', { text: { format: { type: 'json_schema', name: 'a', schema } } }],
    ['responses', { input: [{ type: 'function_call_output', call_id: 'c', output: [large] }] }],
  ];
  for (const [format, body] of own)
    it(`may have a model in its own data in ${format}: ${JSON.stringify(body).slice(0, 90)}`, async () => {
      const { status, message } = await door.ask(format, body, key);
      expect(status, message).to.equal(200);
    });

  it('cannot use what stores a model of its own at the vendor, by the name of the member', async () => {
    const some = await door.createKey('--routes=openai', '--providers=openai,openrouter');
    for (const [format, param, body] of [
      ['chat', 'preset', { preset: 'mine' }],
      ['chat', 'model', { model: 'openrouter/cheap@preset/mine' }],
      ['chat', 'models', { models: ['cheap@preset/mine'] }],
      ['responses', 'prompt', { prompt: { id: 'pmpt_1' } }],
    ] as const) {
      for (const one of [key, some]) {
        const { status, code, ...rest } = await door.ask(format, body, one);
        expect([status, code, rest.param], rest.message).to.deep.equal([403, 'rest_svc_key_stored_models', param]);
        expect(rest.message).to.contain(`what ${param} names`);
      }
      expect((await door.ask(format, { ...body }, open)).status).to.equal(200);
    }
  });
});
