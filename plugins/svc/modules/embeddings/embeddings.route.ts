import { RestResponse, type JsonSchema, type Params, type RestRequest } from '#plugin-api';
import type { ServiceContext } from '../../wiring.ts';
import { responseHeaders } from '../../kit/response-headers.ts';
import { providerArgument } from '../../kit/route.ts';
import { defineRoute } from '../../kit/route.ts';
import type { EmbeddingsAnswer, EmbeddingsCall } from './hooks.ts';
import { checkedInput, inputArgument } from './input.ts';
import { writeAnswer } from './write-answer.ts';

interface EmbeddingsParams extends Params, Omit<EmbeddingsCall, 'input'> {
  readonly input: string | readonly string[];
  readonly [name: string]: unknown;
}

const answerSchema = {
  type: 'object',
  title: 'embeddings',
  properties: {
    embeddings: {
      type: 'array',
      description: 'One vector per input, in the order of the inputs, whatever encoding_format was.',
      items: { type: 'array', items: { type: 'number' } },
    },
    usage: { type: 'object', properties: { input_tokens: { type: 'integer' }, total_tokens: { type: 'integer' } } },
    provider: { type: 'string', description: 'Display name of the provider used.' },
    model: { type: 'string', description: 'Model used.' },
  },
} as const satisfies JsonSchema;

const taskTypes = [
  'SEMANTIC_SIMILARITY',
  'CLASSIFICATION',
  'CLUSTERING',
  'RETRIEVAL_DOCUMENT',
  'RETRIEVAL_QUERY',
  'QUESTION_ANSWERING',
  'FACT_VERIFICATION',
  'CODE_RETRIEVAL_QUERY',
] as const;

/** `POST /embeddings` (contract 4.4, D5, D9, D11, D12, D25). */
export const embeddingsRoute = defineRoute<ServiceContext>({
  path: '/embeddings',
  define: (context) => ({
    methods: ['POST'],
    summary: 'Create embeddings.',
    description: 'Fields that the provider does not take are left out and named in `X-SVC-Ignored-Params`.',
    schema: answerSchema,
    args: {
      provider: providerArgument({
        ids: () => context.embeddingProviderIds(),
        description: 'Id of the provider that creates the embeddings.',
        required: true,
      }),
      model: {
        type: 'string',
        required: true,
        minLength: 1,
        description: 'Embedding model identifier; for azure the deployment.',
      },
      input: inputArgument,
      dimensions: {
        type: 'integer',
        minimum: 1,
        description: 'Size of the vectors, for openai, openrouter and azure where the model can choose it.',
      },
      encoding_format: {
        type: 'string',
        enum: ['float', 'base64'],
        description:
          'What openai and openrouter are asked for; the answer holds numbers either way, as if it were float, the default.',
      },
      task_type: { type: 'string', enum: taskTypes, description: 'Google only: what the vectors are for.' },
      output_dimensionality: { type: 'integer', minimum: 1, description: 'Google only: size of the vectors.' },
      user: { type: 'string', description: 'End-user identifier for monitoring, for openai and azure.' },
    },
    handler: (request) => createEmbeddings(request as RestRequest<EmbeddingsParams>, context),
  }),
});

async function createEmbeddings(
  request: RestRequest<EmbeddingsParams>,
  context: ServiceContext,
): Promise<RestResponse> {
  const { hooks } = context.host;
  const call: EmbeddingsCall = await hooks.applyFiltersAsync('svc_embeddings_request', callOf(request.params), request);
  const result = await context.embed({
    provider: call.provider,
    model: call.model,
    input: call.input,
    dimensions: call.dimensions,
    encodingFormat: call.encoding_format,
    taskType: call.task_type,
    outputDimensionality: call.output_dimensionality,
    user: call.user,
    signal: request.signal,
    origin: { module: 'rest', route: '/embeddings', botId: null },
  });
  const { usage, provider, model, packed } = result;
  const headers = responseHeaders(result);
  const write = packed && ((): Uint8Array => writeAnswer(packed, { usage, provider, model }));
  const answer =
    write === undefined
      ? { embeddings: result.embeddings, usage, provider, model }
      : readWhenAsked(write, { usage, provider, model });
  if (!hooks.hasFilter('svc_embeddings_response'))
    return new RestResponse({ body: answer, headers, ...(write && { write }) });
  return new RestResponse({
    body: await hooks.applyFiltersAsync('svc_embeddings_response', { ...answer }, call, request),
    headers,
  });
}

/** Most answers go out as they are written; numbers are made of the text only for those who look, and are the same then. */
function readWhenAsked(write: () => Uint8Array, rest: Omit<EmbeddingsAnswer, 'embeddings'>): EmbeddingsAnswer {
  let read: EmbeddingsAnswer['embeddings'] | undefined;
  return {
    get embeddings() {
      return (read ??= (JSON.parse(Buffer.from(write()).toString()) as EmbeddingsAnswer).embeddings);
    },
    ...rest,
  };
}

function callOf({
  provider,
  model,
  input,
  dimensions,
  encoding_format,
  task_type,
  output_dimensionality,
  user,
}: EmbeddingsParams): EmbeddingsCall {
  return {
    provider,
    model,
    input: checkedInput(input),
    ...(dimensions !== undefined && { dimensions }),
    ...(encoding_format !== undefined && { encoding_format }),
    ...(task_type !== undefined && { task_type }),
    ...(output_dimensionality !== undefined && { output_dimensionality }),
    ...(user !== undefined && { user }),
  };
}
