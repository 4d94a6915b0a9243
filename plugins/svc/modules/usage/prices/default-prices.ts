import type { Price } from './price.ts';

/** When these prices were last looked up, unless a line names its source, for the page: prices change, and these are not for billing. */
export const defaultPricesDate = '2026-11-23';

/** Models of other makers that Azure runs: input and output. As models.dev listed them on 2 July 2026. */
const azureModels = {
  'codestral-2501': [0.3, 0.9],
  'cohere-command-a': [2.5, 10],
  'cohere-command-r-08-2024': [0.15, 0.6],
  'cohere-command-r-plus-08-2024': [2.5, 10],
  'deepseek-r1': [1.35, 5.4],
  'deepseek-r1-0528': [1.35, 5.4],
  'deepseek-v3-0324': [1.14, 4.56],
  'deepseek-v3.1': [0.56, 1.68],
  'deepseek-v3.2': [0.58, 1.68],
  'deepseek-v3.2-speciale': [0.58, 1.68],
  'deepseek-v4-flash': [0.19, 0.51],
  'deepseek-v4-pro': [1.74, 3.48],
  'gpt-4-turbo-vision': [10, 30],
  'grok-4-20-non-reasoning': [2, 6],
  'grok-4-20-reasoning': [2, 6],
  'llama-3.2-11b-vision-instruct': [0.37, 0.37],
  'llama-3.2-90b-vision-instruct': [2.04, 2.04],
  'llama-3.3-70b-instruct': [0.71, 0.71],
  'llama-4-maverick-17b-128e-instruct-fp8': [0.25, 1],
  'llama-4-scout-17b-16e-instruct': [0.2, 0.78],
  'meta-llama-3-70b-instruct': [2.68, 3.54],
  'meta-llama-3-8b-instruct': [0.3, 0.61],
  'meta-llama-3.1-405b-instruct': [5.33, 16],
  'meta-llama-3.1-70b-instruct': [2.68, 3.54],
  'meta-llama-3.1-8b-instruct': [0.3, 0.61],
  'ministral-3b': [0.04, 0.04],
  'mistral-large-2411': [2, 6],
  'mistral-medium-2505': [0.4, 2],
  'mistral-nemo': [0.15, 0.15],
  'mistral-small-2503': [0.1, 0.3],
  'phi-3-medium-4k-instruct': [0.17, 0.68],
  'phi-3-mini-4k-instruct': [0.13, 0.52],
  'phi-3-small-128k-instruct': [0.15, 0.6],
  'phi-3-small-8k-instruct': [0.15, 0.6],
  'phi-3.5-mini-instruct': [0.13, 0.52],
  'phi-3.5-moe-instruct': [0.16, 0.64],
  'phi-4-mini': [0.075, 0.3],
  'phi-4-mini-reasoning': [0.075, 0.3],
  'phi-4-multimodal': [0.08, 0.32],
  'phi-4-reasoning': [0.125, 0.5],
} as const satisfies Readonly<Record<string, readonly [input: number, output: number]>>;

/** The whole call costs twice as much from 200,000 tokens of the prompt on. As models.dev listed them on 2 July 2026. */
const grokSnapshots = ['grok-4.20-0309-non-reasoning', 'grok-4.20-0309-reasoning', 'grok-4.20-multi-agent-0309'];

/** A twentieth to read from the cache, 1.25 times to write for five minutes, twice for an hour. */
const sonnet = { input: 2, output: 10, cached_input: 0.1, cache_write: 2.5, cache_write_1h: 4 };

/**
 * List prices, in US dollars, of what the package `@pydantic/genai-prices` does not know, without discounts for batches, looked up
 * at the vendors on `defaultPricesDate` unless a line names its source. They come before those of the package, so a model that it learns
 * leaves this list. A site's own prices override both. Models without a known price are left out: a wrong price is worse than none, so
 * a pattern is used only where all names that it matches cost the same.
 */
export const defaultPrices: readonly Price[] = [
  // The package knows their prices of text alone.
  { provider: 'openai', model: 'gpt-4o-audio-preview*', input: 2.5, audio_input: 40, output: 10, audio_output: 80 },
  {
    provider: 'openai',
    model: 'gpt-4o-mini-audio-preview*',
    input: 0.15,
    audio_input: 10,
    output: 0.6,
    audio_output: 20,
  },
  // Without a size or quality: standard quality, 1024x1024.
  { provider: 'openai', model: 'dall-e-3', image: 0.04 },
  { provider: 'openai', model: 'dall-e-3', size: '1792x1024', image: 0.08 },
  { provider: 'openai', model: 'dall-e-3', size: '1024x1792', image: 0.08 },
  { provider: 'openai', model: 'dall-e-3', quality: 'hd', image: 0.08 },
  { provider: 'openai', model: 'dall-e-3', size: '1792x1024', quality: 'hd', image: 0.12 },
  { provider: 'openai', model: 'dall-e-3', size: '1024x1792', quality: 'hd', image: 0.12 },
  { provider: 'openai', model: 'dall-e-2', image: 0.02 },
  { provider: 'openai', model: 'dall-e-2', size: '512x512', image: 0.018 },
  { provider: 'openai', model: 'dall-e-2', size: '256x256', image: 0.016 },
  // models.dev, 2 July 2026.
  { provider: 'openai', model: 'gpt-5.3-codex-spark', input: 1.75, cached_input: 0.175, output: 14 },
  // One price for all sizes.
  { provider: 'google', model: 'imagen-4.0-fast-generate-001', image: 0.02 },
  { provider: 'google', model: 'imagen-4.0-generate-001', image: 0.04 },
  { provider: 'google', model: 'imagen-4.0-ultra-generate-001', image: 0.06 },
  // Videos in 720p and 1080p.
  { provider: 'google', model: 'veo-3.1-fast-generate-*', second: 0.15 },
  { provider: 'google', model: 'veo-3.1-generate-*', second: 0.4 },
  { provider: 'google', model: 'veo-3.0-fast-generate-*', second: 0.15 },
  { provider: 'google', model: 'veo-3.0-generate-*', second: 0.4 },
  { provider: 'google', model: 'veo-2.0-generate-*', second: 0.35 },
  { provider: 'openrouter', model: 'openai/text-embedding-3-small', input: 0.02 },
  // Paid for as tokens, of which a larger size takes more; text and thoughts cost less than images.
  { provider: 'openrouter', model: 'google/gemini-3.1-flash-image', input: 0.5, output: 3, image_output: 60 },
  { provider: 'openrouter', model: 'google/gemini-3.1-flash-image-preview', input: 0.5, output: 3, image_output: 60 },
  { provider: 'openrouter', model: 'anthropic/claude-sonnet-5.5', ...sonnet },
  { provider: 'claude', model: 'claude-sonnet-5-5', ...sonnet },
  { provider: 'claude', model: 'claude-sonnet-5-5-2026*', ...sonnet },
  // models.dev, 2 July 2026.
  { provider: 'openrouter', model: 'nex-agi/nex-n2-pro', input: 0.25, cached_input: 0.025, output: 1 },
  { provider: 'openrouter', model: 'perplexity/sonar-pro-search', input: 3, output: 15 },
  { provider: 'openrouter', model: 'poolside/laguna-m.1', input: 0.2, cached_input: 0.1, output: 0.4 },
  { provider: 'openrouter', model: 'poolside/laguna-xs.2', input: 0.1, cached_input: 0.05, output: 0.2 },
  { provider: 'openrouter', model: 'sakana/fugu-ultra', input: 5, cached_input: 0.5, output: 30 },
  { provider: 'openrouter', model: 'z-ai/glm-5v-turbo', input: 1.2, cached_input: 0.24, output: 4 },
  { provider: 'openrouter', model: 'openrouter/free', input: 0, output: 0 },
  { provider: 'openrouter', model: '*:free', input: 0, output: 0 },
  // At peak hours; half of it at all others.
  { provider: 'deepseek', model: 'deepseek-flash', input: 0.3, cached_input: 0.006, output: 1.2 },
  { provider: 'xai', model: 'grok-imagine-image-quality', image: 0.05 },
  { provider: 'xai', model: 'grok-imagine-image-pro', image: 0.07 },
  { provider: 'xai', model: 'grok-imagine-image', image: 0.02 },
  ...grokSnapshots.flatMap((model): Price[] => [
    { provider: 'xai', model, input: 1.25, cached_input: 0.2, output: 2.5 },
    { provider: 'xai', model, min_input_tokens: 200_000, input: 2.5, cached_input: 0.4, output: 5 },
  ]),
  ...Object.entries(azureModels).map(([model, [input, output]]) => ({ provider: 'azure', model, input, output })),
  // Runs on the site's own server.
  { provider: 'ollama', model: '*', input: 0, output: 0, image: 0 },
];
