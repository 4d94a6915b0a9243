import type { JsonSchema } from '#plugin-api';

/** JSON Schema of every key of `ai_params` (D8): one source for the route, the settings form, bots and the README's table. */
export const aiParamSchemas = {
  temperature: { type: 'number', minimum: 0, maximum: 2, description: 'Randomness, 0 to 2.' },
  max_completion_tokens: {
    type: 'integer',
    minimum: 1,
    maximum: 128000,
    description: 'Longest answer in tokens, 1 to 128,000.',
  },
  top_p: { type: 'number', minimum: 0, maximum: 1, description: 'Share of probability sampled from, 0 to 1.' },
  frequency_penalty: { type: 'number', minimum: -2, maximum: 2, description: 'Against repeating words, -2 to 2.' },
  presence_penalty: { type: 'number', minimum: -2, maximum: 2, description: 'Towards new subjects, -2 to 2.' },
  stop: {
    description: 'Text that ends the answer: a string, or up to 4.',
    anyOf: [
      { type: 'string', minLength: 1 },
      { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, maxItems: 4 },
    ],
  },
  seed: { type: 'integer', description: 'Asks for repeatable answers.' },
  top_k: { type: 'integer', minimum: 1, description: 'Sample from the k likeliest tokens.' },
  reasoning_effort: {
    type: 'string',
    enum: ['none', 'minimal', 'low', 'medium', 'high'],
    description: 'How long a reasoning model thinks.',
  },
} as const satisfies Record<string, JsonSchema>;

export type AiParamName = keyof typeof aiParamSchemas;

export interface AiParams {
  readonly temperature?: number;
  readonly max_completion_tokens?: number;
  readonly top_p?: number;
  readonly frequency_penalty?: number;
  readonly presence_penalty?: number;
  readonly stop?: string | readonly string[];
  readonly seed?: number;
  readonly top_k?: number;
  readonly reasoning_effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high';
}
