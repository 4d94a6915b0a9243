import { lazyMethods } from '../kit/lazy.ts';
import {
  geminiVersion,
  googleAddress,
  googleEmbeddingFields,
  googleImageModels,
  googleRules,
  googleSupports,
  googleVideoChoices,
} from './google/google-models.ts';
import { findImageRules, imagesOf } from './images/image-rules.ts';
import type { Provider } from './provider.ts';
import { providerFields } from './settings-fields.ts';
import { createTextCapability } from './unsupported-params.ts';

const { listModels, ...calls } = lazyMethods(
  () => import('./google/google-text.ts'),
  ['generate', 'stream', 'listModels'],
);

/** Google's generateContent (D9), using the package `@google/genai`. */
export const provider: Provider = {
  id: 'google',
  label: 'Google',
  load: () => Promise.all([import('@google/genai'), import('./google/google-text.ts')]),
  required: ['api_key'],
  settings: {
    type: 'object',
    properties: providerFields({
      key: 'From aistudio.google.com, under API keys.',
      address: googleAddress,
      addressHelp: 'Without a version.',
      models: {
        model: 'gemini-3.5-flash',
        embedding_model: 'gemini-embedding-001',
        image_model: 'gemini-3.1-flash-image',
        video_model: 'veo-3.1-generate-preview',
      },
    }),
  },
  text: createTextCapability({
    rules: googleRules,
    // Gemini since 1.5 and Gemma since 3.
    sees: (model) => (geminiVersion(model) ?? 0) >= 1.5 || /gemini-(flash|pro)|gemma-([3-9]|\d\d)/i.test(model),
    supports: googleSupports,
    ...calls,
  }),
  images: imagesOf((model) => findImageRules(googleImageModels, model), {
    ...lazyMethods(() => import('./google/google-images.ts'), ['generate', 'edit']),
  }),
  // batchEmbedContents refuses more: "at most 100 requests can be in one batch". Google documents no limit on tokens.
  embeddings: {
    limits: { inputs: 100 },
    takes: () => googleEmbeddingFields,
    ...lazyMethods(() => import('./google/google-embeddings.ts'), ['embed']),
  },
  videos: {
    takes: googleVideoChoices,
    ...lazyMethods(() => import('./google/google-videos.ts'), ['start', 'check']),
  },
  listModels,
};
