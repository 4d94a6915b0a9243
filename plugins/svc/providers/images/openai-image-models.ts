import { lazyMethods } from '../../kit/lazy.ts';
import type { ChatAccessOf } from '../chat-completions/chat-client.ts';
import type { ImageCapability, ImageEditRules, ProviderSettings } from '../provider.ts';
import { imagesOf, type ImageModelTable, type ImageRules } from './image-rules.ts';

const megabyte = 1_048_576;
/** Sizes are exclusive limits of `/images/edits`. */
const dallE2Edit: ImageEditRules = { types: ['image/png'], most: 4 * megabyte - 1, mask: true, square: true };
const gptImageEdit: ImageEditRules = {
  types: ['image/png', 'image/webp', 'image/jpeg'],
  most: 50 * megabyte - 1,
  mask: true,
};

/**
 * OpenAI's image models, also on Azure with deployment names such as `Dalle3`. GPT image models return base64 only and
 * refuse `response_format`. Unknown models get only fields that all models support.
 */
export const openAiImageModels: ImageModelTable = {
  models: [
    [
      /dall-?e-?2/,
      {
        perCall: 10,
        size: 'pixels',
        quality: { standard: 'standard' },
        style: false,
        responseFormat: true,
        edit: dallE2Edit,
      },
    ],
    [
      /dall-?e-?3/,
      { perCall: 1, size: 'pixels', quality: { standard: 'standard', hd: 'hd' }, style: true, responseFormat: true },
    ],
    [
      /gpt-image/,
      {
        perCall: 10,
        size: 'pixels',
        quality: { standard: 'medium', hd: 'high' },
        style: false,
        responseFormat: false,
        edit: gptImageEdit,
      },
    ],
  ],
  others: { perCall: 1, size: 'pixels', quality: {}, style: false, responseFormat: false, edit: gptImageEdit },
};

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

export interface OpenAiImagesInit {
  readonly access: ChatAccessOf;
  readonly rules: (model: string, settings: ProviderSettings) => ImageRules;
}

/**
 * Images with OpenAI's `POST /images/generations` and optionally `/images/edits`.
 *
 * @param init `edits`: whether it supports `/images/edits`; default false.
 */
export function createOpenAiImages({
  edits = false,
  ...init
}: OpenAiImagesInit & { readonly edits?: boolean }): ImageCapability {
  const { generate, edit } = lazyMethods(
    async () => (await import('./openai-images.ts')).createImageCalls(init),
    ['generate', 'edit'],
  );
  return imagesOf(init.rules, edits ? { generate, edit } : { generate });
}
