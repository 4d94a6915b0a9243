import type { Price } from './price.ts';

/** When the built-in prices were last looked up, for the page: prices change, and these are not for billing. */
export const defaultPricesDate = '2026-11-23';

/** Anthropic prices its cache by the input: a tenth to read, 1.25 times to write for five minutes, twice for an hour. */
const claudeCache = (input: number) => ({
  cached_input: input / 10,
  cache_write: input * 1.25,
  cache_write_1h: input * 2,
});

/**
 * List prices without discounts for batches, in US dollars, of the models that the providers start with and
 * their families. DEFAULTS TO BE CHECKED against the provider's own price list; a site's own prices override them.
 * Models without a known price are left out: a wrong price is worse than none.
 */
export const defaultPrices: readonly Price[] = [
  { provider: 'openai', model: 'gpt-5.6-sol', input: 5, cached_input: 0.5, output: 30 },
  { provider: 'openai', model: 'gpt-5.6-terra*', input: 2, cached_input: 0.2, output: 12 },
  { provider: 'openai', model: 'gpt-5.6-luna*', input: 0.2, cached_input: 0.02, output: 1.2 },
  { provider: 'openai', model: 'gpt-4.1', input: 2, cached_input: 0.5, output: 8 },
  { provider: 'openai', model: 'gpt-4.1-2*', input: 2, cached_input: 0.5, output: 8 },
  { provider: 'openai', model: 'gpt-4.1-mini*', input: 0.4, cached_input: 0.1, output: 1.6 },
  { provider: 'openai', model: 'gpt-4o', input: 2.5, cached_input: 1.25, output: 10 },
  { provider: 'openai', model: 'gpt-4o-2024*', input: 2.5, cached_input: 1.25, output: 10 },
  { provider: 'openai', model: 'gpt-4o-mini*', input: 0.15, cached_input: 0.075, output: 0.6 },
  { provider: 'openai', model: 'text-embedding-3-small', input: 0.02 },
  { provider: 'openai', model: 'text-embedding-3-large', input: 0.13 },
  // Images paid for as tokens: text and images in, images out.
  { provider: 'openai', model: 'gpt-image-2*', input: 5, cached_input: 1.25, image_input: 8, output: 30 },
  { provider: 'openai', model: 'gpt-image-1', input: 5, cached_input: 1.25, image_input: 10, output: 40 },
  { provider: 'openai', model: 'gpt-image-1.5*', input: 5, cached_input: 1.25, image_input: 8, output: 32 },
  { provider: 'openai', model: 'gpt-image-1-mini*', input: 2, cached_input: 0.2, image_input: 2.5, output: 8 },
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
  { provider: 'azure', model: 'gpt-5.6-terra*', input: 2.5, output: 15 },
  { provider: 'azure', model: 'gpt-4o-mini*', input: 0.15, cached_input: 0.075, output: 0.6 },
  { provider: 'azure', model: 'text-embedding-3-small', input: 0.02 },
  { provider: 'azure', model: 'text-embedding-3-large', input: 0.13 },
  { provider: 'google', model: 'gemini-3.5-flash*', input: 1.5, cached_input: 0.15, output: 9 },
  { provider: 'google', model: 'gemini-embedding-001', input: 0.15 },
  // Paid for as tokens, of which a larger size takes more; text and thoughts cost less than images.
  { provider: 'google', model: 'gemini-3.1-flash-image*', input: 0.5, output: 3, image_output: 60 },
  { provider: 'google', model: 'gemini-3-pro-image*', input: 2, output: 12, image_output: 120 },
  { provider: 'google', model: 'gemini-2.5-flash-image*', input: 0.3, output: 2.5, image_output: 30 },
  // One price for all sizes.
  { provider: 'google', model: 'imagen-4.0-fast*', image: 0.02 },
  { provider: 'google', model: 'imagen-4.0-generate*', image: 0.04 },
  { provider: 'google', model: 'imagen-4.0-ultra*', image: 0.06 },
  // Videos in 720p and 1080p.
  { provider: 'google', model: 'veo-3.1-fast*', second: 0.15 },
  { provider: 'google', model: 'veo-3.1-generate*', second: 0.4 },
  { provider: 'google', model: 'veo-3.0-fast*', second: 0.15 },
  { provider: 'google', model: 'veo-3.0-generate*', second: 0.4 },
  { provider: 'google', model: 'veo-2*', second: 0.35 },
  { provider: 'openrouter', model: 'openai/gpt-5.6-terra*', input: 2.5, output: 15 },
  { provider: 'openrouter', model: 'openai/text-embedding-3-small', input: 0.02 },
  { provider: 'openrouter', model: 'google/gemini-3.1-flash-image*', input: 0.5, output: 3, image_output: 60 },
  {
    provider: 'openrouter',
    model: 'anthropic/claude-sonnet-5.5*',
    input: 2,
    output: 10,
    ...claudeCache(2),
    cached_input: 0.1,
  },
  { provider: 'openrouter', model: '*:free', input: 0, output: 0 },
  { provider: 'claude', model: 'claude-sonnet-5*', input: 2, output: 10, ...claudeCache(2) },
  // These two are read from the cache for a twentieth.
  { provider: 'claude', model: 'claude-sonnet-5-5*', input: 2, output: 10, ...claudeCache(2), cached_input: 0.1 },
  { provider: 'claude', model: 'claude-opus-5-5*', input: 4, output: 20, ...claudeCache(4), cached_input: 0.2 },
  { provider: 'claude', model: 'claude-opus-5*', input: 5, output: 25, ...claudeCache(5) },
  { provider: 'claude', model: 'claude-haiku-4-5*', input: 1, output: 5, ...claudeCache(1) },
  // At peak hours; half of it at all others. The older name is served by the newer model.
  { provider: 'deepseek', model: 'deepseek-flash*', input: 0.3, cached_input: 0.006, output: 1.2 },
  { provider: 'deepseek', model: 'deepseek-v4-flash*', input: 0.3, cached_input: 0.006, output: 1.2 },
  // The whole call costs twice as much from 200,000 tokens of the prompt on.
  { provider: 'xai', model: 'grok-4.5', input: 2, cached_input: 0.5, output: 6 },
  { provider: 'xai', model: 'grok-4.5', min_input_tokens: 200_000, input: 4, cached_input: 1, output: 12 },
  { provider: 'xai', model: 'grok-4.3*', input: 1.25, cached_input: 0.2, output: 2.5 },
  { provider: 'xai', model: 'grok-4.3*', min_input_tokens: 200_000, input: 2.5, cached_input: 0.4, output: 5 },
  { provider: 'xai', model: 'grok-4.20*', input: 1.25, cached_input: 0.2, output: 2.5 },
  { provider: 'xai', model: 'grok-4.20*', min_input_tokens: 200_000, input: 2.5, cached_input: 0.4, output: 5 },
  { provider: 'xai', model: 'grok-4-1-fast*', input: 0.2, cached_input: 0.05, output: 0.5 },
  { provider: 'xai', model: 'grok-imagine-image-quality*', image: 0.05 },
  { provider: 'xai', model: 'grok-imagine-image-pro*', image: 0.07 },
  { provider: 'xai', model: 'grok-imagine-image', image: 0.02 },
  // Runs on the site's own server.
  { provider: 'ollama', model: '*', input: 0, output: 0, image: 0 },
];
