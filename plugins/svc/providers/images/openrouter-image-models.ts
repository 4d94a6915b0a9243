import type { ImageModelTable, ImageRules } from './image-rules.ts';

const sizes = {
  shapeName: 'aspect_ratio',
  shapes: ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'],
};
const largeSizes = { ...sizes, tiers: { name: 'image_size', edges: { '1K': 1024, '2K': 2048, '4K': 4096 } } };
const shaped: ImageRules = { perCall: 1, size: sizes, quality: {}, style: false, responseFormat: false };

/** Image models of OpenRouter: all support aspect ratios, Gemini 3 and later also resolution tiers. */
export const openRouterImageModels: ImageModelTable = {
  models: [
    [/^gemini-2/, shaped],
    [/^gemini/, { ...shaped, size: largeSizes }],
  ],
  others: shaped,
};

/** Models with text output require both modalities; image-only models refuse `text`. */
export function openRouterModalities(model: string): readonly string[] {
  return /^(google|openai|openrouter)\//i.test(model) ? ['image', 'text'] : ['image'];
}
