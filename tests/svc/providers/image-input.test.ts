import { expect } from 'chai';
import { sendImages, setImagesApart } from '../../../plugins/svc/ai/large-images.ts';
import type { Provider, TextMessage } from '../../../plugins/svc/providers/provider.ts';
import { createProviderRegistry } from '../../../plugins/svc/providers/registry.ts';
import { createHooks } from '../../../host/hooks/hooks.ts';
import { answering, connectionTo, requestTo } from '../../conformance/exchange.ts';
import { fixturesOf, titleOf } from '../../conformance/upstream.ts';
import { upstreams } from '../../conformance/upstreams.ts';
import { useRecordedResponses } from '../../helpers/recorded-responses.ts';

const image = { bytes: Buffer.from('an image'), mimeType: 'image/png' };
const data = image.bytes.toString('base64');
const messages: readonly TextMessage[] = [
  { role: 'user', content: 'Hello.' },
  { role: 'assistant', content: 'Hi.' },
  { role: 'user', content: 'What is this?', images: [image, { ...image, mimeType: 'image/webp' }] },
  { role: 'user', content: '', images: [image] },
];

const part = (mimeType: string) => ({ type: 'image_url', image_url: { url: `data:${mimeType};base64,${data}` } });
const block = (type: string) => ({ type: 'image', source: { type: 'base64', media_type: type, data } });
const inline = (mimeType: string) => ({ inlineData: { mimeType, data } });
const chat = [
  { role: 'user', content: 'Hello.' },
  { role: 'assistant', content: 'Hi.' },
  { role: 'user', content: [part('image/png'), part('image/webp'), { type: 'text', text: 'What is this?' }] },
  { role: 'user', content: [part('image/png')] },
];
const claude = [
  ...chat.slice(0, 2),
  { role: 'user', content: [block('image/png'), block('image/webp'), { type: 'text', text: 'What is this?' }] },
  { role: 'user', content: [block('image/png')] },
];
const google = [
  { role: 'user', parts: [{ text: 'Hello.' }] },
  { role: 'model', parts: [{ text: 'Hi.' }] },
  { role: 'user', parts: [inline('image/png'), inline('image/webp'), { text: 'What is this?' }, inline('image/png')] },
];

const input = (mimeType: string) => ({
  type: 'input_image',
  image_url: part(mimeType).image_url.url,
  detail: 'auto',
});
const responses = [
  ...chat.slice(0, 2),
  {
    role: 'user',
    content: [input('image/png'), input('image/webp'), { type: 'input_text', text: 'What is this?' }],
  },
  { role: 'user', content: [input('image/png')] },
];
const sentAs: Readonly<Record<string, readonly [member: string, value: object]>> = {
  claude: ['messages', claude],
  google: ['contents', google],
  responses: ['input', responses],
};

describe('images in requests for text', () => {
  useRecordedResponses();
  let providers: ReadonlyMap<string, Provider>;
  before(async () => {
    const registry = createProviderRegistry({ hooks: createHooks() });
    providers = new Map(registry.all().map((provider) => [provider.id, provider]));
  });

  for (const upstream of upstreams)
    it(`are sent to ${titleOf(upstream)} before the text, as its specification says`, async () => {
      const sent = answering(upstream, { body: fixturesOf(upstream.id, upstream.format).answer });
      await providers.get(upstream.id)?.text?.generate(requestTo(upstream, { messages }), connectionTo(upstream));
      const [member, expected] = sentAs[upstream.format ?? upstream.id] ?? ['messages', chat];
      expect(sent.body[member]).to.deep.equal(expected);
      expect(upstream.valid(sent.body), JSON.stringify(upstream.valid.errors)).to.equal(true);
    });

  // Marks instead of images in what a client writes at once, and the images in what is sent.
  for (const upstream of upstreams)
    it(`are sent to ${titleOf(upstream)} apart from the JSON if they are large, byte for byte`, async () => {
      const bytes = Buffer.alloc(1_000_003, 'image, and ä');
      const base64 = Buffer.alloc(1_000_004, 'more').toString('base64');
      const images = [
        { bytes, mimeType: 'image/png' },
        { base64, mimeType: 'image/gif', bytes: Buffer.alloc(0) },
        image,
      ];
      const given = setImagesApart([{ role: 'user', content: 'ä\ud83e\udd14', images }]);
      expect(JSON.stringify(given.messages).length).to.be.below(2_000);
      const sent = answering(upstream, { body: fixturesOf(upstream.id, upstream.format).answer });
      const connection = sendImages(connectionTo(upstream), given.apart);
      await providers.get(upstream.id)?.text?.generate(requestTo(upstream, given), connection);
      const body = JSON.stringify(sent.body);
      expect(body).to.not.include('svcImage');
      for (const text of [bytes.toString('base64'), base64, data]) expect(body.includes(text)).to.equal(true);
      expect(upstream.valid(sent.body), JSON.stringify(upstream.valid.errors)).to.equal(true);
    });

  const models: Readonly<Record<string, { readonly sees: readonly string[]; readonly not: readonly string[] }>> = {
    openai: {
      sees: ['gpt-4o', 'gpt-4o-mini', 'gpt-4.1', 'gpt-5.6-terra', 'o1', 'o3', 'o4-mini', 'gpt-4-turbo', 'ft:gpt-4o:x'],
      not: [
        'gpt-4',
        'gpt-3.5-turbo',
        'o1-mini',
        'o3-mini',
        'gpt-4o-audio-preview',
        'text-embedding-3-small',
        'babbage',
      ],
    },
    azure: { sees: ['gpt-4o', 'eyes'], not: ['unknown-deployment', 'gpt-4'] },
    claude: { sees: ['claude-sonnet-5-5', 'claude-3-haiku-20240307'], not: ['claude-2.1', 'claude-instant-1.2'] },
    google: { sees: ['gemini-3.5-flash', 'models/gemini-1.5-pro', 'gemma-3-27b-it'], not: ['gemini-1.0-pro', 'aqa'] },
    xai: { sees: ['grok-4.5', 'grok-2-vision-1212', 'grok-latest'], not: ['grok-3-mini', 'grok-code-fast-1'] },
    deepseek: { sees: [], not: ['deepseek-flash', 'deepseek-reasoner'] },
    ollama: {
      sees: ['llava:13b', 'llama3.2-vision', 'gemma3:12b', 'qwen2.5vl:7b', 'qwen3-vl', 'minicpm-v', 'moondream'],
      not: ['llama3.2', 'gemma3:1b', 'gemma3n', 'mistral', 'qwen3'],
    },
    openrouter: {
      sees: ['openai/gpt-4o', 'anthropic/claude-sonnet-5', 'google/gemini-3.5-flash', 'x-ai/grok-4', 'openrouter/auto'],
      not: ['openai/o3-mini', 'anthropic/claude-2.1', 'deepseek/deepseek-chat', 'meta-llama/llama-3.1-8b-instruct'],
    },
  };
  for (const [id, { sees, not }] of Object.entries(models))
    it(`are for models of ${id} that read images`, () => {
      const settings = { deployments: ['eyes = gpt-5'] };
      const can = (model: string): boolean => providers.get(id)?.text?.sees?.(model, settings) === true;
      expect([sees.filter((model) => !can(model)), not.filter(can)]).to.deep.equal([[], []]);
    });
});
