import { expect } from 'chai';
import { startDoor, type Door } from './openai-door.ts';

const image =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const tool = {
  type: 'function',
  function: { name: 'find', strict: true, parameters: { type: 'object', properties: {} } },
};

describe('a lenient key at the OpenAI-compatible routes', () => {
  let door: Door;
  let lenient: { readonly id: number; readonly key: string; readonly lenient: boolean };
  let strict: string;
  const key = async (...argv: string[]) => {
    const { code, out, err } = await door.host.cli('svc', 'key', ...argv, '--json');
    if (code !== 0) throw new Error(err);
    return JSON.parse(out) as typeof lenient;
  };
  before(async () => {
    door = await startDoor();
    lenient = await key('create', '--name=Chat program', '--routes=openai', '--lenient');
    strict = (await key('create', '--name=Strict', '--routes=openai')).key;
  });
  after(() => door.host.stop());

  async function send(secret: string, path: string, body: object) {
    const response = await fetch(`${door.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const ignored = response.headers.get('x-svc-ignored-params')?.split(', ') ?? [];
    return { status: response.status, ignored, text: await response.text() };
  }

  const chat = {
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello', reasoning_content: 'x' },
      { role: 'user', content: [{ type: 'text', text: 'Again', cache_control: { type: 'ephemeral' } }] },
    ],
    seed: 7,
    top_k: 4,
    frequency_penalty: 0.5,
    logprobs: true,
    verbosity: 'high',
    parallel_tool_calls: false,
    tools: [tool],
  };
  const unknown = ['logprobs', 'verbosity', 'messages[2].content[0].cache_control'];
  for (const [model, lacks, others] of [
    ['google/gemini-2.5-flash', ['tools.strict', 'parallel_tool_calls', 'messages.reasoning'], 400],
    ['claude/claude-sonnet-5-5', ['seed', 'frequency_penalty', 'messages.reasoning'], 400],
    // What is sent in the format of the vendor, it judges itself.
    ['deepseek/deepseek-chat', ['seed', 'top_k', 'tools.strict'], 200],
    ['openai/gpt-5.6-terra', ['top_k', 'frequency_penalty', 'messages.reasoning'], 200],
  ] as const)
    it(`leaves out what ${model} lacks, and names it; another key gets ${String(others)}`, async () => {
      const { status, ignored, text } = await send(lenient.key, '/chat/completions', { model, ...chat });
      expect(status, text).to.equal(200);
      expect(ignored).to.include.members([...unknown, ...lacks]);
      expect((await send(strict, '/chat/completions', { model, ...chat })).status).to.equal(others);
    });

  it('names it in the last event of a stream', async () => {
    const { text } = await send(lenient.key, '/chat/completions', {
      model: 'google/gemini-2.5-flash',
      ...chat,
      stream: true,
    });
    expect(text).to.match(/"ignored_params":\[[^\]]*"tools\.strict"/);
    expect(text).to.contain('"messages.reasoning"');
  });

  it('leaves out unknown members of other routes', async () => {
    for (const [path, body] of [
      ['/embeddings', { model: 'openai/text-embedding-3-small', input: 'a', nonsense: 1 }],
      ['/images/generations', { model: 'openai/gpt-image-1', prompt: 'A lighthouse', style: 'vivid', nonsense: 1 }],
    ] as const) {
      const { status, ignored, text } = await send(lenient.key, path, body);
      expect(status, text).to.equal(200);
      expect(ignored).to.include('nonsense');
      expect((await send(strict, path, body)).status, path).to.equal(400);
    }
  });

  it('still gets a 400 for what changes the text', async () => {
    for (const body of [
      {
        model: 'openai/gpt-3.5-turbo',
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: image } }] }],
      },
      { model: 'google/gemini-2.5-flash', messages: [{ role: 'user', content: 7 }] },
      { model: 'google/gemini-2.5-flash', messages: chat.messages, n: 2 },
    ])
      expect((await send(lenient.key, '/chat/completions', body)).status).to.equal(400);
  });

  it('is a setting that changes of others leave alone', async () => {
    expect(lenient.lenient).to.equal(true);
    expect((await key('update', String(lenient.id), '--expires=2040-01-31')).lenient).to.equal(true);
    expect((await key('create', '--name=Other', '--routes=openai')).lenient).to.equal(false);
  });
});
