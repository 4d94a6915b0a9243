import type { JsonSchema } from '#plugin-api';
import type { ParamNames } from './params.ts';

/** Fields of the providers' settings forms; `svc provider set` writes the same names. */
export const apiKeyField = (description: string): JsonSchema => ({
  type: 'string',
  title: 'API key',
  description,
  writeOnly: true,
});

export const baseUrlField = (address: string, description: string): JsonSchema => ({
  type: 'string',
  title: 'Base URL',
  description,
  default: address,
});

export const modelField = (title: string, model: string): JsonSchema => ({
  type: 'string',
  title,
  description: 'Default model. Choose one or type any model name.',
  default: model,
});

/** What OpenAI's chat completions call the parameters. */
export const openAiNames = {
  temperature: 'temperature',
  max_completion_tokens: 'max_completion_tokens',
  top_p: 'top_p',
  frequency_penalty: 'frequency_penalty',
  presence_penalty: 'presence_penalty',
  stop: 'stop',
  seed: 'seed',
  reasoning_effort: 'reasoning_effort',
} as const satisfies ParamNames;

/** The same, of services that follow an earlier version of it. */
export const compatibleNames = { ...openAiNames, max_completion_tokens: 'max_tokens' } as const satisfies ParamNames;
