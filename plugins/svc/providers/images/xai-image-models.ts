import type { ImageModelTable, ImageRules } from './image-rules.ts';

const imagine: ImageRules = {
  perCall: 10,
  size: {
    shapeName: 'aspect_ratio',
    shapes: ['1:1', '4:3', '3:4', '3:2', '2:3', '16:9', '9:16', '2:1', '1:2', '19.5:9', '9:19.5', '20:9', '9:20'],
    tiers: { name: 'resolution', edges: { '1k': 1024, '2k': 2048 } },
  },
  quality: { standard: 'medium', hd: 'high' },
  style: false,
  responseFormat: true,
};

/** xAI's image models: `grok-2-image` has one size, later ones aspect ratios. */
export const xaiImageModels: ImageModelTable = {
  models: [[/^grok-2/, { perCall: 10, size: null, quality: {}, style: false, responseFormat: true }]],
  others: imagine,
};
