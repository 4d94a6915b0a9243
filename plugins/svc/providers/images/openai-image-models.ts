import type { ImageEditRules } from '../provider.ts';
import type { ImageModelTable } from './image-rules.ts';

const megabyte = 1_048_576;
/** Both "less than", as the description of `/images/edits` has it. */
const dallE2Edit: ImageEditRules = { types: ['image/png'], most: 4 * megabyte - 1, mask: true, square: true };
const gptImageEdit: ImageEditRules = {
  types: ['image/png', 'image/webp', 'image/jpeg'],
  most: 50 * megabyte - 1,
  mask: true,
};

/**
 * OpenAI's image models, here and at Azure, where deployments are often called `Dalle3` or so. The GPT image models
 * answer base64 alone and refuse `response_format`. Of a model that is not known, nothing is asked but what all take.
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
