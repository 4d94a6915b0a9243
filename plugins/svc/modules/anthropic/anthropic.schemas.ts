import type { JsonSchema } from '#plugin-api';

const text = { type: 'string' } as const;
const count = { type: 'integer', minimum: 0 } as const;
const textOrNull = { type: ['string', 'null'] } as const;

function object(properties: Readonly<Record<string, JsonSchema>>, optional: readonly string[] = []) {
  return {
    type: 'object',
    properties,
    required: Object.keys(properties).filter((name) => !optional.includes(name)),
  } as const satisfies JsonSchema;
}

function named(title: string, schema: JsonSchema): JsonSchema {
  return { ...schema, title };
}

/** `error.svc` is the error of the service's other routes. */
export const errorSchema: JsonSchema = named(
  'Anthropic error',
  object({
    type: { type: 'string', enum: ['error'] },
    error: object({
      type: { ...text, examples: ['invalid_request_error'] },
      message: { ...text, description: 'Explanation for people.' },
      svc: {
        ...object({ code: text, status: { type: 'integer', minimum: 400, maximum: 599 } }),
        description: 'The code of this service, the status, and details.',
      },
    }),
    request_id: text,
  }),
);

const block = {
  type: 'object',
  properties: { type: { ...text, examples: ['text', 'thinking', 'tool_use'] } },
  required: ['type'],
} as const satisfies JsonSchema;

/** A text or blocks, for OpenAPI alone: `read-messages.ts` checks them, and names what is wrong. */
export const contentSchema = { anyOf: [text, { type: 'array', items: block }] } as const;

const message = named(
  'Anthropic message',
  object(
    {
      id: text,
      type: { type: 'string', enum: ['message'] },
      role: { type: 'string', enum: ['assistant'] },
      model: text,
      content: { type: 'array', items: block },
      stop_reason: { ...text, examples: ['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'refusal'] },
      stop_sequence: textOrNull,
      usage: object({
        input_tokens: count,
        cache_read_input_tokens: count,
        cache_creation_input_tokens: count,
        output_tokens: count,
      }),
      svc: object({ provider: text, model: text, ignored_params: { type: 'array', items: text } }, ['ignored_params']),
    },
    [],
  ),
);

/** The bodies of responses, by handler. */
export const responseSchemas = {
  messages: message,
  countTokens: named('Anthropic token count', object({ input_tokens: count })),
} as const satisfies Readonly<Record<string, JsonSchema>>;
