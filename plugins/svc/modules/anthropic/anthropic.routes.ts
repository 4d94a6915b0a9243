import { argumentBounds, type JsonSchema, type RouteArguments, type RouteDefinition } from '#plugin-api';
import { defineRoute, type ServiceRoute } from '../../kit/route.ts';
import { withVendorStatus } from '../../kit/vendor-status.ts';
import { contentSchema, errorSchema, responseSchemas } from './anthropic.schemas.ts';
import { anthropicNamespace, type AnthropicParts, type Handlers } from './anthropic-ports.ts';
import { anthropicErrorBody } from './error-body.ts';
import { withAnthropicNames } from './param-names.ts';

/** Null is the same as leaving a parameter out. */
const optional = <Schema extends JsonSchema>(schema: Schema) => ({ ...schema, acceptsNull: true }) as const;
const object = (description: string) => optional({ type: 'object', description });

const inputArguments = {
  model: {
    type: 'string',
    required: true,
    minLength: 1,
    ...argumentBounds.line,
    description: '`provider/model`, the name of a model alone, or `bot:<id>` for a chatbot.',
    examples: ['claude/claude-sonnet-5-5'],
  },
  messages: {
    type: 'array',
    required: true,
    minItems: 1,
    maxItems: 50_000,
    description: 'The conversation so far. Content is a text, or blocks as Anthropic has them.',
    items: {
      type: 'object',
      properties: {
        role: { type: 'string', enum: ['user', 'assistant', 'system'], required: true },
        content: { description: 'A text, or blocks.', openApi: contentSchema },
      },
    },
    examples: [[{ role: 'user', content: 'Say hello.' }]],
  },
  system: { description: 'The system text, or its blocks.', openApi: contentSchema },
  tools: optional({
    type: 'array',
    maxItems: 1_000,
    items: { type: 'object' },
    description: 'Functions that the model may call, and tools that Anthropic runs.',
  }),
  tool_choice: object('`auto`, `any`, `none`, or one `tool`.'),
  thinking: object('Whether and how long the model thinks.'),
  output_config: object('`effort`, and `format` with a JSON Schema.'),
} as const satisfies RouteArguments;

const messagesArguments = {
  ...inputArguments,
  max_tokens: {
    type: 'integer',
    required: true,
    minimum: 0,
    maximum: 10_000_000,
    description: 'Maximum output length in tokens.',
  },
  stream: optional({ type: 'boolean', description: 'Sends the message as server-sent events.' }),
  temperature: optional({ type: 'number', minimum: 0, maximum: 2, description: 'Randomness.' }),
  top_p: optional({ type: 'number', minimum: 0, maximum: 1, description: 'Samples up to this total probability.' }),
  top_k: optional({ type: 'integer', ...argumentBounds.id, description: 'Samples from the k most likely tokens.' }),
  stop_sequences: optional({
    type: 'array',
    maxItems: 1_000,
    items: { type: 'string', ...argumentBounds.paragraph },
    description: 'Texts that end the message.',
  }),
  metadata: object('`user_id`: end-user identifier.'),
} as const satisfies RouteArguments;

interface RouteInit extends Pick<RouteDefinition, 'summary' | 'args'> {
  readonly path: string;
  readonly handler: keyof Handlers;
  /** What the response has, if the schema does not say it. */
  readonly success?: string;
}

/** What Anthropic's SDK reads errors and request ids from. */
const shape = { errorBody: anthropicErrorBody, requestIdHeader: 'request-id' } as const;

/** Bytes, as Anthropic has it: images in messages are base64. Besides them a body has at most 10 MB, as any JSON (D46). */
const bodyLimit = 33_554_432;

function route({ path, handler, success = 'Success.', ...definition }: RouteInit): ServiceRoute<AnthropicParts> {
  return defineRoute<AnthropicParts>({
    path,
    namespace: anthropicNamespace,
    access: 'anthropic',
    hasDryRun: true,
    define: (parts) => ({
      ...definition,
      methods: ['POST'],
      bodyLimit,
      description: 'As Anthropic has it; errors too, with the code of this service in `error.svc`.',
      ...shape,
      errorSchema,
      responses: { 200: { description: success, schema: responseSchemas[handler] } },
      async handler(request) {
        try {
          return await (await parts.handlers())[handler](request);
        } catch (error) {
          throw withAnthropicNames(withVendorStatus(error));
        }
      },
    }),
  });
}

/** `{root}/svc-anthropic/v1` (D41). */
export const anthropicRoutes: readonly ServiceRoute<AnthropicParts>[] = [
  route({
    path: '/messages',
    handler: 'messages',
    summary: 'Generate a message.',
    success: 'The message. With `stream: true` server-sent events as Anthropic has them.',
    args: messagesArguments,
  }),
  route({
    path: '/messages/count_tokens',
    handler: 'countTokens',
    summary: 'Count the tokens of a request.',
    args: inputArguments,
  }),
  // Has no method, so that it only shapes the 404 of other paths, which clients of Anthropic cannot read otherwise.
  defineRoute<AnthropicParts>({
    path: '/(?P<path>.+)',
    namespace: anthropicNamespace,
    access: 'public',
    define: () => ({ methods: [], showInIndex: false, ...shape, handler: () => null }),
  }),
];
