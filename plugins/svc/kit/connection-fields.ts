import type { JsonSchema } from '#plugin-api';

/** The secret key of a provider or a vector store. */
export const apiKeyField = (description: string): JsonSchema => ({
  type: 'string',
  title: 'API key',
  description,
  writeOnly: true,
});

/** The address of a provider or a vector store, with its default if it has one. */
export const urlField = ({ title = 'URL', description, address }: UrlField): JsonSchema => ({
  type: 'string',
  title,
  description,
  ...(address !== undefined && { default: address }),
});

interface UrlField {
  readonly title?: string;
  readonly description: string;
  readonly address?: string;
}
