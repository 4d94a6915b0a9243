import { defineEvent } from '../../kit/define-event.ts';
import { anyActorSchema, text } from '../../kit/event-schemas.ts';

const output = {
  type: 'object',
  description: 'Location of the file, without its content (D18).',
  properties: {
    url: { type: ['string', 'null'] },
    media_id: { type: ['integer', 'null'] },
    size: { type: ['integer', 'null'], description: 'Bytes.' },
    mime_type: { type: ['string', 'null'] },
    revised_prompt: { type: ['string', 'null'] },
  },
} as const;

/** The key of the context identifies the request: the same prompt can be requested twice. */
export const imageGeneratedEvent = defineEvent({
  name: 'image.generated',
  group: 'Images',
  module: 'image_generator',
  origins: ['frontend_image_generator', 'admin_image_generator', 'automated_task_images'],
  resource: 'image_generation',
  description: 'An image, image edit or video generation request returns output.',
  queued: true,
  schema: {
    type: 'object',
    properties: {
      prompt: text,
      provider: text,
      model: text,
      mode: text,
      media_type: { type: 'string', enum: ['image', 'video'] },
      output_count: { type: 'integer', minimum: 0 },
      outputs: {
        type: 'object',
        properties: { images: { type: 'array', items: output }, videos: { type: 'array', items: output } },
      },
      usage: { type: ['object', 'null'] },
      actor: anyActorSchema,
    },
    required: ['prompt', 'provider', 'model', 'media_type', 'output_count', 'outputs'],
  },
  example: {
    prompt: 'A lighthouse in fog, woodcut',
    provider: 'OpenAI',
    model: 'gpt-image-1',
    mode: 'generate',
    media_type: 'image',
    output_count: 1,
    outputs: {
      images: [
        {
          url: 'https://example.com/uploads/2026/11/lighthouse.png',
          media_id: 310,
          size: 812345,
          mime_type: 'image/png',
          revised_prompt: null,
        },
      ],
      videos: [],
    },
    usage: { input_tokens: 14, output_tokens: 1056, total_tokens: 1070 },
    actor: { type: 'user', user_id: 7 },
  },
  naturalIds: ({ outputs }) => {
    const ids = [...(outputs.images ?? []), ...(outputs.videos ?? [])].map(
      ({ media_id: mediaId, url }) => mediaId ?? url ?? null,
    );
    return ids.length === 0 ? [null] : ids;
  },
});
