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

/** What each response names beside OpenAI's members: who responded, and what was left out. */
const source = object({ provider: text, model: text, ignored_params: { type: 'array', items: text } }, [
  'ignored_params',
]);

/** `error.svc` is the error of the service's other routes. */
export const errorSchema: JsonSchema = named(
  'OpenAI error',
  object({
    error: {
      ...object(
        {
          message: { ...text, description: 'Explanation for people.' },
          type: { ...text, examples: ['invalid_request_error'] },
          param: { ...textOrNull, description: 'Name of the parameter that is wrong.' },
          code: { ...textOrNull, examples: ['model_not_found', 'context_length_exceeded', 'content_filter'] },
          innererror: { type: 'object', description: 'What a filter of Azure found, by category.' },
          svc: {
            ...object({ code: text, status: { type: 'integer', minimum: 400, maximum: 599 } }),
            description: 'The code of this service, the status, and details.',
          },
        },
        ['innererror'],
      ),
    },
  }),
);

const model = named(
  'OpenAI model',
  object({ id: text, object: { type: 'string', enum: ['model'] }, created: count, owned_by: text }),
);

const toolCall = object(
  {
    id: text,
    type: { type: 'string', enum: ['function'] },
    function: object({ name: text, arguments: { ...text, description: 'JSON, as the model wrote it.' } }),
    extra_content: { type: 'object', description: 'Send it back with the call: Google needs its signature.' },
  },
  ['extra_content'],
);

const part = {
  type: 'object',
  properties: {
    type: { type: 'string', enum: ['text', 'image_url', 'refusal'] },
    text,
    refusal: text,
    image_url: object({ url: text, detail: { type: 'string', enum: ['auto', 'low', 'high'] } }, ['detail']),
  },
  required: ['type'],
} as const satisfies JsonSchema;

const reasoningDetails = {
  type: 'array',
  items: { type: 'object' },
  description: 'What the next request must repeat with this message.',
} as const satisfies JsonSchema;

const nothing = { type: 'null' } as const;

/** Members of a message besides its role, for OpenAPI alone: `read-messages.ts` checks them, and names what is wrong. */
export const messageMembers = {
  content: {
    description: 'A text, or parts: texts, and in messages of users images.',
    openApi: { anyOf: [text, { type: 'array', items: part }, nothing] },
  },
  name: {
    description: 'Who wrote it, if several participants share a role.',
    openApi: { type: ['string', 'null'] },
  },
  tool_calls: {
    description: 'Functions that an assistant called.',
    openApi: { type: ['array', 'null'], items: toolCall },
  },
  tool_call_id: { description: 'Of a tool: the id of the call.', openApi: { type: ['string', 'null'] } },
  refusal: { description: 'Of an assistant that declined.', openApi: { type: ['string', 'null'] } },
  reasoning_content: { description: 'Of an assistant: what it thought.', openApi: { type: ['string', 'null'] } },
  reasoning_details: { description: 'The same with what vendors sign.', openApi: reasoningDetails },
} as const satisfies Readonly<Record<string, JsonSchema>>;

const completion = named(
  'OpenAI chat completion',
  object({
    id: text,
    object: { type: 'string', enum: ['chat.completion'] },
    created: count,
    model: text,
    choices: {
      type: 'array',
      items: object({
        index: count,
        message: object(
          {
            role: { type: 'string', enum: ['assistant'] },
            content: textOrNull,
            refusal: textOrNull,
            tool_calls: { type: 'array', items: toolCall },
            reasoning_content: { ...text, description: 'What the model thought, if its vendor returns it.' },
            reasoning_details: reasoningDetails,
            annotations: { type: 'array', items: { type: 'object' }, description: 'Sources that the vendor names.' },
          },
          ['tool_calls', 'reasoning_content', 'reasoning_details', 'annotations'],
        ),
        logprobs: { type: ['object', 'null'] },
        finish_reason: { type: 'string', enum: ['stop', 'length', 'content_filter', 'tool_calls'] },
      }),
    },
    usage: object(
      {
        prompt_tokens: count,
        completion_tokens: count,
        total_tokens: count,
        prompt_tokens_details: object({ cached_tokens: count, audio_tokens: count }, ['cached_tokens', 'audio_tokens']),
        completion_tokens_details: object({ reasoning_tokens: count, audio_tokens: count }, [
          'reasoning_tokens',
          'audio_tokens',
        ]),
      },
      ['prompt_tokens_details', 'completion_tokens_details'],
    ),
    svc: source,
  }),
);

const response = named(
  'OpenAI response',
  object({
    id: text,
    object: { type: 'string', enum: ['response'] },
    created_at: { type: 'number', minimum: 0 },
    status: text,
    model: text,
    output: {
      type: 'array',
      items: { type: 'object', properties: { type: text }, required: ['type'] },
      description: 'Items: reasoning, messages, calls of functions. Send them back with the next request.',
    },
    usage: { type: ['object', 'null'] },
    svc: source,
  }),
);

const embeddings = named(
  'OpenAI embeddings',
  object({
    object: { type: 'string', enum: ['list'] },
    data: {
      type: 'array',
      items: object({
        object: { type: 'string', enum: ['embedding'] },
        index: count,
        embedding: {
          type: ['array', 'string'],
          items: { type: 'number' },
          description: 'Numbers, or with base64 the 32-bit floats.',
        },
      }),
    },
    model: text,
    usage: object({ prompt_tokens: count, total_tokens: count }),
    svc: source,
  }),
);

const images = named(
  'OpenAI images',
  object(
    {
      created: count,
      data: {
        type: 'array',
        items: object({ url: textOrNull, b64_json: textOrNull, revised_prompt: text }, [
          'url',
          'b64_json',
          'revised_prompt',
        ]),
      },
      usage: { type: 'object', description: 'As the provider reports it.' },
      svc: object({ provider: text, model: text, message: text }),
    },
    ['usage'],
  ),
);

/** The bodies of responses, by handler. */
export const responseSchemas = {
  models: named(
    'OpenAI models',
    object({
      object: { type: 'string', enum: ['list'] },
      data: { type: 'array', items: model },
      has_more: { type: 'boolean' },
    }),
  ),
  model,
  chat: completion,
  responses: response,
  embeddings,
  images,
} as const satisfies Readonly<Record<string, JsonSchema>>;
