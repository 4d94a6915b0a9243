import type { JsonSchema } from '#plugin-api';

/** Fields of the stores' settings forms; `svc vector-store set` writes the same names. */
export const urlField = (description: string, address?: string): JsonSchema => ({
  type: 'string',
  title: 'URL',
  description,
  ...(address !== undefined && { default: address }),
});

export const apiKeyField = (description: string): JsonSchema => ({
  type: 'string',
  title: 'API key',
  description,
  writeOnly: true,
});

export const timeoutField: JsonSchema = {
  type: 'integer',
  title: 'Time limit (seconds)',
  description: 'Requests that take longer fail with 504.',
  minimum: 1,
  maximum: 600,
  default: 30,
};
