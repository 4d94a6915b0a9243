import type { JsonSchema } from '#plugin-api';

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
