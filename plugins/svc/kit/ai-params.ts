import { argumentBounds } from '#plugin-api';
import type { InferMembers, JsonSchema } from '#plugin-api';

/** JSON Schema of every key of `ai_params` (D8), the source of the routes, forms and documents. */
export const aiParamSchemas = {
  temperature: { type: 'number', minimum: 0, maximum: 2, description: 'Randomness, 0 to 2.' },
  max_completion_tokens: {
    type: 'integer',
    minimum: 1,
    // What a model may write differs and grows: more than it has is the provider's to refuse.
    maximum: 10_000_000,
    description: 'Maximum output length in tokens. A model may have less.',
  },
  top_p: {
    type: 'number',
    minimum: 0,
    maximum: 1,
    description: 'Samples from the most likely tokens up to this total probability, 0 to 1.',
  },
  frequency_penalty: { type: 'number', minimum: -2, maximum: 2, description: 'Discourages repetition, -2 to 2.' },
  presence_penalty: { type: 'number', minimum: -2, maximum: 2, description: 'Encourages new topics, -2 to 2.' },
  stop: {
    title: 'Stop sequences',
    description: 'Up to four stop sequences.',
    anyOf: [
      { type: 'string', minLength: 1, ...argumentBounds.paragraph },
      { type: 'array', items: { type: 'string', minLength: 1, ...argumentBounds.paragraph }, minItems: 1, maxItems: 4 },
    ],
  },
  seed: {
    type: 'integer',
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Requests repeatable output.',
  },
  top_k: { type: 'integer', ...argumentBounds.id, minimum: 1, description: 'Samples from the k most likely tokens.' },
  reasoning_effort: {
    type: 'string',
    enum: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
    description: 'How much a reasoning model thinks.',
  },
} as const satisfies Record<string, JsonSchema>;

export type AiParamName = keyof typeof aiParamSchemas;

export type AiParams = InferMembers<typeof aiParamSchemas>;
