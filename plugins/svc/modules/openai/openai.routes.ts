import { argumentBounds, type JsonSchema, type RouteArguments, type RouteDefinition } from '#plugin-api';
import { aiParamSchemas } from '../../kit/ai-params.ts';
import { defineRoute, embeddingInputArgument, type ServiceRoute } from '../../kit/route.ts';
import { withVendorStatus } from '../../kit/vendor-status.ts';
import { openAiErrorBody } from './error-body.ts';
import { errorSchema, messageMembers, responseSchemas } from './openai.schemas.ts';
import { openAiNamespace, type Handlers, type OpenAiParts } from './openai-ports.ts';

/** Null is the same as leaving a parameter out, as OpenAI has it. */
const optional = <Schema extends JsonSchema>(schema: Schema) => ({ ...schema, acceptsNull: true }) as const;

/** Bytes: images in messages are base64. Besides them a body has at most 10 MB, as any JSON (D46). */
const chatBodyLimit = 33_554_432;

const modelArgument = {
  type: 'string',
  required: true,
  minLength: 1,
  ...argumentBounds.line,
  description: '`provider/model`, the name of a model alone, or `bot:<id>` for a chatbot.',
  examples: ['openai/gpt-5.6-terra'],
} as const;

const hintArgument = (description: string) => optional({ type: 'string', ...argumentBounds.line, description });
const userArgument = hintArgument('End-user identifier.');
const object = (description: string) => ({ type: 'object', description }) as const;

const chatArguments = {
  model: modelArgument,
  messages: {
    type: 'array',
    required: true,
    minItems: 1,
    maxItems: 50_000,
    description: 'The conversation so far. Content is a text, or parts of the types text and image_url.',
    items: {
      type: 'object',
      properties: {
        role: { type: 'string', enum: ['developer', 'system', 'user', 'assistant', 'tool'], required: true },
        ...messageMembers,
      },
    },
    examples: [[{ role: 'user', content: 'Say hello.' }]],
  },
  stream: optional({ type: 'boolean', description: 'Sends the text as server-sent events.' }),
  stream_options: optional(object('`include_usage`: the last event before `[DONE]` has the usage.')),
  ...Object.fromEntries(Object.entries(aiParamSchemas).map(([name, schema]) => [name, optional(schema)])),
  max_tokens: optional({ ...aiParamSchemas.max_completion_tokens, description: 'Alias of max_completion_tokens.' }),
  stop: optional({
    type: ['string', 'array'],
    ...argumentBounds.paragraph,
    items: { type: 'string', minLength: 1, ...argumentBounds.paragraph },
    maxItems: 4,
    description: 'Up to four stop sequences.',
  }),
  n: optional({ type: 'integer', minimum: 1, maximum: 1, description: 'Number of texts: 1.' }),
  tools: optional({
    type: 'array',
    maxItems: 128,
    items: { type: 'object' },
    description: 'Functions that the model may call.',
  }),
  tool_choice: optional({
    type: ['string', 'object'],
    ...argumentBounds.key,
    description: '`auto`, `none`, `required`, or one function.',
  }),
  parallel_tool_calls: optional({ type: 'boolean', description: 'Whether the model may call several functions.' }),
  response_format: optional(object('`text`, `json_object`, or `json_schema` with a JSON Schema.')),
  user: userArgument,
  metadata: optional(object('For vendors that store requests. Does not change the text.')),
  prompt_cache_key: hintArgument('Groups requests with a common beginning, for the cache of the vendor.'),
  prompt_cache_options: optional(object('For the cache of the vendor.')),
  prompt_cache_retention: hintArgument('How long the vendor caches the beginning.'),
  safety_identifier: hintArgument('End-user identifier, for the policies of the vendor.'),
  store: optional({ type: 'boolean', description: 'Whether the vendor stores the request and the text.' }),
} as const satisfies RouteArguments;

/** What a vendor with this format may take besides, it gets too. */
const responsesArguments = {
  model: modelArgument,
  input: {
    type: ['string', 'array'],
    required: true,
    maxItems: 50_000,
    maxLength: chatBodyLimit,
    items: { type: 'object' },
    description: 'A text, or the items of the conversation: messages, calls of functions, their results, reasoning.',
    examples: ['Say hello.'],
  },
  instructions: optional({ type: 'string', ...argumentBounds.document, description: 'Text of the system.' }),
  stream: optional({ type: 'boolean', description: 'Sends the response as server-sent events.' }),
  temperature: optional(aiParamSchemas.temperature),
  top_p: optional(aiParamSchemas.top_p),
  max_output_tokens: optional(aiParamSchemas.max_completion_tokens),
  reasoning: optional(object('`effort`: how much a reasoning model thinks.')),
  text: optional(object('`format`: `text`, `json_object`, or `json_schema` with a JSON Schema.')),
  tools: chatArguments.tools,
  tool_choice: chatArguments.tool_choice,
  parallel_tool_calls: chatArguments.parallel_tool_calls,
  include: optional({
    type: 'array',
    maxItems: 20,
    items: { type: 'string', ...argumentBounds.line },
    description: 'Reasoning is always returned in a form that can be sent back.',
  }),
  store: optional({
    type: 'boolean',
    description: 'Whether the vendor stores the response. This service stores none.',
  }),
  previous_response_id: hintArgument('Only for vendors with this format, which stored the response themselves.'),
  conversation: optional({
    type: ['string', 'object'],
    ...argumentBounds.line,
    description: 'Only for vendors with this format, which store the conversation themselves.',
  }),
  background: optional({ type: 'boolean', description: 'Only with `stream: true`.' }),
  user: userArgument,
  metadata: chatArguments.metadata,
  prompt_cache_key: chatArguments.prompt_cache_key,
  prompt_cache_options: chatArguments.prompt_cache_options,
  prompt_cache_retention: chatArguments.prompt_cache_retention,
  safety_identifier: chatArguments.safety_identifier,
} as const satisfies RouteArguments;

/** Of one text, as many tokens as a model reads; else inputs, whose number the handler limits. */
const maxTokenIds = 16_384;
const tokenId = { minimum: 0, maximum: 16_777_216 } as const;

const embeddingsArguments = {
  model: modelArgument,
  input: {
    ...embeddingInputArgument,
    description: 'Text to embed, or up to 2,048 texts. With models of OpenAI also the ids of tokens.',
    // A text of digits stays a text: the first type that fits applies.
    items: {
      type: ['string', 'integer', 'array'],
      ...argumentBounds.document,
      ...tokenId,
      maxItems: maxTokenIds,
      items: { type: 'integer', ...tokenId },
    },
    maxItems: maxTokenIds,
  },
  dimensions: optional({ type: 'integer', ...argumentBounds.id, minimum: 1, description: 'Size of the vectors.' }),
  encoding_format: optional({ type: 'string', enum: ['float', 'base64'], description: 'Default float.' }),
  user: userArgument,
} as const satisfies RouteArguments;

const imagesArguments = {
  model: { ...modelArgument, description: '`provider/model`, or a model of the default provider.' },
  prompt: { type: 'string', required: true, ...argumentBounds.document, description: 'Description of the image.' },
  n: optional({ type: 'integer', minimum: 1, maximum: 10, description: 'Number of images. Default 1.' }),
  size: optional({
    type: 'string',
    maxLength: 11,
    pattern: '^(auto|[1-9][0-9]{0,4}x[1-9][0-9]{0,4})$',
    description: 'Width and height in pixels, for example 1024x1024, or auto.',
  }),
  quality: optional({
    type: 'string',
    enum: ['auto', 'standard', 'hd', 'medium', 'high'],
    description: 'medium is standard, high is hd.',
  }),
  style: optional({ type: 'string', enum: ['vivid', 'natural'], description: 'If the model supports it.' }),
  response_format: optional({
    type: 'string',
    enum: ['url', 'b64_json'],
    description: 'Default b64_json. With url the image is stored in the media library.',
  }),
  user: userArgument,
} as const satisfies RouteArguments;

/** Names that each route knows. Others are refused. */
export const openAiParameters = {
  chat: Object.keys(chatArguments),
  embeddings: Object.keys(embeddingsArguments),
  images: Object.keys(imagesArguments),
} as const;

interface RouteInit extends Pick<RouteDefinition, 'summary' | 'args' | 'bodyLimit' | 'methods'> {
  readonly path: string;
  readonly handler: keyof Handlers;
  /** What the response has, if the schema does not say it. */
  readonly success?: string;
}

function route({ path, handler, success = 'Success.', ...definition }: RouteInit): ServiceRoute<OpenAiParts> {
  return defineRoute<OpenAiParts>({
    path,
    namespace: openAiNamespace,
    access: 'openai',
    hasDryRun: definition.methods !== undefined,
    define: (parts) => ({
      ...definition,
      description: 'As OpenAI has it; errors too, with the code of this service in `error.svc`.',
      errorBody: openAiErrorBody,
      errorSchema,
      responses: { 200: { description: success, schema: responseSchemas[handler] } },
      async handler(request) {
        try {
          return await (await parts.handlers())[handler](request);
        } catch (error) {
          throw withVendorStatus(error);
        }
      },
    }),
  });
}

/** Bytes, as of an upsert. */
const embeddingsBodyLimit = 10_485_760;

/** In one response: a site may have thousands of chatbots. */
const mostModels = 2_000;

/** `{root}/svc-openai/v1` (D33). */
export const openAiRoutes: readonly ServiceRoute<OpenAiParts>[] = [
  route({
    path: '/models',
    handler: 'models',
    summary: 'List models and chatbots.',
    args: {
      limit: {
        ...{ type: 'integer', minimum: 1, maximum: mostModels, default: mostModels },
        description: 'Models at most. `has_more` says whether there are more.',
      },
      after: { type: 'string', ...argumentBounds.line, description: 'The `id` of the last model of the page before.' },
    },
  }),
  route({
    path: '/models/(?P<id>.+)',
    handler: 'model',
    summary: 'Find a model.',
    args: { id: { type: 'string', ...argumentBounds.line, description: 'As `GET /models` lists it.' } },
  }),
  route({
    path: '/chat/completions',
    methods: ['POST'],
    handler: 'chat',
    summary: 'Generate text.',
    success: 'The text. With `stream: true` server-sent events with chunks as OpenAI has them, then `[DONE]`.',
    args: chatArguments,
    bodyLimit: chatBodyLimit,
  }),
  route({
    path: '/responses',
    methods: ['POST'],
    handler: 'responses',
    summary: 'Generate text, in the format of responses.',
    success: 'The response. With `stream: true` server-sent events as OpenAI has them.',
    args: responsesArguments,
    bodyLimit: chatBodyLimit,
  }),
  route({
    path: '/embeddings',
    methods: ['POST'],
    handler: 'embeddings',
    summary: 'Create embeddings.',
    args: embeddingsArguments,
    bodyLimit: embeddingsBodyLimit,
  }),
  route({
    path: '/images/generations',
    methods: ['POST'],
    handler: 'images',
    summary: 'Generate images.',
    args: imagesArguments,
  }),
  // Has no method, so that it only shapes the 404 of other paths, which clients of OpenAI cannot read otherwise.
  defineRoute<OpenAiParts>({
    path: '/(?P<path>.+)',
    namespace: openAiNamespace,
    access: 'public',
    define: () => ({ methods: [], showInIndex: false, errorBody: openAiErrorBody, handler: () => null }),
  }),
];
