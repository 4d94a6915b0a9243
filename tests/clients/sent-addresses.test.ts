import { expect } from 'chai';
import { createProviderRegistry } from '../../plugins/svc/providers/registry.ts';
import { startSentDoor, type Format, type Members, type SentDoor } from './sent-door.ts';

const metadata = 'http://169.254.169.254/latest/meta-data';
const user = (...content: readonly Members[]) => [{ role: 'user', content }];
const image = { type: 'image', source: { type: 'url', url: metadata } };
const result = { type: 'tool_result', tool_use_id: 't1', content: [image] };

/** Requests by the path of what they name by address. */
const images: readonly (readonly [Format, string, Members])[] = [
  [
    'chat',
    'messages[0].content[0].image_url.url',
    { messages: user({ type: 'image_url', image_url: { url: metadata } }) },
  ],
  [
    'chat',
    'messages[0].content[0].image_url.url',
    { messages: user({ type: 'image_url', image_url: { url: metadata } }), seed_of_mine: 1 },
  ],
  ['messages', 'messages[0].content[0].source.url', { messages: user(image) }],
  ['messages', 'messages[0].content[0].content[0].source.url', { messages: user(result) }],
  ['responses', 'input[0].content[0].image_url', { input: user({ type: 'input_image', image_url: metadata }) }],
  [
    'responses',
    'input[0].output[0].image_url',
    {
      input: [{ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_image', image_url: metadata }] }],
    },
  ],
];
const files: readonly (readonly [Format, string, Members])[] = [
  [
    'chat',
    'messages[0].content[0].file.file_data',
    { messages: user({ type: 'file', file: { file_data: metadata } }) },
  ],
  ['messages', 'messages[0].content[0].source.url', { messages: user({ ...image, type: 'document' }) }],
  ['responses', 'input[0].content[0].file_url', { input: user({ type: 'input_file', file_url: metadata }) }],
];

describe('what a request names by address', () => {
  let door: SentDoor;
  before(async () => {
    door = await startSentDoor();
  });
  after(() => door.stop());
  const ask = (format: Format, body: Members) => {
    door.settings['openai'] = { api: format === 'responses' ? format : 'chat' };
    return door.ask(format, { ...(format === 'chat' && { model: 'openai/gpt-4.1' }), ...body });
  };

  for (const [format, path, body] of images)
    it(`is no address inside for a vendor’s server elsewhere: ${path} of ${format}`, async () => {
      const calls = door.received.length;
      const { status, message } = await ask(format, body);
      expect([status, message]).to.deep.equal([400, `${path} could not be fetched. The address is not public.`]);
      expect(door.received.length).to.equal(calls);
    });

  for (const [format, path, body] of files)
    it(`is no file for a vendor’s server elsewhere: ${path} of ${format}`, async () => {
      const calls = door.received.length;
      const { status, message } = await ask(format, body);
      expect(status).to.equal(400);
      expect(message).to.contain(`${path} must be the file itself`);
      expect(door.received.length).to.equal(calls);
    });

  it('is not counted there either', async () => {
    const response = await fetch(`${door.host.url}/wp-json/svc-anthropic/v1/messages/count_tokens`, {
      method: 'POST',
      headers: { 'x-api-key': await door.createKey('--routes=anthropic'), 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'claude/claude-haiku-4-5', messages: user(image) }),
    });
    expect(response.status).to.equal(400);
    expect(await response.text()).to.contain('The address is not public.');
  });

  it('is left to a vendor at its own address alone', async () => {
    const own: Readonly<Record<string, string>> = {
      openai: 'https://api.openai.com/v1',
      azure: 'https://example.openai.azure.com',
      openrouter: 'https://openrouter.ai/api/v1',
      claude: 'https://api.anthropic.com',
      xai: 'https://api.x.ai/v1',
    };
    for (const { id, text } of createProviderRegistry(door.host).all()) {
      const fetches = (base_url: string): boolean => text?.fetchesImages?.({ base_url }) === true;
      expect(fetches(own[id] ?? 'https://example.com'), id).to.equal(id in own);
      for (const other of ['http://10.0.0.1/v1', 'https://api.openai.com.example.com', 'https://example.com', 'x'])
        expect(fetches(other), `${id} ${other}`).to.equal(false);
    }
  });
});
