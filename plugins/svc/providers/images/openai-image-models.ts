import type { ImageEditRules } from '../provider.ts';
import type { ImageModelTable } from './image-rules.ts';

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
