import type { JsonSchema } from '#plugin-api';

/** Fields of the stores' settings forms; `svc vector-store set` writes the same names. */
export const urlField = (description: string, address?: string): JsonSchema => ({
  type: 'string',
  title: 'Address',
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
  description: 'For one request to it. One that has not been answered by then is given up with 504.',
  minimum: 1,
  maximum: 600,
  default: 30,
};
