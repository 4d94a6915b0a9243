import type { JsonSchema, UiHints } from '#plugin-api';

interface FieldLabels {
  readonly title: string;
  readonly description?: string;
  readonly ui?: UiHints;
}

/** One line of text. */
export function line(labels: FieldLabels, fallback: string, most = 200) {
  return {
    type: 'string',
    ...labels,
    default: fallback,
    maxLength: most,
    pattern: '^[^\\u0000-\\u001f\\u007f]*$',
    rule: 'must be a single line of text',
  } as const;
}

/** Text of any number of lines. */
export function text(labels: FieldLabels, fallback: string, most = 2_000) {
  return { type: 'string', ...labels, default: fallback, maxLength: most } as const;
}

export function flag(labels: FieldLabels, fallback: boolean) {
  return { type: 'boolean', ...labels, default: fallback } as const;
}

export function whole(labels: FieldLabels, fallback: number, [minimum, maximum]: readonly [number, number]) {
  return { type: 'integer', ...labels, default: fallback, minimum, maximum } as const;
}

/** The first choice is the default. */
export function choice<const Value extends string>(labels: FieldLabels, choices: readonly [Value, ...Value[]]) {
  return { type: 'string', ...labels, default: choices[0], enum: choices } as const;
}

/** A list of texts, one per line. */
export function lines<const Items extends JsonSchema>(labels: FieldLabels, items: Items, maxItems: number) {
  return { type: 'array', ...labels, default: [], items, maxItems } as const;
}

/** An object with these members. */
export function group<const Members extends Readonly<Record<string, JsonSchema>>>(
  labels: FieldLabels,
  properties: Members,
) {
  return { type: 'object', ...labels, default: {}, properties, additionalProperties: false } as const;
}

/** Letters, digits, `-` and `_`. */
export const id = {
  type: 'string',
  title: 'Id',
  minLength: 1,
  maxLength: 60,
  pattern: '^[A-Za-z0-9_-]+$',
  rule: 'must contain only letters, digits, - and _',
} as const;

/** A line of text that must not be blank. */
export function name(labels: FieldLabels, most = 200) {
  return {
    type: 'string',
    ...labels,
    required: true,
    minLength: 1,
    maxLength: most,
    pattern: '^(?=\\s*\\S)[^\\u0000-\\u001f\\u007f]*$',
    rule: 'must be a single line of text and not blank',
  } as const;
}

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
