import { fixturesOf, type JsonBody } from './upstream.ts';
import { schemaOf, type GivenImage, type ImageUpstream } from './image-upstream.ts';

export const imageKey = 'test-key-0123456789';

const openAiError = fixturesOf('openai').error;
const openAiUsage = {
  input_tokens: 9,
  output_tokens: 272,
  total_tokens: 281,
  input_tokens_details: { text_tokens: 9, image_tokens: 0 },
};

const openAiAnswer = (images: readonly GivenImage[], more: JsonBody = {}): JsonBody => ({
  created: 1767225600,
  data: images.map(({ b64, url, revised }) => ({
    ...(b64 !== undefined && { b64_json: b64 }),
    ...(url !== undefined && { url }),
    ...(revised !== undefined && { revised_prompt: revised }),
  })),
  ...more,
});

type OpenAiFacts = Pick<
  ImageUpstream,
  'id' | 'title' | 'label' | 'settings' | 'origin' | 'model' | 'path' | 'perCall' | 'wire'
> &
  Partial<ImageUpstream>;

/** What all that speak OpenAI's `images/generations` share. */
function openAiLike(facts: OpenAiFacts): ImageUpstream {
  return {
    key: ['authorization', `Bearer ${imageKey}`],
    gives: { url: true, b64: true, revised: true },
    bare: (prompt, n) => ({ model: facts.model, prompt, n }),
    formOf: ({ response_format }) => response_format,
    answer: (images) => openAiAnswer(images),
    usage: null,
    withheld: [],
    error: openAiError,
    valid: schemaOf('openai-images', 'CreateImageRequest'),
    ...facts,
  };
}

const dallE3 = { size: { size: '1792x1024' }, quality: { quality: 'hd' }, style: { style: 'natural' } };
const gptImage = { size: { size: '1792x1024' }, quality: { quality: 'high' }, style: null };

/** The GPT image models: base64 alone, with usage. */
const gptImageFacts: Partial<ImageUpstream> = {
  gives: { url: false, b64: true, revised: false },
  answer: (images) =>
    openAiAnswer(images, { output_format: 'png', quality: 'high', size: '1024x1024', usage: openAiUsage }),
  usage: openAiUsage,
};

const openAi = {
  id: 'openai',
  label: 'OpenAI',
  settings: { api_key: imageKey, base_url: 'https://api.openai.com/v1' },
  origin: 'https://api.openai.com',
  path: '/v1/images/generations',
} as const;
const azure = {
  id: 'azure',
  label: 'Azure',
  origin: 'https://example.openai.azure.com',
  error: fixturesOf('azure').error,
} as const;
const azureSettings = {
  api_key: imageKey,
  base_url: 'https://example.openai.azure.com',
  deployments: ['drawings = gpt-image-1'],
};

const google = {
  id: 'google',
  label: 'Google',
  settings: { api_key: imageKey, base_url: 'https://generativelanguage.googleapis.com' },
  origin: 'https://generativelanguage.googleapis.com',
  key: ['x-goog-api-key', imageKey],
  gives: { url: false, b64: true, revised: false },
  formOf: () => undefined,
  error: fixturesOf('google').error,
} as const;

function gemini(model: string, wire: ImageUpstream['wire']): ImageUpstream {
  const stopped = (finishReason: string, parts: readonly JsonBody[] = []): JsonBody => ({
    candidates: [{ content: { role: 'model', parts }, finishReason, index: 0 }],
    modelVersion: model,
  });
  return {
    ...google,
    title: `Google (${model})`,
    model,
    path: `/v1beta/models/${model}:generateContent`,
    perCall: 1,
    bare: (prompt) => ({
      contents: [{ role: 'user', parts: [{ text: prompt }] }],
      generationConfig: { responseModalities: ['IMAGE'] },
    }),
    wire,
    answer: (images) => ({
      candidates: [
        {
          content: {
            role: 'model',
            parts: [
              { text: 'Let me think.', thought: true },
              ...images.map(({ b64 }) => ({ inlineData: { mimeType: 'image/png', data: b64 } })),
            ],
          },
          finishReason: 'STOP',
          index: 0,
        },
      ],
      usageMetadata: { promptTokenCount: 6, candidatesTokenCount: 1290, thoughtsTokenCount: 4, totalTokenCount: 1300 },
      modelVersion: `${model}-001`,
    }),
    usage: { input_tokens: 6, output_tokens: 1294, total_tokens: 1300 },
    answeredBy: `${model}-001`,
    withheld: [
      [stopped('IMAGE_SAFETY'), 'IMAGE_SAFETY'],
      [stopped('NO_IMAGE'), 'NO_IMAGE'],
      [stopped('STOP', [{ text: 'I would rather write a poem.' }]), 'I would rather write a poem.'],
      [{ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }, 'PROHIBITED_CONTENT'],
    ],
    valid: schemaOf('gemini-requests', 'GenerateContentRequest', ['model']),
  };
}

const withImageConfig = (imageConfig: JsonBody): JsonBody => ({
  generationConfig: { responseModalities: ['IMAGE'], imageConfig },
});

export const imageUpstreams: readonly ImageUpstream[] = [
  openAiLike({ ...openAi, title: 'OpenAI (dall-e-3)', model: 'dall-e-3', perCall: 1, wire: dallE3 }),
  openAiLike({
    ...openAi,
    title: 'OpenAI (dall-e-2)',
    model: 'dall-e-2',
    perCall: 10,
    wire: { size: dallE3.size, quality: null, style: null },
    gives: { url: true, b64: true, revised: false },
  }),
  openAiLike({
    ...openAi,
    title: 'OpenAI (gpt-image-1)',
    model: 'gpt-image-1',
    perCall: 10,
    wire: gptImage,
    ...gptImageFacts,
  }),
  openAiLike({
    ...openAi,
    title: 'OpenAI (a model nobody knows)',
    model: 'draw-9',
    perCall: 1,
    wire: { size: dallE3.size, quality: null, style: null },
    gives: { url: false, b64: true, revised: true },
  }),
  openAiLike({
    ...azure,
    title: 'Azure (v1)',
    settings: { ...azureSettings, api_version: 'v1' },
    model: 'drawings',
    path: '/openai/v1/images/generations',
    perCall: 10,
    wire: gptImage,
    ...gptImageFacts,
  }),
  openAiLike({
    ...azure,
    title: 'Azure (2024-10-21)',
    settings: { ...azureSettings, api_version: '2024-10-21' },
    model: 'Dalle3',
    path: '/openai/deployments/Dalle3/images/generations?api-version=2024-10-21',
    key: ['api-key', imageKey],
    perCall: 1,
    wire: dallE3,
  }),
  gemini('gemini-3.1-flash-image', {
    size: withImageConfig({ aspectRatio: '16:9', imageSize: '1K' }),
    quality: null,
    style: null,
  }),
  gemini('gemini-2.5-flash-image', { size: withImageConfig({ aspectRatio: '16:9' }), quality: null, style: null }),
  {
    ...google,
    title: 'Google (imagen-4.0-generate-001)',
    model: 'imagen-4.0-generate-001',
    path: '/v1beta/models/imagen-4.0-generate-001:predict',
    perCall: 4,
    gives: { url: false, b64: true, revised: true },
    bare: (prompt, n) => ({ instances: [{ prompt }], parameters: { sampleCount: n } }),
    wire: {
      size: { parameters: { sampleCount: 1, aspectRatio: '16:9', sampleImageSize: '1K' } },
      quality: null,
      style: null,
    },
    answer: (images) => ({
      predictions: images.map(({ b64, revised }) => ({
        mimeType: 'image/png',
        bytesBase64Encoded: b64,
        ...(revised !== undefined && { prompt: revised }),
      })),
    }),
    usage: null,
    withheld: [
      [{ predictions: [{ raiFilteredReason: 'Filtered: violence (code 1).' }] }, 'Filtered: violence (code 1).'],
      [{}, 'its filters withheld every image'],
    ],
    valid: schemaOf('gemini-images', 'PredictRequest'),
  },
  openAiLike({
    id: 'xai',
    label: 'xAI',
    title: 'xAI (grok-imagine-image)',
    settings: { api_key: imageKey, base_url: 'https://api.x.ai/v1' },
    origin: 'https://api.x.ai',
    path: '/v1/images/generations',
    model: 'grok-imagine-image',
    perCall: 10,
    wire: { size: { aspect_ratio: '16:9', resolution: '1k' }, quality: { quality: 'high' }, style: null },
    error: fixturesOf('xai').error,
    answer: (images) => openAiAnswer(images, { usage: { cost_in_usd_ticks: 200000000 } }),
    usage: { cost_in_usd_ticks: 200000000 },
  }),
  openAiLike({
    id: 'xai',
    label: 'xAI',
    title: 'xAI (grok-2-image)',
    settings: { api_key: imageKey, base_url: 'https://api.x.ai/v1' },
    origin: 'https://api.x.ai',
    path: '/v1/images/generations',
    model: 'grok-2-image-1212',
    perCall: 10,
    wire: { size: null, quality: null, style: null },
    error: fixturesOf('xai').error,
  }),
  {
    id: 'openrouter',
    title: 'OpenRouter',
    label: 'OpenRouter',
    settings: { api_key: imageKey, base_url: 'https://openrouter.ai/api/v1' },
    origin: 'https://openrouter.ai',
    model: 'google/gemini-3.1-flash-image',
    path: '/api/v1/chat/completions',
    key: ['authorization', `Bearer ${imageKey}`],
    perCall: 1,
    gives: { url: false, b64: true, revised: false },
    bare: (prompt) => ({
      model: 'google/gemini-3.1-flash-image',
      messages: [{ role: 'user', content: prompt }],
      modalities: ['image', 'text'],
    }),
    wire: { size: { image_config: { aspect_ratio: '16:9', image_size: '1K' } }, quality: null, style: null },
    formOf: () => undefined,
    answer: (images) => ({
      id: 'gen-1',
      object: 'chat.completion',
      created: 1767225600,
      model: 'google/gemini-3.1-flash-image',
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          message: {
            role: 'assistant',
            content: '',
            images: images.map(({ b64 }) => ({
              type: 'image_url',
              image_url: { url: `data:image/png;base64,${String(b64)}` },
            })),
          },
        },
      ],
      usage: { prompt_tokens: 6, completion_tokens: 1290, total_tokens: 1296 },
    }),
    usage: { input_tokens: 6, output_tokens: 1290, total_tokens: 1296 },
    withheld: [
      [
        {
          choices: [
            {
              index: 0,
              finish_reason: 'stop',
              message: { role: 'assistant', content: 'I would rather write a poem.' },
            },
          ],
        },
        'I would rather write a poem.',
      ],
      [
        { choices: [{ index: 0, finish_reason: 'content_filter', message: { role: 'assistant', content: '' } }] },
        'content_filter',
      ],
      [{ error: { code: 400, message: 'Refused behind the scenes.' } }, 'Refused behind the scenes.'],
    ],
    error: fixturesOf('openrouter').error,
    valid: schemaOf('openai-requests', 'CreateChatCompletionRequest'),
    additions: ['modalities', 'image_config'],
  },
];
